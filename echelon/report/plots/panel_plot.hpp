// SPDX-License-Identifier: BSD-3-Clause
// Upright bars drawn as SVG: rows of panels side by side, in a panel a group a case, in a group a bar a series, or one
// stacked from all. The panels of a row share their scale, which begins at zero. A bar may carry a mark above it: a speedup,
// say.
#pragma once

#include <string>
#include <vector>

namespace echelon {

struct PanelPlot {
  struct Bar {
    double value = 0;  // not a number: no bar
    std::string mark;
  };
  struct Group {
    std::string label;
    std::vector<Bar> bars;  // by series
  };
  struct Panel {
    std::string title;
    std::vector<Group> groups;
  };
  struct Row {
    std::string axis;  // what a bar's height means
    std::vector<Panel> panels;
  };
  std::string title, subtitle;
  std::string group_axis;  // what the labels of groups are
  std::vector<std::string> series;
  bool stacked = false;  // the bars of a group stand on each other
  std::vector<Row> rows;
};

std::string panel_svg(const PanelPlot& plot);

}  // namespace echelon
