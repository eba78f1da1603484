// SPDX-License-Identifier: BSD-3-Clause
// The table of `bench mg`, a line a method and one a setting of the contender, and its picture: residual against time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/program/mg/bench_mg.hpp"
#include "echelon/report/plots/time_plot.hpp"
#include "echelon/report/table.hpp"

namespace echelon::cli {
namespace {

constexpr auto left = Table::Align::left, right = Table::Align::right;

std::string figure(const BenchRow& row, const char* name, double factor, const char* form) {
  const auto at = std::ranges::find(row.measures, name, &NamedNumber::name);
  return at == row.measures.end() ? "-" : fmt::format(fmt::runtime(form), factor * at->value);
}

bool same_place(const BenchRow& a, const BenchRow& b) { return a.name == b.name && a.threads == b.threads; }

/// "default: PCG PFMG relax 1, rap 0, skip 1" without the setting's name.
std::string setting_of(const PeerTime& peer) { return peer.method.substr(0, peer.method.find(':')); }

TimePlot::Curve curve_of(const std::string& label, const ResidualHistory& history, int color, bool dashed) {
  TimePlot::Curve curve{label, color, dashed, {}};
  for (const auto& at : history) curve.points.emplace_back(at.seconds, at.residual);
  return curve;
}

/// "varpoisson regions 1000" over "cg, star7 96x96x96, 2 threads".
TimePlot::Panel panel_of(const BenchRow& row) {
  const auto words = row.name.find("b=1");
  const auto size = fmt::format("{}x{}{}", row.grid[0], row.grid[1], row.grid[2] > 1 ? fmt::format("x{}", row.grid[2]) : "");
  return {row.problem + (words == std::string::npos ? "" : row.name.substr(words + 3)),
          fmt::format("{}, {} {}, {} thread{}", row.name.substr(0, row.name.find(' ')), row.stencil, size, row.threads,
                      row.threads == 1 ? "" : "s"),
          {}};
}

/// One colour a name, whatever the panel; contenders have theirs behind ours.
int color_of(std::vector<std::string>& known, const std::string& name) {
  const auto at = std::ranges::find(known, name);
  if (at != known.end()) return static_cast<int>(at - known.begin());
  known.push_back(name);
  return static_cast<int>(known.size()) - 1;
}

}  // namespace

std::string mg_table(const BenchReport& report) {
  Table table({{"case", left},
               {"method", left},
               {"threads", right},
               {"iterations", right},
               {"seconds", right},
               {"set-up", right},
               {"spread", right},
               {"cycle ms", right},
               {"% triad", right},
               {"levels", right},
               {"complexity", right},
               {"peer / ours", right}});
  for (std::size_t r = 0; r < report.rows.size(); ++r) {
    const auto& row = report.rows[r];
    const auto* best = row.best_peer();
    table.add({row.name, row.operation, std::to_string(row.threads), std::to_string(row.iterations),
               fmt::format("{:.4f}", row.seconds), fmt::format("{:.4f}", row.setup_seconds),
               fmt::format("{:.0f} %", 100 * row.spread), figure(row, "cycle_seconds", 1e3, "{:.2f}"),
               figure(row, "cycle_percent_of_triad", 1, "{:.0f}"), figure(row, "levels", 1, "{:.0f}"),
               figure(row, "operator_complexity", 1, "{:.2f}"),
               best ? fmt::format("{:.2f}", best->seconds / row.seconds) : "-"});
    // Once a case and number of threads, behind the last of ours.
    const auto again = [&](const BenchRow& later) { return same_place(row, later); };
    if (std::any_of(report.rows.begin() + static_cast<std::ptrdiff_t>(r) + 1, report.rows.end(), again)) continue;
    for (const auto& peer : row.peers) {
      table.add({row.name, fmt::format("{}, {}", peer.name, peer.method), std::to_string(peer.ranks),
                 std::to_string(peer.iterations), fmt::format("{:.4f}", peer.seconds),
                 fmt::format("{:.4f}", peer.setup_seconds), fmt::format("{:.0f} %", 100 * peer.spread), "-", "-", "-", "-",
                 ""});
    }
  }
  return table.text();
}

std::string mg_svg(const BenchReport& report) {
  TimePlot plot;
  plot.title = "To the same residual: ours and hypre's structured multigrid";
  plot.subtitle = fmt::format("{}; set-up counted; the last of {} round{}", report.backend.name, report.rounds,
                              report.rounds == 1 ? "" : "s");
  plot.tolerance = 1e-8;
  std::vector<std::string> ours, theirs;
  for (auto first = report.rows.begin(); first != report.rows.end(); ++first) {
    const auto same = [&](const BenchRow& row) { return same_place(row, *first); };
    if (std::any_of(report.rows.begin(), first, same)) continue;
    TimePlot::Panel& panel = plot.panels.emplace_back(panel_of(*first));
    for (const auto& row : report.rows) {
      if (same(row)) panel.curves.push_back(curve_of(row.operation, row.history, color_of(ours, row.operation), false));
    }
    for (const auto& peer : first->peers) {
      const auto name = fmt::format("hypre {}", setting_of(peer));
      panel.curves.push_back(curve_of(name, peer.history, color_of(theirs, name), true));
    }
  }
  return time_svg(plot);
}

}  // namespace echelon::cli
