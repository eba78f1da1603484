// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/plots/bar_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "echelon/report/plots/svg.hpp"

namespace echelon {
namespace {

constexpr double axis_length = 500, least_left = 180, right = 70, top = 84, bottom = 52, bar = 12, gap = 10;
constexpr double label_size = 12, label_gap = 8, a_character = 0.6 * label_size;  // wider than the mean of common fonts
using Out = std::back_insert_iterator<std::string>;

bool drawable(double value) { return std::isfinite(value) && value >= 0; }

double bars_of(const BarPlot::Group& group) {
  return static_cast<double>(std::max<std::ptrdiff_t>(std::ranges::count_if(group.values, drawable), 1));
}

double largest(const BarPlot& plot) {
  double most = plot.line;
  for (const auto& group : plot.groups) {
    for (const double value : group.values) most = drawable(value) ? std::max(most, value) : most;
  }
  return most > 0 ? most : 1;
}

double height_of(const BarPlot& plot) {
  double height = top + bottom;
  for (const auto& group : plot.groups) height += bars_of(group) * bar + gap;
  return height;
}

double characters(const std::string& text) {
  // Of UTF-8, the bytes that begin one.
  return static_cast<double>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Where the bars begin: right of the longest label.
double left_of(const BarPlot& plot) {
  double longest = 0;
  for (const auto& group : plot.groups) longest = std::max(longest, characters(group.label));
  return std::max(least_left, std::ceil(longest * a_character) + 2 * label_gap);
}

struct Scale {
  double most, left;
  double x(double value) const { return left + axis_length * value / most; }
};

void draw_axis(Out out, const BarPlot& plot, const Scale& scale, double floor) {
  const double step = svg::round_step(scale.most, 6);
  for (std::int64_t k = 0; static_cast<double>(k) * step <= scale.most; ++k) {
    const double value = static_cast<double>(k) * step, x = scale.x(value);
    fmt::format_to(out, "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#e3e3e3\"/>\n", x, top - 4,
                   floor);
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>\n", x, floor + 18, value);
  }
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", scale.x(scale.most / 2),
                 floor + 38, svg::escaped(plot.axis));
  if (plot.line > 0) {
    fmt::format_to(
        out, "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#b02a2a\" stroke-dasharray=\"6 4\"/>\n",
        scale.x(plot.line), top - 4, floor);
  }
}

void draw_legend(Out out, const BarPlot& plot, const Scale& scale) {
  double x = scale.left;
  for (std::size_t s = 0; s < plot.series.size(); ++s) {
    fmt::format_to(out, "<rect x=\"{:.1f}\" y=\"58\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x,
                   svg::colors[s % svg::colors.size()]);
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"69\">{}</text>\n", x + 17, svg::escaped(plot.series[s]));
    x += 110;
  }
}

}  // namespace

std::string bar_svg(const BarPlot& plot) {
  const double height = height_of(plot), floor = height - bottom;
  const Scale scale{largest(plot), left_of(plot)};
  std::string text = svg::opened_page(scale.left + axis_length + right, height, 20, plot.title, plot.subtitle);
  const auto out = std::back_inserter(text);
  draw_axis(out, plot, scale, floor);
  draw_legend(out, plot, scale);
  double y = top;
  for (const auto& group : plot.groups) {
    fmt::format_to(out, "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\" font-size=\"{}\">{}</text>\n",
                   scale.left - label_gap, y + bars_of(group) * bar / 2 + 4, label_size, svg::escaped(group.label));
    double at = y;
    for (std::size_t s = 0; s < group.values.size(); ++s) {
      const double value = group.values[s];
      if (!drawable(value)) continue;
      fmt::format_to(out, "<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n", scale.left, at,
                     scale.x(value) - scale.left, bar - 2, svg::colors[s % svg::colors.size()]);
      fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"10\">{:.3g}</text>\n", scale.x(value) + 4,
                     at + bar - 3, value);
      at += bar;
    }
    y += bars_of(group) * bar + gap;
  }
  text += "</svg>\n";
  return text;
}

}  // namespace echelon
