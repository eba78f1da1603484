// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_trisolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/measure/sampling.hpp"
#include "bench/program/bench_trisolve_runs.hpp"
#include "cli/machine_info.hpp"
#include "cli/outputs.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/report/plots/bar_plot.hpp"
#include "echelon/report/plots/plot.hpp"
#include "echelon/report/table.hpp"

namespace echelon::cli {
namespace {

constexpr int usual_repeats = 20, small_repeats = 2;

CaseResult measure_on_host(const bench::BenchCase& one, const BenchOptions& options, int repeats, const Progress& progress) {
  const TrisolveCase of(one);
  CaseResult result;
  for (const auto& run : trisolve_runs(one, options.small)) {
    progress(run.name);
    const auto M = ilu(of.matrix(), of.ilu_options(run));
    Vector<double> z(of.matrix().rows());
    std::vector<double> samples;
    for (int i = 0; i <= repeats; ++i) {
      const Timer clock;
      M.apply(of.right_hand_side(), z);
      if (i > 0) samples.push_back(clock.seconds());
    }
    BenchRow row = of.row(run, M.report(), z);
    of.count_iterations(of.matrix(), M, Device::host(), row);
    if (!M.report().trisolve) of.add_conditions(M, row);
    row.seconds = bench::median(samples);
    row.spread = bench::spread(samples);
    row.threads = threads();
    result.rows.push_back(std::move(row));
  }
  return result;
}

double number(const BenchRow& row, const std::string& name) {
  for (const auto& one : row.measures) {
    if (one.name == name) return one.value;
  }
  return std::nan("");
}

std::string or_dash(double value, const char* form) {
  return std::isnan(value) ? "-" : fmt::format(fmt::runtime(form), value);
}

/// How many times as fast as SpSV, a group a factor.
std::string trisolve_speed_svg(const BenchReport& report) {
  BarPlot plot;
  plot.title = "Triangular solves, exact and by Jacobi, beside cuSPARSE's SpSV";
  plot.subtitle = fmt::format("{}; median over {} applications", report.backend.name, report.rounds);
  plot.axis = "times as fast as SpSV";
  plot.line = 1;
  plot.series = {"exact", "auto", "5 sweeps", "40 sweeps"};
  const char* const operations[] = {"exact", "auto", "jacobi 5", "jacobi 40"};
  std::map<std::string, std::size_t> group_of;
  for (const auto& row : report.rows) {
    const auto* peer = row.best_peer();
    const auto* const at = std::find(std::begin(operations), std::end(operations), row.operation);
    if (!peer || at == std::end(operations)) continue;
    const auto [found, is_new] = group_of.try_emplace(row.name, plot.groups.size());
    if (is_new) {
      plot.groups.push_back(
          {fmt::format("{}, n = {}", row.name, row.n), std::vector<double>(std::size(operations), std::nan(""))});
    }
    plot.groups[found->second].values[static_cast<std::size_t>(at - operations)] = peer->seconds / row.seconds;
  }
  return bar_svg(plot);
}

}  // namespace

int run_bench_trisolve(const BenchOptions& options, const std::vector<std::string>& arguments) {
  const auto cases = chosen_cases(trisolve_cases(options.small, Device::host()), options);
  set_threads(options.threads.empty() ? 0 : options.threads.front());
  BenchReport report = new_report(options, arguments, {});
  report.backend = host_backend(true);
  report.rounds = options.rounds > 0 ? options.rounds : options.small ? small_repeats : usual_repeats;
  if (!options.spy.empty()) write_report(options.spy, trisolve_spy(cases.back()));
  return run_cases(options, report, cases, [&](const bench::BenchCase& one, const Progress& progress) {
    return measure_on_host(one, options, report.rounds, progress);
  });
}

std::string trisolve_table(const BenchReport& report) {
  constexpr auto left = Table::Align::left, right = Table::Align::right;
  Table table({{"case", left},
               {"n", right},
               {"triangular solves", left},
               {"us", right},
               {"error", right},
               {"iterations", right},
               {"guard", left},
               {"SpSV us", right},
               {"speedup", right}});
  for (const auto& row : report.rows) {
    const auto* peer = row.best_peer();
    const double accepted = number(row, "accepted");
    table.add({row.name, std::to_string(row.n), row.operation, fmt::format("{:.1f}", 1e6 * row.seconds),
               or_dash(number(row, "error"), "{:.1e}"),
               row.reason == "rtol" ? std::to_string(row.iterations) : fmt::format("no ({})", row.reason),
               std::isnan(accepted) ? ""
               : accepted > 0       ? "yes"
                                    : "no",
               peer ? fmt::format("{:.1f}", 1e6 * peer->seconds) : "-",
               peer ? fmt::format("{:.2f}", peer->seconds / row.seconds) : "-"});
  }
  Table factors({{"case", left},
                 {"levels L, U", right},
                 {"dep(L)", right},
                 {"scaled", right},
                 {"dep(U)", right},
                 {"scaled", right},
                 {"dep(D^-1 U)", right},
                 {"k1(U)", right},
                 {"scaled", right},
                 {"rounds", right}});
  std::map<std::string, bool> told;
  for (const auto& row : report.rows) {
    if (std::isnan(number(row, "scaled_departure_upper")) || told[row.name]) continue;
    told[row.name] = true;
    const auto text = [&](const char* name) { return or_dash(number(row, name), "{:.2e}"); };
    factors.add({row.name, fmt::format("{:.0f}, {:.0f}", number(row, "levels_lower"), number(row, "levels_upper")),
                 text("departure_lower"), text("scaled_departure_lower"), text("departure_upper"),
                 text("scaled_departure_upper"), text("normalised_departure_upper"), text("condition_upper"),
                 text("scaled_condition_upper"), fmt::format("{:.0f}", number(row, "scaling_rounds_upper"))});
  }
  return table.text() + "\n" + factors.text();
}

std::string trisolve_svg(const BenchReport& report) {
  if (report.backend.kind == "cuda") return trisolve_speed_svg(report);
  ResidualPlot plot;
  if (report.rows.empty()) return residual_svg(plot);
  const BenchRow& last = report.rows.back();
  plot.title = fmt::format("Iterated triangular solves, {}, n = {}", last.name, last.n);
  plot.subtitle = "error of U\u207B\u00B9L\u207B\u00B9r against the exact sweeps, by number of sweeps";
  plot.across = "sweeps";
  plot.up = "relative error";
  // The last two lie on the first.
  const std::pair<const char*, const char*> kinds[] = {
      {"jacobi", ""}, {"damped jacobi", ""}, {"block jacobi", ""}, {"neumann", "10 10"}, {"scaled jacobi", "4 16"}};
  for (const auto& [kind, dashes] : kinds) {
    ResidualCurve curve{kind, {1.0}, dashes};
    for (const auto& row : report.rows) {
      const auto space = row.operation.rfind(' ');
      if (row.name != last.name || space == std::string::npos || row.operation.substr(0, space) != kind) continue;
      const auto sweeps = static_cast<std::size_t>(std::stoi(row.operation.substr(space + 1)));
      curve.history.resize(sweeps + 1, std::nan(""));
      curve.history[sweeps] = number(row, "error");
    }
    plot.curves.push_back(std::move(curve));
  }
  return residual_svg(plot);
}

}  // namespace echelon::cli
