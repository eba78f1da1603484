// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_methods_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace echelon::cli {
namespace {

/// Where `name` is among those with a name, made when it is not.
template <class Named>
Named& found_or_made(std::vector<Named>& among, std::string Named::*field, const std::string& name) {
  for (auto& one : among) {
    if (one.*field == name) return one;
  }
  among.emplace_back();
  among.back().*field = name;
  return among.back();
}

std::string series_of(const BenchReport& report, const BenchRow& row) {
  if (report.backend.kind == "cuda") return report.backend.name;
  return fmt::format("{} thread{}", row.threads, row.threads == 1 ? "" : "s");
}

/// "ic0" of "cg + ic0".
std::string method_of(const BenchRow& row) {
  const auto plus = row.operation.rfind("+ ");
  return plus == std::string::npos ? row.operation : row.operation.substr(plus + 2);
}

void put(PanelPlot::Row& to, const BenchRow& row, std::size_t series, PanelPlot::Bar bar) {
  auto& panel =
      found_or_made(to.panels, &PanelPlot::Panel::title, fmt::format("{}×{}×{}", row.grid[0], row.grid[1], row.grid[2]));
  auto& group = found_or_made(panel.groups, &PanelPlot::Group::label, method_of(row));
  if (group.bars.size() <= series) group.bars.resize(series + 1, {std::nan(""), ""});
  group.bars[series] = std::move(bar);
}

double part(const BenchRow& row, const char* name) {
  for (const auto& one : row.parts) {
    if (one.name == name) return one.seconds;
  }
  return std::nan("");
}

}  // namespace

PanelPlot methods_figure(const BenchReport& report) {
  PanelPlot plot;
  plot.title = "Preconditioners compared: CG on Poisson";
  plot.subtitle = fmt::format("{}; median over {} round{}; marked: iterations over those of the first", report.backend.name,
                              report.rounds, report.rounds == 1 ? "" : "s");
  plot.group_axis = "preconditioner";
  plot.rows.resize(3);
  plot.rows[0].axis = "iterations";
  plot.rows[1].axis = "seconds of the factorization";
  plot.rows[2].axis = "seconds of the iteration";
  for (const auto& row : report.rows) {
    const auto name = series_of(report, row);
    auto at = std::find(plot.series.begin(), plot.series.end(), name);
    if (at == plot.series.end()) at = plot.series.insert(at, name);
    const auto series = static_cast<std::size_t>(at - plot.series.begin());
    put(plot.rows[0], row, series,
        {static_cast<double>(row.iterations), series == 0 ? fmt::format("{:.2f}", row.iteration_ratio) : ""});
    put(plot.rows[1], row, series, {part(row, "factorization"), ""});
    put(plot.rows[2], row, series, {row.solve_seconds, ""});
  }
  return plot;
}

}  // namespace echelon::cli
