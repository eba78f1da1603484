// SPDX-License-Identifier: BSD-3-Clause
// Residuals against time: points land where they should, panels have their own seconds, what is no residual is left out.
#include "echelon/report/plots/time_plot.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/report/count_text.hpp"

namespace echelon {
namespace {

using test::count;

TEST(TimePlot, EachPanelHasItsSecondsAndAllTheSameResiduals) {
  TimePlot plot;
  plot.title = "a < b";
  plot.tolerance = 1e-8;
  const double none = std::numeric_limits<double>::quiet_NaN();
  plot.panels = {{"slow",
                  "cg, 2 threads",
                  {{"ours", 0, false, {{0, 1}, {2, 1e-4}, {4, 1e-8}, {5, none}, {6, 0}}},
                   {"theirs", 1, true, {{0, 1}, {16, 1e-4}, {17, 1e-8}}}}},
                 {"fast", "", {{"ours", 0, false, {{0, 1}, {0.5, 1e-4}}}}}};
  const auto svg = time_svg(plot);
  EXPECT_EQ(count(svg, "<polyline"), 3u);
  EXPECT_EQ(count(svg, ">ours</text>"), 1u) << "one legend";
  EXPECT_EQ(count(svg, ">cg, 2 threads</text>"), 1u);
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  // A panel is 300 wide from 56 and 170 high from 120, 10⁰ to 10⁻⁹: 1e-4 lies 4/9 down. The first ends at four times the 4 s
  // of the fastest curve, so the other one's last point is not drawn. The next panel begins 362 further.
  EXPECT_NE(svg.find("points=\"56.00,120.00 93.50,195.56 131.00,271.11 \""), std::string::npos) << svg;
  EXPECT_NE(svg.find("points=\"56.00,120.00 356.00,195.56 \""), std::string::npos) << svg;
  EXPECT_NE(svg.find("points=\"418.00,120.00 718.00,195.56 \""), std::string::npos) << svg;
}

TEST(TimePlot, DrawsNothingAndOnePoint) {
  EXPECT_NE(time_svg({}).find("</svg>"), std::string::npos);
  TimePlot plot;
  plot.panels = {{"one", "", {{"a", 0, false, {{0, 1}}}}}, {"none", "", {}}};
  const auto svg = time_svg(plot);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

}  // namespace
}  // namespace echelon
