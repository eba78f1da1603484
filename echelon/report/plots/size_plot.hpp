// SPDX-License-Identifier: BSD-3-Clause
// How something grows with size, drawn as SVG: sizes across on a logarithmic axis, a quantity from zero up, one polyline a
// curve with its points marked, and a dashed line where the reference lies.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace echelon {

struct SizePlot {
  struct Curve {
    std::string label;
    int color = 0;                                  // curves of one colour belong together
    bool dashed = false;                            // a contender's
    std::vector<std::pair<double, double>> points;  // (size, value), sizes positive and ascending
  };
  std::string title, subtitle;
  std::string size_axis, value_axis;
  double line = 0;  // 0: none
  std::vector<Curve> curves;
};

std::string size_svg(const SizePlot& plot);

}  // namespace echelon
