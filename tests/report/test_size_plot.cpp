// SPDX-License-Identifier: BSD-3-Clause
// The plot over sizes: points land where they should, what is not a number has no mark, nothing breaks on little data.
#include "echelon/report/plots/size_plot.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace echelon {
namespace {

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(SizePlot, MarksEveryPointThatIsANumber) {
  SizePlot plot;
  plot.title = "a < b";
  plot.line = 100;
  plot.curves = {{"ours", 0, false, {{64, 40}, {128, 60}, {256, std::numeric_limits<double>::quiet_NaN()}}},
                 {"theirs", 0, true, {{64, 10}, {256, 12}}}};
  const auto svg = size_svg(plot);
  EXPECT_EQ(count(svg, "<circle"), 4);
  EXPECT_EQ(count(svg, "<polyline"), 2);
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  // The axis is logarithmic: 128 lies in the middle between 64 (x = 76) and 256 (x = 836).
  EXPECT_NE(svg.find("cx=\"76.00\""), std::string::npos);
  EXPECT_NE(svg.find("cx=\"456.00\""), std::string::npos);
  EXPECT_NE(svg.find("cx=\"836.00\""), std::string::npos);
}

TEST(SizePlot, DrawsNothingAndOnePoint) {
  EXPECT_NE(size_svg({}).find("</svg>"), std::string::npos);
  SizePlot plot;
  plot.curves = {{"one", 0, false, {{64, 0}}}};
  const auto svg = size_svg(plot);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(count(svg, "<circle"), 1);
}

}  // namespace
}  // namespace echelon
