// SPDX-License-Identifier: BSD-3-Clause
// Panels of upright bars: a bar for every number, heights in proportion within a row, marks where they are asked for.
#include "echelon/report/plots/panel_plot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <vector>

#include "tests/report/count_text.hpp"

namespace echelon {
namespace {

using test::count;

PanelPlot example() {
  PanelPlot plot;
  plot.title = "a<b";
  plot.series = {"ours", "theirs"};
  plot.group_axis = "unknowns";
  plot.rows = {{"percent",
                {{"star7", {{"1", {{80, "4.0×"}, {20, ""}}}, {"2", {{40, ""}, {std::nan(""), ""}}}}},
                 {"box27", {{"1", {{60, "3.0×"}, {20, ""}}}}}}}};
  return plot;
}

/// Heights of the bars, in the order they are drawn.
std::vector<double> heights(const std::string& svg) {
  const std::regex bar("width=\"[0-9.]+\" height=\"([0-9.]+)\" fill=\"#[0-9a-f]{6}\"");
  std::vector<double> found;
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at) found.push_back(std::stod((*at)[1]));
  return found;
}

TEST(PanelPlot, ABarForEveryNumberInProportion) {
  const auto svg = panel_svg(example());
  auto bars = heights(svg);
  // The page and two legend boxes come first.
  ASSERT_EQ(bars.size(), 8u);
  bars.erase(bars.begin(), bars.begin() + 3);
  EXPECT_NEAR(bars[0] / bars[1], 4, 0.01);
  EXPECT_NEAR(bars[0] / bars[2], 2, 0.01);
  EXPECT_NEAR(bars[0] / bars[3], 80.0 / 60, 0.01) << "panels of a row share their scale";
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  for (const char* part : {"a&lt;b", "star7", "box27", "4.0×", "3.0×", "percent", "unknowns", "theirs"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
}

TEST(PanelPlot, StackedBarsStandOnEachOther) {
  auto plot = example();
  plot.stacked = true;
  const auto svg = panel_svg(plot);
  const std::regex bar("x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"[0-9.]+\" height=\"([0-9.]+)\" fill=\"#[0-9a-f]{6}\"");
  std::vector<double> x, y, height;
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at) {
    x.push_back(std::stod((*at)[1]));
    y.push_back(std::stod((*at)[2]));
    height.push_back(std::stod((*at)[3]));
  }
  // Two legend boxes come first.
  ASSERT_EQ(x.size(), 7u);
  EXPECT_EQ(x[2], x[3]);
  EXPECT_NEAR(y[3] + height[3], y[2], 0.02);
  EXPECT_NEAR(height[2] / height[3], 4, 0.01);
  EXPECT_NEAR(y[2] + height[2], y[4] + height[4], 0.02) << "all groups stand on the floor";
}

TEST(PanelPlot, SeveralMarksOfAGroupAreTurned) {
  auto plot = example();
  EXPECT_EQ(count(panel_svg(plot), "rotate(-90)\""), 0u);
  plot.rows[0].panels[0].groups[0].bars[1].mark = "1.0×";
  EXPECT_EQ(count(panel_svg(plot), "rotate(-90)\""), 3u);
}

TEST(PanelPlot, LongLabelsPushTheGroupsApart) {
  auto plot = example();
  plot.rows[0].panels[0].groups[0].label = "diamond13 160 160 160 b=4";  // 25 characters of about 7
  const std::regex place("x=\"([0-9.]+)\" y=\"[0-9.]+\" font-size=\"12\"");
  const auto svg = panel_svg(plot);
  std::vector<double> at;
  for (std::sregex_iterator one(svg.begin(), svg.end(), place), end; one != end; ++one) at.push_back(std::stod((*one)[1]));
  ASSERT_EQ(at.size(), 3u);
  EXPECT_GT(at[1] - at[0], 25 * 6.5);
}

TEST(PanelPlot, DrawsNothingAtAll) {
  EXPECT_NE(panel_svg({}).find("</svg>"), std::string::npos);
  PanelPlot plot;
  plot.rows = {{"", {{"", {{"", {{0, ""}}}}}}}};
  EXPECT_EQ(panel_svg(plot).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace echelon
