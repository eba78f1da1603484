// SPDX-License-Identifier: BSD-3-Clause
// Groups of horizontal bars drawn as SVG: a group a case, a bar a contender, its number written at its end, and a dashed
// line where the reference lies.
#pragma once

#include <string>
#include <vector>

namespace echelon {

struct BarPlot {
  struct Group {
    std::string label;
    std::vector<double> values;  // by series; what is missing or not a number has no bar
  };
  std::string title, subtitle;
  std::string axis;                 // what a bar's length means
  double line = 0;                  // 0: none
  std::vector<std::string> series;  // names, in the order of the values
  std::vector<Group> groups;
};

std::string bar_svg(const BarPlot& plot);

}  // namespace echelon
