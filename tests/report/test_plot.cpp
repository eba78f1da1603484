// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/plots/plot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/report/count_text.hpp"

namespace echelon {
namespace {

using test::count;

TEST(ResidualPlot, DrawsEveryFinitePointOnce) {
  ResidualPlot plot;
  plot.title = "poisson";
  plot.tolerance = 1e-8;
  plot.curves = {{"cg", {1, 0.1, std::numeric_limits<double>::quiet_NaN(), 0, 1e-9}}};
  const auto svg = residual_svg(plot);
  const auto begin = svg.find("points=\"") + 8;
  const auto points = svg.substr(begin, svg.find('"', begin) - begin);
  EXPECT_EQ(count(points, ","), 3u);
  EXPECT_EQ(count(svg, "tolerance 1e-08"), 1u);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(ResidualPlot, TheResidualOneIsAtTheTopAndTheTickBelowTheSmallestAtTheBottom) {
  ResidualPlot plot;
  plot.curves = {{"", {1, 1e-10}}};
  const auto svg = residual_svg(plot);
  EXPECT_NE(svg.find(">0</tspan>"), std::string::npos);
  EXPECT_NE(svg.find("points=\"76.00,64.00 "), std::string::npos);
}

TEST(ResidualPlot, EscapesTitlesAndBalancesTags) {
  ResidualPlot plot;
  plot.title = "a<b & \"c\"\x01";
  plot.curves = {{"x", {1}}, {"<y>", {}}};
  const auto svg = residual_svg(plot);
  EXPECT_NE(svg.find("a&lt;b &amp; &quot;c&quot;<"), std::string::npos);
  EXPECT_NE(svg.find("&lt;y&gt;"), std::string::npos);
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
  EXPECT_EQ(count(svg, "<svg"), count(svg, "</svg>"));
}

TEST(ResidualPlot, BytesThatAreNoUtf8AreReplaced) {
  ResidualPlot plot;
  plot.title = "\xff-\xc3 \xef\xbf\xbe \xc3\xa4";
  const auto svg = residual_svg(plot);
  EXPECT_NE(svg.find(">\xef\xbf\xbd-\xef\xbf\xbd \xef\xbf\xbd \xc3\xa4<"), std::string::npos);
  EXPECT_EQ(svg.find('\xff'), std::string::npos);
}

TEST(ResidualPlot, NoHistoryStillDrawsAxes) {
  const auto svg = residual_svg({});
  EXPECT_NE(svg.find("relative residual"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(HistoryCsv, OneLineAnIterationThatReadsBack) {
  EXPECT_EQ(history_csv({1, 0.1, std::numeric_limits<double>::infinity()}), "iteration,relative_residual\n0,1\n1,0.1\n2,\n");
  const double third = 1.0 / 3;
  const auto text = history_csv({third});
  EXPECT_EQ(std::stod(text.substr(text.rfind(',') + 1)), third);
}

}  // namespace
}  // namespace echelon
