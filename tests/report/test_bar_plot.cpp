// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/plots/bar_plot.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/report/count_text.hpp"

namespace echelon {
namespace {

using test::count;

BarPlot example() {
  BarPlot plot;
  plot.title = "a<b";
  plot.axis = "percent";
  plot.line = 100;
  plot.series = {"ours", "theirs"};
  plot.groups = {{"one & only", {50, 200}}, {"two", {25, std::nan("")}}, {"three", {}}};
  return plot;
}

TEST(BarPlot, ABarForEveryNumberAndNoneForWhatIsMissing) {
  const auto svg = bar_svg(example());
  // The page, two legend boxes and three bars.
  EXPECT_EQ(count(svg, "<rect"), 6u);
  EXPECT_EQ(count(svg, "stroke-dasharray"), 1u);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(svg.find("one &amp; only"), std::string::npos);
  EXPECT_NE(svg.find("a&lt;b"), std::string::npos);
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
}

TEST(BarPlot, LengthsAreInProportion) {
  const auto svg = bar_svg(example());
  // 500 points of axis for the largest value, 200.
  EXPECT_NE(svg.find("width=\"500.0\""), std::string::npos);
  EXPECT_NE(svg.find("width=\"125.0\""), std::string::npos);
  EXPECT_NE(svg.find("width=\"62.5\""), std::string::npos);
}

TEST(BarPlot, TheLongestLabelHasRoom) {
  auto plot = example();
  const auto narrow = bar_svg(plot);
  plot.groups[1].label = "gmres(30) cahnhilliard diamond25 96x96x96 b=2, 16 threads, fp32, fp32 basis";  // 75 characters
  const auto wide = bar_svg(plot);
  const auto label_end = [](const std::string& svg) {
    const auto at = svg.find("text-anchor=\"end\"");
    return std::stod(svg.substr(svg.rfind("x=\"", at) + 3));
  };
  EXPECT_GT(label_end(wide), 75 * 6.5);
  EXPECT_LT(label_end(narrow), 200);
  // The axis stays as long: the page grows.
  EXPECT_NE(wide.find("width=\"500.0\""), std::string::npos);
}

TEST(BarPlot, NothingToDrawIsStillAPage) {
  const auto svg = bar_svg({});
  EXPECT_EQ(count(svg, "</svg>"), 1u);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace echelon
