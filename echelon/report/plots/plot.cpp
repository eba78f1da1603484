// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/plots/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "echelon/report/plots/svg.hpp"

namespace echelon {
namespace {

constexpr double width = 760, height = 460, left = 76, right = 24, top = 64, bottom = 56;
bool drawable(double r) { return std::isfinite(r) && r > 0; }

/// The range of both axes, and where a point lands on the page.
struct Axes {
  double last_iteration = 1;
  int lowest = -1, highest = 0;  // powers of ten

  double x(double iteration) const { return left + (width - left - right) * iteration / last_iteration; }
  double y(double residual) const {
    return top + (height - top - bottom) * (highest - std::log10(residual)) / (highest - lowest);
  }
};

Axes axes_of(const ResidualPlot& plot) {
  Axes axes;
  double smallest = plot.tolerance > 0 ? plot.tolerance : 0.5, largest = 1;
  for (const auto& curve : plot.curves) {
    axes.last_iteration = std::max(axes.last_iteration, static_cast<double>(curve.history.size()) - 1);
    for (const double r : curve.history) {
      if (!drawable(r)) continue;
      smallest = std::min(smallest, r);
      largest = std::max(largest, r);
    }
  }
  axes.lowest = std::max(static_cast<int>(std::floor(std::log10(smallest) - 0.05)), -400);
  axes.highest = static_cast<int>(std::ceil(std::log10(largest)));
  if (axes.highest <= axes.lowest) axes.highest = axes.lowest + 1;
  return axes;
}

void draw_axes(std::back_insert_iterator<std::string> out, const Axes& axes, const ResidualPlot& plot) {
  const int decades = axes.highest - axes.lowest;
  const int each = (decades + 9) / 10;
  for (int power = axes.highest; power >= axes.lowest; power -= each) {
    const double y = top + (height - top - bottom) * (axes.highest - power) / decades;
    fmt::format_to(out, "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#e3e3e3\"/>\n", left, y,
                   width - right, y);
    fmt::format_to(out,
                   "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">10<tspan dy=\"-5\" font-size=\"9\">{}</tspan></text>\n",
                   left - 8, y + 4, power);
  }
  const double step = std::max(svg::round_step(axes.last_iteration, 8), 1.0);
  for (std::int64_t k = 0; static_cast<double>(k) * step <= axes.last_iteration; ++k) {
    const double iteration = static_cast<double>(k) * step, x = axes.x(iteration);
    fmt::format_to(out, "<line x1=\"{:.1f}\" y1=\"{}\" x2=\"{:.1f}\" y2=\"{}\" stroke=\"#333333\"/>\n", x, height - bottom,
                   x, height - bottom + 5);
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.0f}</text>\n", x, height - bottom + 20,
                   iteration);
  }
  fmt::format_to(out, "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#333333\"/>\n", left, top,
                 width - left - right, height - top - bottom);
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (left + width - right) / 2,
                 height - 14, svg::escaped(plot.across));
  const double middle = (top + height - bottom) / 2;
  fmt::format_to(out, "<text x=\"20\" y=\"{:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 20 {:.1f})\">{}</text>\n",
                 middle, middle, svg::escaped(plot.up));
}

void draw_curve(std::back_insert_iterator<std::string> out, const Axes& axes, const ResidualCurve& curve,
                const char* color) {
  const std::string dashes = curve.dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", curve.dashes);
  fmt::format_to(out, "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{} stroke-linejoin=\"round\" points=\"",
                 color, dashes);
  for (std::size_t i = 0; i < curve.history.size(); ++i) {
    if (!drawable(curve.history[i])) continue;
    fmt::format_to(out, "{:.2f},{:.2f} ", axes.x(static_cast<double>(i)), axes.y(curve.history[i]));
  }
  fmt::format_to(out, "\"/>\n");
}

}  // namespace

std::string residual_svg(const ResidualPlot& plot) {
  const Axes axes = axes_of(plot);
  std::string text = svg::opened_page(width, height, left, plot.title, plot.subtitle);
  const auto out = std::back_inserter(text);
  draw_axes(out, axes, plot);
  if (plot.tolerance > 0) {
    const double y = axes.y(plot.tolerance);
    fmt::format_to(out,
                   "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#b02a2a\" stroke-dasharray=\"6 4\"/>\n",
                   left, y, width - right, y);
    fmt::format_to(out, "<text x=\"{}\" y=\"{:.1f}\" fill=\"#b02a2a\">tolerance {:.0e}</text>\n", left + 8, y - 6,
                   plot.tolerance);
  }
  for (std::size_t c = 0; c < plot.curves.size(); ++c) {
    const char* color = svg::colors[c % svg::colors.size()];
    draw_curve(out, axes, plot.curves[c], color);
    if (plot.curves.size() < 2) continue;
    const double y = top + 20 + 18 * static_cast<double>(c);
    fmt::format_to(out, "<line x1=\"{0}\" y1=\"{2}\" x2=\"{1}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"3\"/>\n",
                   width - right - 200, width - right - 176, y - 4, color);
    fmt::format_to(out, "<text x=\"{}\" y=\"{}\">{}</text>\n", width - right - 168, y, svg::escaped(plot.curves[c].label));
  }
  text += "</svg>\n";
  return text;
}

std::string history_csv(const std::vector<double>& history) {
  std::string text = "iteration,relative_residual\n";
  for (std::size_t i = 0; i < history.size(); ++i) {
    text += std::isfinite(history[i]) ? fmt::format("{},{}\n", i, history[i]) : fmt::format("{},\n", i);
  }
  return text;
}

}  // namespace echelon
