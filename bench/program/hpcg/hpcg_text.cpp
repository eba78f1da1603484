// SPDX-License-Identifier: BSD-3-Clause
// Ratings as a table and as the paper's figures 5 (ranks × threads), 6 (threads) and 7 (weak scaling).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "bench/program/dbsr/dbsr_cases.hpp"
#include "bench/program/dbsr/paper_range.hpp"
#include "bench/program/hpcg/bench_hpcg.hpp"
#include "echelon/report/plots/panel_plot.hpp"
#include "echelon/report/table.hpp"

namespace echelon::cli {
namespace {

constexpr auto left = Table::Align::left, right = Table::Align::right;

int ranks_of(const BenchRow& row) { return static_cast<int>(measure_of(row, "ranks")); }
double rating_of(const BenchRow& row) { return measure_of(row, "rating_gflops"); }
/// "104x104x104" of "exact 104x104x104 r2 t1".
std::string local_grid(const BenchRow& row) {
  const auto first = row.name.find(' ') + 1;
  return row.name.substr(first, row.name.find(' ', first) - first);
}

using Place = std::tuple<std::string, int, int>;  // local grid, ranks, threads
using Ratings = std::map<Place, std::map<std::string, double>>;

Ratings ratings_of(const BenchReport& report) {
  Ratings all;
  for (const auto& row : report.rows) {
    auto& at = all[{local_grid(row), ranks_of(row), row.threads}];
    at[row.operation] = rating_of(row);
    if (const auto* peer = row.best_peer()) at["reference"] = row.flops / peer->seconds / 1e9;
  }
  return all;
}

double rating_by(const std::map<std::string, double>& of_smoothers, const char* smoother) {
  const auto at = of_smoothers.find(smoother);
  return at == of_smoothers.end() ? std::nan("") : at->second;
}

std::vector<PaperRange> ranges_of(const Ratings& ratings) {
  PaperRange over_bmc{"5", "rating of DBSR over block multicolour, all cores", 1.188, 1.239, {}},
      by_threads{"6", "the same over threads, one process", 1.152, 1.522, {}},
      scaling{"7", "efficiency of more processes, exact", 0.9, 0.9, {}},
      scaling_dbsr{"7", "efficiency of more processes, DBSR", 0.9, 0.9, {}};
  int most = 0;
  for (const auto& [place, of_smoothers] : ratings) most = std::max(most, std::get<1>(place) * std::get<2>(place));
  for (const auto& [place, of_smoothers] : ratings) {
    const auto& [grid, ranks, threads] = place;
    const double ratio = rating_by(of_smoothers, "dbsr") / rating_by(of_smoothers, "bmc");
    if (std::isfinite(ratio)) {
      if (ranks * threads == most) over_bmc.ours.push_back(ratio);
      if (ranks == 1) by_threads.ours.push_back(ratio);
    }
    if (ranks == 1) continue;
    const auto one = ratings.find({grid, 1, threads});
    if (one == ratings.end()) continue;
    const std::pair<const char*, PaperRange*> scaled[] = {{"exact", &scaling}, {"dbsr", &scaling_dbsr}};
    for (const auto& [name, range] : scaled) {
      const double efficiency = rating_by(of_smoothers, name) / rating_by(one->second, name) / ranks;
      if (std::isfinite(efficiency)) range->ours.push_back(efficiency);
    }
  }
  return {over_bmc, by_threads, scaling, scaling_dbsr};
}

}  // namespace

std::string hpcg_table(const BenchReport& report) {
  Table table({{"local grid", left},
               {"ranks", right},
               {"threads", right},
               {"smoother", left},
               {"iterations", right},
               {"residual", right},
               {"rating", right},
               {"spread", right},
               {"bound", right},
               {"% bound", right},
               {"set-up its.", right},
               {"reference", right},
               {"times", right}});
  for (const auto& row : report.rows) {
    const auto* peer = row.best_peer();
    table.add({local_grid(row), std::to_string(ranks_of(row)), std::to_string(row.threads), row.operation,
               std::to_string(row.iterations), fmt::format("{:.5e}", row.relative_residual),
               fmt::format("{:.2f}", rating_of(row)), fmt::format("{:.0f} %", 100 * row.spread),
               fmt::format("{:.2f}", measure_of(row, "bound_gflops")),
               fmt::format("{:.0f}", measure_of(row, "percent_of_bound")),
               fmt::format("{:.1f}", measure_of(row, "setup_in_iterations")),
               peer ? fmt::format("{:.2f}", row.flops / peer->seconds / 1e9) : "-",
               peer ? fmt::format("{:.2f}", peer->seconds / row.seconds) : "-"});
  }
  return table.text() + paper_table(ranges_of(ratings_of(report)));
}

std::string hpcg_svg(const BenchReport& report) {
  PanelPlot plot;
  plot.title = "HPCG by smoother, GFLOP/s as rated";
  plot.subtitle = fmt::format("{}; marked: times the reference's rating", report.backend.name);
  plot.group_axis = "processes × threads";
  plot.series = {"reference"};
  for (auto& name : hpcg_smoother_names()) plot.series.push_back(std::move(name));
  std::map<std::string, PanelPlot::Panel> panels;
  for (const auto& [place, of_smoothers] : ratings_of(report)) {
    const auto& [grid, ranks, threads] = place;
    auto& panel = panels[grid];
    panel.title = grid;
    PanelPlot::Group group;
    group.label = fmt::format("{} × {}", ranks, threads);
    const auto reference = of_smoothers.find("reference");
    for (const auto& name : plot.series) {
      const auto at = of_smoothers.find(name);
      PanelPlot::Bar bar{at == of_smoothers.end() ? std::nan("") : at->second, ""};
      if (at != of_smoothers.end() && reference != of_smoothers.end() && name != "reference") {
        bar.mark = fmt::format("{:.2f}", at->second / reference->second);
      }
      group.bars.push_back(std::move(bar));
    }
    panel.groups.push_back(std::move(group));
  }
  PanelPlot::Row row;
  row.axis = "GFLOP/s";
  for (auto& [grid, panel] : panels) row.panels.push_back(std::move(panel));
  plot.rows.push_back(std::move(row));
  return panel_svg(plot);
}

}  // namespace echelon::cli
