// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/plots/time_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "echelon/report/plots/svg.hpp"

namespace echelon {
namespace {

constexpr int columns = 4;
constexpr double left = 56, chart_width = 300, chart_height = 170, gap_x = 62, gap_y = 76, page_top = 70, a_legend_line = 20,
                 legend_mark = 34, a_character = 7.5, page_right = 24;

using Out = std::back_insert_iterator<std::string>;

bool drawable(const std::pair<double, double>& at) {
  return std::isfinite(at.first) && at.first >= 0 && std::isfinite(at.second) && at.second > 0;
}

const char* color_of(const TimePlot::Curve& curve) {
  return svg::colors[static_cast<std::size_t>(curve.color) % svg::colors.size()];
}
const char* dashes_of(const TimePlot::Curve& curve) { return curve.dashed ? " stroke-dasharray=\"5 4\"" : ""; }

/// Powers of ten that hold all residuals.
struct Decades {
  int lowest = -1, highest = 0;
};

Decades decades_of(const TimePlot& plot) {
  double least = plot.tolerance > 0 ? plot.tolerance : 0.5, most = 1;
  for (const auto& panel : plot.panels) {
    for (const auto& curve : panel.curves) {
      for (const auto& at : curve.points) {
        if (drawable(at)) least = std::min(least, at.second), most = std::max(most, at.second);
      }
    }
  }
  Decades decades;
  decades.lowest = std::max(static_cast<int>(std::floor(std::log10(least) - 0.05)), -300);
  decades.highest = static_cast<int>(std::ceil(std::log10(most)));
  return decades;
}

/// Where a point lands on the page.
struct Frame {
  double x0, y0, last = 0;
  Decades decades;

  double x(double seconds) const { return x0 + chart_width * seconds / last; }
  double y(double residual) const {
    return y0 + chart_height * (decades.highest - std::log10(residual)) / (decades.highest - decades.lowest);
  }
};

void draw_axes(Out out, const Frame& frame, const TimePlot::Panel& panel) {
  const double bottom = frame.y0 + chart_height, end = frame.x0 + chart_width;
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\" font-weight=\"bold\">{}</text>\n", frame.x0,
                 frame.y0 - 21, svg::escaped(panel.title));
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" fill=\"#555555\">{}</text>\n", frame.x0,
                 frame.y0 - 7, svg::escaped(panel.subtitle));
  const int each = (frame.decades.highest - frame.decades.lowest + 5) / 6;
  for (int power = frame.decades.highest; power >= frame.decades.lowest; power -= each) {
    const double y = frame.y(std::pow(10.0, power));
    fmt::format_to(out, "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e3e3e3\"/>\n", frame.x0, y,
                   end, y);
    fmt::format_to(out,
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" text-anchor=\"end\">10<tspan dy=\"-5\" "
                   "font-size=\"8\">{}</tspan></text>\n",
                   frame.x0 - 5, y + 4, power);
  }
  const double step = svg::round_step(frame.last, 5);
  for (int k = 0; k * step <= frame.last; ++k) {
    const double x = frame.x(k * step);
    fmt::format_to(out, "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#333333\"/>\n", x,
                   bottom, bottom + 4);
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" text-anchor=\"middle\">{:g}{}</text>\n", x,
                   bottom + 17, k * step, k == 0 ? " s" : "");
  }
  fmt::format_to(out, "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#333333\"/>\n",
                 frame.x0, frame.y0, chart_width, chart_height);
}

/// Of the slowest curve, but no more than four times that of the fastest.
double last_second(const TimePlot::Panel& panel) {
  constexpr double most = 4;
  double fastest = 0, slowest = 0;
  for (const auto& curve : panel.curves) {
    double last = 0;
    for (const auto& at : curve.points) {
      if (drawable(at)) last = std::max(last, at.first);
    }
    if (last > 0) fastest = fastest > 0 ? std::min(fastest, last) : last;
    slowest = std::max(slowest, last);
  }
  return slowest > 0 ? std::min(slowest, most * fastest) : 1;
}

void draw_panel(Out out, Frame frame, const TimePlot::Panel& panel, double tolerance) {
  frame.last = last_second(panel);
  draw_axes(out, frame, panel);
  if (tolerance > 0) {
    fmt::format_to(
        out, "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#b02a2a\" stroke-dasharray=\"2 3\"/>\n",
        frame.x0, frame.y(tolerance), frame.x0 + chart_width, frame.y(tolerance));
  }
  for (const auto& curve : panel.curves) {
    fmt::format_to(out, "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{} stroke-linejoin=\"round\" points=\"",
                   color_of(curve), dashes_of(curve));
    for (const auto& at : curve.points) {
      if (drawable(at) && at.first <= frame.last)
        fmt::format_to(out, "{:.2f},{:.2f} ", frame.x(at.first), frame.y(at.second));
    }
    fmt::format_to(out, "\"/>\n");
  }
}

/// The first curve of each label.
std::vector<const TimePlot::Curve*> legend_of(const TimePlot& plot) {
  std::vector<const TimePlot::Curve*> found;
  for (const auto& panel : plot.panels) {
    for (const auto& curve : panel.curves) {
      if (std::ranges::none_of(found, [&](const auto* one) { return one->label == curve.label; })) found.push_back(&curve);
    }
  }
  return found;
}

}  // namespace

std::string time_svg(const TimePlot& plot) {
  const double width = left + columns * (chart_width + gap_x) - gap_x + page_right;
  std::string legend;
  double x = left, y = page_top;
  for (const auto* curve : legend_of(plot)) {
    const double room = legend_mark + 6 + a_character * static_cast<double>(curve->label.size()) + 18;
    if (x + room > width && x > left) x = left, y += a_legend_line;
    fmt::format_to(std::back_inserter(legend),
                   "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"3\"{}/>\n", x,
                   y - 4, x + legend_mark, y - 4, color_of(*curve), dashes_of(*curve));
    fmt::format_to(std::back_inserter(legend), "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + legend_mark + 6, y,
                   svg::escaped(curve->label));
    x += room;
  }
  const double first = y + 50;
  const auto lines = static_cast<double>((plot.panels.size() + columns - 1) / columns);
  std::string text =
      svg::opened_page(width, first + lines * (chart_height + gap_y), left, plot.title, plot.subtitle) + legend;
  const Decades decades = decades_of(plot);
  for (std::size_t p = 0; p < plot.panels.size(); ++p) {
    const double across = left + static_cast<double>(p % columns) * (chart_width + gap_x);
    const double down = first + static_cast<double>(p / columns) * (chart_height + gap_y);
    draw_panel(std::back_inserter(text), {across, down, 0, decades}, plot.panels[p], plot.tolerance);
  }
  text += "</svg>\n";
  return text;
}

}  // namespace echelon
