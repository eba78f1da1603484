// SPDX-License-Identifier: BSD-3-Clause
// Residuals against time drawn as SVG: panels four in a line, seconds across, log10 of the relative residual up, a polyline
// a curve, the tolerance dashed. Each panel has its own seconds, which end at four times those of the fastest curve; all
// have the same residuals and one legend.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace echelon {

struct TimePlot {
  struct Curve {
    std::string label;
    int color = 0;                                  // of curves that belong together; a label has one colour and stroke
    bool dashed = false;                            // a contender's
    std::vector<std::pair<double, double>> points;  // (seconds, residual); what is not finite and positive is left out
  };
  struct Panel {
    std::string title, subtitle;
    std::vector<Curve> curves;
  };
  std::string title, subtitle;
  double tolerance = 0;  // 0: no line
  std::vector<Panel> panels;
};

std::string time_svg(const TimePlot& plot);

}  // namespace echelon
