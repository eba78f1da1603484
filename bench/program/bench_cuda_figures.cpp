// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_cuda_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "bench/program/bench_cuda_block_text.hpp"

namespace echelon::cli {
namespace {

bool is_factor(const BenchReport& report) { return report.kind == "factor"; }

/// What the paper's figures show of a report: rows in FP64 of these operations, whatever their stage.
std::vector<std::string> shown_operations(const BenchReport& report) {
  if (is_factor(report)) return {"ilu0 factorization"};
  return {"lower sweep", "upper sweep"};
}

std::string machine_line(const BenchReport& report) {
  return fmt::format("{}, copies {:.0f} GB/s; FP64, median of {}", report.backend.name, report.backend.copy_bandwidth / 1e9,
                     report.rounds);
}

std::string shape_of(const BenchRow& row) { return fmt::format("{} b={}", row.stencil, row.dof); }

/// "+ pipeline" of "lower sweep (+ pipeline)"; empty without brackets.
std::string stage_of(const BenchRow& row) {
  const auto begin = row.operation.find(" (");
  if (begin == std::string::npos || row.operation.back() != ')') return "";
  return row.operation.substr(begin + 2, row.operation.size() - begin - 3);
}

bool shows(const BenchRow& row, const std::string& operation) {
  if (row.precision != "fp64" || !row.operation.starts_with(operation)) return false;
  return row.operation.size() == operation.size() || !stage_of(row).empty();
}

/// The element with this label, at the end when it is new.
template <class List, class Label>
auto& named(List& list, const std::string& name, Label label) {
  std::size_t at = 0;
  while (at < list.size() && list[at].*label != name) ++at;
  if (at == list.size()) list.emplace_back().*label = name;
  return list[at];
}

std::size_t place_of(std::vector<std::string>& names, const std::string& name) {
  const auto known = std::find(names.begin(), names.end(), name);
  if (known == names.end()) names.push_back(name);
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

double percent_of(const BenchRow& row, double seconds) { return 100 * row.bytes / seconds / row.copy; }

std::string axis_of(const std::string& operation) {
  return operation.starts_with("ilu0") ? "factorization, % of floor" : operation + ", % of copy";
}

}  // namespace

PanelPlot comparison_figure(const BenchReport& report) {
  PanelPlot plot;
  const bool compared = std::ranges::any_of(report.rows, [](const auto& row) { return row.best_peer() != nullptr; });
  plot.title = fmt::format("{} on the GPU{}", is_factor(report) ? "ILU(0) factorization" : "Triangular sweeps",
                           compared ? " beside cuSPARSE" : "");
  plot.subtitle = machine_line(report) + (compared ? "; marked: how many times as fast" : "");
  plot.group_axis = "unknowns a grid point";
  plot.series = {"echelon"};
  if (compared) plot.series.emplace_back("cuSPARSE, the faster routine");
  for (const auto& operation : shown_operations(report)) {
    PanelPlot::Row row{axis_of(operation), {}};
    for (const auto& one : report.rows) {
      if (!shows(one, operation)) continue;
      PanelPlot::Group group{std::to_string(one.dof), {{one.percent_of(one.copy), ""}}};
      if (const auto* peer = one.best_peer()) {
        group.bars[0].mark = fmt::format("{:.1f}×", peer->seconds / one.seconds);
        group.bars.push_back({percent_of(one, peer->seconds), ""});
      }
      named(row.panels, one.stencil, &PanelPlot::Panel::title).groups.push_back(std::move(group));
    }
    if (!row.panels.empty()) plot.rows.push_back(std::move(row));
  }
  return plot;
}

bool is_breakdown(const BenchReport& report) {
  return std::ranges::any_of(report.rows, [](const auto& row) { return !stage_of(row).empty(); });
}

PanelPlot breakdown_figure(const BenchReport& report) {
  PanelPlot plot;
  plot.title =
      fmt::format("{} on the GPU, stage by stage", is_factor(report) ? "ILU(0) factorization" : "Triangular sweeps");
  plot.subtitle = machine_line(report) + "; marked: times the stage before";
  plot.group_axis = "stencil, side of the grid, unknowns a point";
  for (const auto& operation : shown_operations(report)) {
    PanelPlot::Row row{axis_of(operation), {{"", {}}}};
    for (const auto& one : report.rows) {
      if (!shows(one, operation)) continue;
      const auto label = fmt::format("{} {}³ b={}", one.stencil, one.grid[0], one.dof);
      auto& bars = named(row.panels[0].groups, label, &PanelPlot::Group::label).bars;
      const std::size_t stage = place_of(plot.series, stage_of(one));
      if (bars.size() <= stage) bars.resize(stage + 1, {std::nan(""), ""});
      double before = std::nan("");
      for (std::size_t s = 0; s < stage; ++s) before = std::isnan(bars[s].value) ? before : bars[s].value;
      const double now = one.percent_of(one.copy);
      bars[stage] = {now, std::isnan(before) ? "" : fmt::format("×{:.2f}", now / before)};
    }
    if (!row.panels[0].groups.empty()) plot.rows.push_back(std::move(row));
  }
  return plot;
}

bool is_growing(const BenchReport& report) {
  std::set<std::string> shapes, cases;
  for (const auto& row : report.rows) {
    shapes.insert(shape_of(row));
    cases.insert(row.name);
  }
  return cases.size() > shapes.size();
}

SizePlot growing_figure(const BenchReport& report) {
  SizePlot plot;
  plot.title = is_factor(report) ? "ILU(0) factorization on the GPU by size" : "Lower sweeps on the GPU by size";
  plot.subtitle = machine_line(report);
  plot.size_axis = "points along a side of the grid";
  plot.value_axis = is_factor(report) ? "percent of the floor" : "percent of the copy bandwidth";
  std::vector<std::string> shapes;
  const auto curve = [&](const BenchRow& row, const std::string& who, bool dashed) -> SizePlot::Curve& {
    auto& one = named(plot.curves, shape_of(row) + ", " + who, &SizePlot::Curve::label);
    one.color = static_cast<int>(place_of(shapes, shape_of(row)));
    one.dashed = dashed;
    return one;
  };
  for (const auto& row : report.rows) {
    if (!shows(row, shown_operations(report)[0])) continue;
    const auto side = static_cast<double>(row.grid[0]);
    curve(row, "echelon", false).points.emplace_back(side, row.percent_of(row.copy));
    if (const auto* peer = row.best_peer()) {
      curve(row, "the faster routine of " + peer->name, true).points.emplace_back(side, percent_of(row, peer->seconds));
    }
  }
  return plot;
}

PanelPlot solver_figure(const BenchReport& report) {
  PanelPlot plot;
  plot.stacked = true;
  plot.title = "Whole solves on the GPU, the same Krylov methods with cuSPARSE's ILU(0) beside ours";
  plot.subtitle = fmt::format("{}; FP64, median of {}; analyses and set-up not counted; marked: our time, and times as fast",
                              report.backend.name, report.rounds);
  plot.group_axis = "whose products, factorization and sweeps";
  PanelPlot::Row row{"time, percent of echelon's", {}};
  const auto stack = [&](const std::string& label, const std::vector<TimePart>& parts, double whole) {
    PanelPlot::Group group{label, {}};
    for (const auto& part : parts) {
      const std::size_t at = place_of(plot.series, part.name);
      if (group.bars.size() <= at) group.bars.resize(at + 1, {std::nan(""), ""});
      group.bars[at].value = 100 * part.seconds / whole;
    }
    return group;
  };
  for (const auto& one : report.rows) {
    if (one.precision != "fp64" || one.parts.empty()) continue;
    PanelPlot::Panel panel{fmt::format("{}, {}", one.problem, one.operation), {}};
    panel.groups.push_back(stack("echelon", one.parts, one.seconds));
    panel.groups.back().bars[0].mark = fmt::format("{:.0f} ms", 1e3 * one.seconds);
    for (const auto& peer : one.peers) {
      if (peer.parts.empty()) continue;
      panel.groups.push_back(stack(peer.method.starts_with("bsr") ? "BSR" : "CSR", peer.parts, one.seconds));
      panel.groups.back().bars[0].mark = fmt::format("{:.1f}×", peer.seconds / one.seconds);
    }
    row.panels.push_back(std::move(panel));
  }
  if (!row.panels.empty()) plot.rows.push_back(std::move(row));
  return plot;
}

std::string cuda_figure(const BenchReport& report) {
  if (report.kind == "solver") return panel_svg(solver_figure(report));
  if (report.kind == "block") return panel_svg(block_figure(report));
  if (is_growing(report)) return size_svg(growing_figure(report));
  return panel_svg(is_breakdown(report) ? breakdown_figure(report) : comparison_figure(report));
}

}  // namespace echelon::cli
