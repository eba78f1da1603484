// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/plots/panel_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "echelon/report/plots/svg.hpp"

namespace echelon {
namespace {

constexpr double left = 76, right = 24, page_top = 88, panel_title = 24, chart = 190, labels = 24, row_gap = 20, below = 26;
constexpr double least_bar = 11, most_bar = 18, group_gap = 9, panel_gap = 14, least_width = 640;
constexpr double label_size = 12, mark_size = 10, legend_mark = 17, legend_gap = 26;
constexpr double a_character = 0.6;  // of a font's size: wider than the mean of common fonts

using Out = std::back_insert_iterator<std::string>;

bool drawable(double value) { return std::isfinite(value) && value >= 0; }

double bars_of(const PanelPlot::Group& group) {
  return static_cast<double>(std::ranges::count_if(group.bars, [](const auto& one) { return drawable(one.value); }));
}

double height_of(const PanelPlot::Group& group, bool stacked) {
  double height = 0;
  for (const auto& one : group.bars) {
    if (drawable(one.value)) height = stacked ? height + one.value : std::max(height, one.value);
  }
  return height;
}

double text_width(const std::string& text, double size) {
  // Of UTF-8, the bytes that begin a character.
  return a_character * size * static_cast<double>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Measures that the whole page shares.
struct Page {
  double bars = 1;       // most in a group
  double pitch = 0;      // from one group to the next
  double bar = 0;        // from one bar to the next
  double width = 0;      // of the whole page
  bool upright = false;  // marks are turned: several a group would run into each other
  double longest_mark = 0;

  bool stacked;

  explicit Page(const PanelPlot& plot) : stacked(plot.stacked) {
    double widest = 0, all = 0;
    for (const auto& row : plot.rows) {
      for (const auto& panel : row.panels) {
        for (const auto& group : panel.groups) {
          bars = std::max(bars, stacked ? 1.0 : bars_of(group));
          widest = std::max(widest, text_width(group.label, label_size));
          upright = upright || std::ranges::count_if(group.bars, [](const auto& b) { return !b.mark.empty(); }) > 1;
          for (const auto& one : group.bars) all = std::max(all, text_width(one.mark, mark_size));
        }
      }
    }
    longest_mark = all;
    pitch = std::max({bars * least_bar + group_gap, widest + group_gap, upright ? 0.0 : all + 2});
    bar = std::clamp((pitch - group_gap) / bars, least_bar, most_bar);
    width = least_width;
    for (const auto& row : plot.rows) width = std::max(width, left + row_width(row) + right);
    double legend = left + right;
    for (const auto& name : plot.series) legend += legend_mark + text_width(name, 13) + legend_gap;
    width =
        std::max({width, legend, left + right + text_width(plot.title, 16), left + right + text_width(plot.subtitle, 13)});
  }
  double panel_width(const PanelPlot::Panel& panel) const {
    return std::max(pitch * static_cast<double>(panel.groups.size()) + group_gap, text_width(panel.title, 13) + group_gap);
  }
  double row_width(const PanelPlot::Row& row) const {
    double sum = 0;
    for (const auto& panel : row.panels) sum += panel_width(panel);
    return sum + panel_gap * static_cast<double>(row.panels.empty() ? 0 : row.panels.size() - 1);
  }
  double room_for_marks() const { return (upright ? longest_mark : mark_size) + 8; }
};

/// The scale of a row, and where it stands on the page.
struct Scale {
  double highest, top;
  double y(double value) const { return top + chart * (1 - value / highest); }
};

Scale scale_of(const PanelPlot::Row& row, const Page& page, double top) {
  double most = 0;
  for (const auto& panel : row.panels) {
    for (const auto& group : panel.groups) {
      most = std::max(most, height_of(group, page.stacked));
    }
  }
  return {most > 0 ? most * chart / (chart - page.room_for_marks()) : 1, top};
}

struct Corner {
  double x, base;  // on the page; of the value it stands on
};

void draw_bar(Out out, const Scale& scale, const Page& page, Corner at, const PanelPlot::Bar& one, std::size_t series) {
  const double x = at.x, y = scale.y(at.base + one.value), width = page.bar - 2;
  fmt::format_to(out, "<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\" fill=\"{}\"/>\n", x, y, width,
                 scale.y(at.base) - y, svg::colors[series % svg::colors.size()]);
  if (!page.upright || one.mark.empty()) return;
  fmt::format_to(out, "<text font-size=\"{}\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\">{}</text>\n", mark_size,
                 x + width / 2 + mark_size / 2 - 1.5, y - 4, svg::escaped(one.mark));
}

/// The one mark of a group: over its highest bar, or the stack.
void draw_mark(Out out, const Scale& scale, const Page& page, double middle, const PanelPlot::Group& group) {
  const double highest = height_of(group, page.stacked);
  for (const auto& one : group.bars) {
    if (one.mark.empty()) continue;
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"middle\">{}</text>\n", middle,
                   scale.y(highest) - 4, mark_size, svg::escaped(one.mark));
  }
}

void draw_panel(Out out, const Scale& scale, const Page& page, double x, const PanelPlot::Panel& panel) {
  const double width = page.panel_width(panel), floor = scale.y(0);
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\n",
                 x + width / 2, scale.top - 8, svg::escaped(panel.title));
  const double step = svg::round_step(scale.highest, 6);
  for (int k = 0; k * step <= scale.highest; ++k) {
    fmt::format_to(out, "<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#e3e3e3\"/>\n", x,
                   x + width, scale.y(k * step));
  }
  const double first = x + (width - page.pitch * static_cast<double>(panel.groups.size())) / 2;
  for (std::size_t g = 0; g < panel.groups.size(); ++g) {
    const auto& group = panel.groups[g];
    const double middle = first + page.pitch * (static_cast<double>(g) + 0.5);
    Corner at{middle - (page.stacked ? 1 : bars_of(group)) * page.bar / 2 + 1, 0};
    for (std::size_t s = 0; s < group.bars.size(); ++s) {
      if (!drawable(group.bars[s].value)) continue;
      draw_bar(out, scale, page, at, group.bars[s], s);
      (page.stacked ? at.base : at.x) += page.stacked ? group.bars[s].value : page.bar;
    }
    if (!page.upright) draw_mark(out, scale, page, middle, group);
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"middle\">{}</text>\n", middle,
                   floor + 16, label_size, svg::escaped(group.label));
  }
  fmt::format_to(out, "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"none\" stroke=\"#333333\"/>\n",
                 x, scale.top, width, chart);
}

void draw_row(Out out, const Page& page, const PanelPlot::Row& row, double top) {
  const Scale scale = scale_of(row, page, top + panel_title);
  const double step = svg::round_step(scale.highest, 6), middle = scale.top + chart / 2;
  for (int k = 0; k * step <= scale.highest; ++k) {
    fmt::format_to(out, "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n", left - 8, scale.y(k * step) + 4,
                   k * step);
  }
  fmt::format_to(out,
                 "<text x=\"20\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 20 {0:.1f})\">{1}</text>\n",
                 middle, svg::escaped(row.axis));
  double x = left;
  for (const auto& panel : row.panels) {
    draw_panel(out, scale, page, x, panel);
    x += page.panel_width(panel) + panel_gap;
  }
}

void draw_legend(Out out, const PanelPlot& plot) {
  double x = left;
  for (std::size_t s = 0; s < plot.series.size(); ++s) {
    fmt::format_to(out, "<rect x=\"{:.1f}\" y=\"62\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x,
                   svg::colors[s % svg::colors.size()]);
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"73\">{}</text>\n", x + legend_mark, svg::escaped(plot.series[s]));
    x += legend_mark + text_width(plot.series[s], 13) + legend_gap;
  }
}

}  // namespace

std::string panel_svg(const PanelPlot& plot) {
  const Page page(plot);
  const double a_row = panel_title + chart + labels + row_gap;
  const double height = page_top + a_row * static_cast<double>(plot.rows.size()) - row_gap + below;
  std::string text = svg::opened_page(page.width, height, left, plot.title, plot.subtitle);
  const auto out = std::back_inserter(text);
  draw_legend(out, plot);
  double top = page_top, widest = 0;
  for (const auto& row : plot.rows) {
    draw_row(out, page, row, top);
    top += a_row;
    widest = std::max(widest, page.row_width(row));
  }
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", left + widest / 2, height - 10,
                 svg::escaped(plot.group_axis));
  text += "</svg>\n";
  return text;
}

}  // namespace echelon
