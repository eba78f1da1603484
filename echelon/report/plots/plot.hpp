// SPDX-License-Identifier: BSD-3-Clause
// A residual history drawn as SVG: iterations across, log10 of the relative residual up, one polyline a curve, the tolerance
// as a dashed line. Plain shapes and generic fonts on white, so that it looks the same everywhere.
#pragma once

#include <string>
#include <vector>

namespace echelon {

struct ResidualCurve {
  std::string label;            // "cg + ic(0)"; shown when there is more than one curve
  std::vector<double> history;  // relative residual by iteration; points that are not finite and positive are left out
  std::string dashes = {};      // "8 8": of a curve that may lie on another; empty is a whole line
};

struct ResidualPlot {
  std::string title;
  std::string subtitle;
  double tolerance = 0;  // 0: no line
  std::string across = "iteration", up = "relative residual";
  std::vector<ResidualCurve> curves;
};

std::string residual_svg(const ResidualPlot& plot);

/// "iteration,relative_residual" and a line an iteration; what is not finite stays empty.
std::string history_csv(const std::vector<double>& history);

}  // namespace echelon
