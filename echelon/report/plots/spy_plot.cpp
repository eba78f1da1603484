// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/plots/spy_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "echelon/report/plots/svg.hpp"

namespace echelon {
namespace {

constexpr int most_squares = 250;
constexpr double side = 500, left = 40, top = 64, margin = 24;

}  // namespace

SpyPlot spy_of(std::span<const SpyPattern> patterns, std::string title) {
  SpyPlot plot;
  const std::int64_t n = patterns.empty() ? 0 : static_cast<std::int64_t>(patterns.front().row_start.size()) - 1;
  std::int64_t entries = 0;
  plot.squares = static_cast<int>(std::min<std::int64_t>(n, most_squares));
  plot.share.assign(static_cast<std::size_t>(plot.squares) * static_cast<std::size_t>(plot.squares), 0.0);
  const auto square = [&](std::int64_t at) { return static_cast<std::size_t>(at * plot.squares / n); };
  for (const auto& [row_start, column] : patterns) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(i);
      for (auto p = row_start[row]; p < row_start[row + 1]; ++p) {
        plot.share[square(i) * static_cast<std::size_t>(plot.squares) + square(column[static_cast<std::size_t>(p)])] += 1;
      }
    }
    entries += static_cast<std::int64_t>(column.size());
  }
  const double wide = n > 0 ? static_cast<double>(n) / plot.squares : 1;
  for (double& value : plot.share) value = std::min(1.0, value / (wide * wide));
  plot.title = std::move(title);
  plot.subtitle = fmt::format("{} rows, {} entries", n, entries);
  return plot;
}

std::string spy_svg(const SpyPlot& plot) {
  const double width = left + side + margin, height = top + side + margin;
  std::string text = svg::opened_page(width, height, left, plot.title, plot.subtitle);
  const auto out = std::back_inserter(text);
  const double each = plot.squares > 0 ? side / plot.squares : side;
  for (int i = 0; i < plot.squares; ++i) {
    for (int j = 0; j < plot.squares; ++j) {
      const double share =
          plot.share[static_cast<std::size_t>(i) * static_cast<std::size_t>(plot.squares) + static_cast<std::size_t>(j)];
      if (share == 0) continue;
      // The root: a square with a single entry must still be seen.
      fmt::format_to(
          out, "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" fill-opacity=\"{:.2f}\"/>\n",
          left + j * each, top + i * each, each, each, svg::colors[0], 0.25 + 0.75 * std::sqrt(share));
    }
  }
  fmt::format_to(out, "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#333333\"/>\n</svg>\n",
                 left, top, side, side);
  return text;
}

}  // namespace echelon
