// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/plots/size_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "echelon/report/plots/svg.hpp"

namespace echelon {
namespace {

constexpr double width = 860, page_top = 64, chart = 340, left = 76, right = 24, below = 62, a_label = 18;

using Out = std::back_insert_iterator<std::string>;

/// The range of both axes, and where a point lands on the page.
struct Axes {
  double least = 1, most = 2, highest = 1;

  double x(double size) const { return left + (width - left - right) * std::log(size / least) / std::log(most / least); }
  double y(double value) const { return page_top + chart * (1 - value / highest); }
};

Axes axes_of(const SizePlot& plot) {
  Axes axes;
  axes.highest = plot.line;
  bool first = true;
  for (const auto& curve : plot.curves) {
    for (const auto& [size, value] : curve.points) {
      axes.least = first ? size : std::min(axes.least, size);
      axes.most = first ? size : std::max(axes.most, size);
      if (std::isfinite(value)) axes.highest = std::max(axes.highest, value);
      first = false;
    }
  }
  if (!(axes.most > axes.least)) axes.most = 2 * axes.least;
  axes.highest = axes.highest > 0 ? 1.05 * axes.highest : 1;
  return axes;
}

void draw_axes(Out out, const Axes& axes, const SizePlot& plot) {
  const double step = svg::round_step(axes.highest, 8), bottom = page_top + chart;
  for (int k = 0; k * step <= axes.highest; ++k) {
    const double y = axes.y(k * step);
    fmt::format_to(out, "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#e3e3e3\"/>\n", left, y,
                   width - right, y);
    fmt::format_to(out, "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n", left - 8, y + 4, k * step);
  }
  std::set<double> sizes;
  for (const auto& curve : plot.curves) {
    for (const auto& point : curve.points) sizes.insert(point.first);
  }
  constexpr double room = 30;  // for a number
  double taken = -room;
  for (const double size : sizes) {
    const double x = axes.x(size);
    fmt::format_to(out, "<line x1=\"{:.1f}\" y1=\"{}\" x2=\"{:.1f}\" y2=\"{}\" stroke=\"#333333\"/>\n", x, bottom, x,
                   bottom + 5);
    if (x - taken < room) continue;
    taken = x;
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", x, bottom + 20, size);
  }
  fmt::format_to(out, "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#333333\"/>\n", left,
                 page_top, width - left - right, chart);
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (left + width - right) / 2,
                 bottom + 42, svg::escaped(plot.size_axis));
  const double middle = page_top + chart / 2;
  fmt::format_to(out,
                 "<text x=\"20\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 20 {0:.1f})\">{1}</text>\n",
                 middle, svg::escaped(plot.value_axis));
}

const char* color_of(const SizePlot::Curve& curve) {
  return svg::colors[static_cast<std::size_t>(curve.color) % svg::colors.size()];
}

void draw_curve(Out out, const Axes& axes, const SizePlot::Curve& curve) {
  std::string points, marks;
  for (const auto& [size, value] : curve.points) {
    if (!std::isfinite(value)) continue;
    points += fmt::format("{:.2f},{:.2f} ", axes.x(size), axes.y(value));
    marks += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"3\" fill=\"{}\"/>\n", axes.x(size), axes.y(value),
                         color_of(curve));
  }
  fmt::format_to(out, "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{} points=\"{}\"/>\n{}", color_of(curve),
                 curve.dashed ? " stroke-dasharray=\"5 4\"" : "", points, marks);
}

}  // namespace

std::string size_svg(const SizePlot& plot) {
  const Axes axes = axes_of(plot);
  const double labels = page_top + chart + below;
  const double height = labels + a_label * static_cast<double>(plot.curves.size());
  std::string text = svg::opened_page(width, height, left, plot.title, plot.subtitle);
  const auto out = std::back_inserter(text);
  draw_axes(out, axes, plot);
  if (plot.line > 0) {
    fmt::format_to(
        out, "<line x1=\"{0}\" y1=\"{2:.1f}\" x2=\"{1}\" y2=\"{2:.1f}\" stroke=\"#b02a2a\" stroke-dasharray=\"6 4\"/>\n",
        left, width - right, axes.y(plot.line));
  }
  double y = labels;
  for (const auto& curve : plot.curves) {
    draw_curve(out, axes, curve);
    fmt::format_to(out, "<line x1=\"{0}\" y1=\"{2:.1f}\" x2=\"{1}\" y2=\"{2:.1f}\" stroke=\"{3}\" stroke-width=\"3\"{4}/>\n",
                   left, left + 36, y - 4, color_of(curve), curve.dashed ? " stroke-dasharray=\"5 4\"" : "");
    fmt::format_to(out, "<text x=\"{}\" y=\"{:.1f}\">{}</text>\n", left + 46, y, svg::escaped(curve.label));
    y += a_label;
  }
  text += "</svg>\n";
  return text;
}

}  // namespace echelon
