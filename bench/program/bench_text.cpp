// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/program/bench_cuda_block_text.hpp"
#include "bench/program/bench_cuda_figures.hpp"
#include "bench/program/bench_cuda_matrices.hpp"
#include "bench/program/bench_cuda_text.hpp"
#include "bench/program/bench_methods_figure.hpp"
#include "bench/program/bench_trisolve.hpp"
#include "bench/program/dbsr/order_kinds.hpp"
#include "echelon/report/table.hpp"

namespace echelon::cli {
namespace {

constexpr auto left = Table::Align::left, right = Table::Align::right;

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }
std::string or_dash(bool there, const std::string& text) { return there ? text : "-"; }

std::string operation_table(const BenchReport& report) {
  Table table({{"case", left},
               {"factors", left},
               {"threads", right},
               {"ms", right},
               {"spread", right},
               {"% triad", right},
               {"% copy", right},
               {"GF/s", right},
               {"peer ms", right},
               {"speedup", right},
               {"fastest peer", left}});
  for (const auto& row : report.rows) {
    const auto* peer = row.best_peer();
    table.add({row.name, row.precision, std::to_string(row.threads), milliseconds(row.seconds),
               fmt::format("{:.0f} %", 100 * row.spread), fmt::format("{:.1f}", row.percent_of(row.triad)),
               fmt::format("{:.1f}", row.percent_of(row.copy)), fmt::format("{:.2f}", row.flops / row.seconds / 1e9),
               or_dash(peer, peer ? milliseconds(peer->seconds) : ""),
               or_dash(peer, peer ? fmt::format("{:.2f}", peer->seconds / row.seconds) : ""),
               or_dash(peer, peer ? fmt::format("{}, {}", peer->name, peer->method) : "")});
  }
  return table.text();
}

std::string solver_table(const BenchReport& report) {
  Table table({{"case", left},
               {"factors", left},
               {"basis", left},
               {"threads", right},
               {"iterations", right},
               {"seconds", right},
               {"set-up", right},
               {"spread", right},
               {"peer seconds", right},
               {"iterations", right},
               {"speedup", right},
               {"fastest peer", left}});
  for (const auto& row : report.rows) {
    const auto* peer = row.best_peer();
    table.add({row.name, row.precision, or_dash(!row.basis.empty(), row.basis), std::to_string(row.threads),
               std::to_string(row.iterations), fmt::format("{:.4f}", row.seconds), fmt::format("{:.4f}", row.setup_seconds),
               fmt::format("{:.0f} %", 100 * row.spread), or_dash(peer, peer ? fmt::format("{:.4f}", peer->seconds) : ""),
               or_dash(peer, peer ? std::to_string(peer->iterations) : ""),
               or_dash(peer, peer ? fmt::format("{:.2f}", peer->seconds / row.seconds) : ""),
               or_dash(peer, peer ? fmt::format("{}, {}", peer->name, peer->method) : "")});
  }
  return table.text();
}

/// Methods beside each other instead of libraries.
std::string convergence_table(const BenchReport& report) {
  Table table({{"case", left},
               {"method", left},
               {"threads", right},
               {"iterations", right},
               {"to the first", right},
               {"factor s", right},
               {"set-up s", right},
               {"solve s", right},
               {"spread", right}});
  const auto factorization = [](const std::vector<TimePart>& parts) {
    const bool told = !parts.empty() && parts.front().name == "factorization";
    return or_dash(told, told ? fmt::format("{:.4f}", parts.front().seconds) : "");
  };
  for (const auto& row : report.rows) {
    table.add({row.name, row.operation, std::to_string(row.threads), std::to_string(row.iterations),
               fmt::format("{:.3f}", row.iteration_ratio), factorization(row.parts),
               fmt::format("{:.4f}", row.setup_seconds), fmt::format("{:.4f}", row.solve_seconds),
               fmt::format("{:.0f} %", 100 * row.spread)});
    for (const auto& peer : row.peers) {
      const double ratio = row.iteration_ratio * static_cast<double>(peer.iterations) / static_cast<double>(row.iterations);
      const double factored = peer.parts.empty() ? 0 : peer.parts.front().seconds;
      table.add({row.name, fmt::format("{}, {}", peer.name, peer.method), std::to_string(row.threads),
                 std::to_string(peer.iterations), fmt::format("{:.3f}", ratio), factorization(peer.parts),
                 fmt::format("{:.4f}", peer.analysis_seconds), fmt::format("{:.4f}", peer.seconds - factored), "-"});
    }
  }
  return table.text();
}

/// "PETSc" of "PETSc 3.18.5": one colour a contender, whatever its version.
std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

std::size_t series_of(BarPlot& plot, const std::string& name) {
  const auto at = std::find(plot.series.begin(), plot.series.end(), name);
  if (at != plot.series.end()) return static_cast<std::size_t>(at - plot.series.begin());
  plot.series.push_back(name);
  return plot.series.size() - 1;
}

void put(BarPlot& plot, BarPlot::Group& group, const std::string& name, double value) {
  const std::size_t at = series_of(plot, name);
  if (group.values.size() <= at) group.values.resize(at + 1, std::nan(""));
  group.values[at] = value;
}

}  // namespace

std::string bench_table(const BenchReport& report) {
  if (report.kind == "convergence") return convergence_table(report);
  if (report.backend.kind == "cuda" && report.kind == "solver") return cuda_solver_table(report);
  if (report.kind == "trisolve") return trisolve_table(report);
  if (const OrderKind* const orders = find_order_kind(report.kind)) return orders->table(report);
  if (report.kind == "block") return block_table(report);
  if (report.kind == "matrices") return matrices_table(report);
  if (report.backend.kind == "cuda") return cuda_table(report) + "\n" + cuda_means(report);
  return report.kind == "solver" ? solver_table(report) : operation_table(report);
}

std::string bench_remarks(const BenchReport& report) {
  std::string text;
  if (!report.contenders_missing.empty()) {
    const bool gpu = report.backend.kind == "cuda";
    text += fmt::format("contenders not found: {} ({})\n", fmt::join(report.contenders_missing, ", "),
                        gpu ? "cuSPARSE's are built with nvcc and its library"
                            : "`make bench-peers` installs and builds them; of oneMKL cmake's ECHELON_MKL names the folder");
  }
  // One line a contender and reason: most have the same one for many cases.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> reasons;
  for (const auto& one : report.not_compared) reasons[{one.who, one.why}].push_back(one.name);
  for (const auto& [reason, names] : reasons) {
    const auto others = names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : std::string();
    text += fmt::format("{} not compared in {}{}: {}\n", reason.first, names.front(), others, reason.second);
  }
  for (const auto& one : report.missing) text += fmt::format("MISSING {}: {}\n", one.name, one.why);
  return text;
}

BarPlot bench_plot(const BenchReport& report) {
  const bool times = report.kind == "solver";
  BarPlot plot;
  plot.title = times                   ? "Whole solves with ILU(0)"
               : report.kind == "trsv" ? "ILU(0) application: L and U sweeps"
                                       : "ILU(0) set-up, everything counted";
  // Contenders keep their factors in FP64; bars of others would fill three quarters of the picture.
  const bool only_fp64 = report.kind == "trsv";
  plot.subtitle = fmt::format("{}; median over {} round{}{}", report.backend.name, report.rounds,
                              report.rounds == 1 ? "" : "s", only_fp64 ? "; factors in fp64" : "");
  plot.axis = times ? "seconds, set-up and iteration" : "bytes that must move over time, percent of triad";
  plot.line = times ? 0 : 100;
  plot.series = {"echelon"};
  for (const auto& row : report.rows) {
    if (only_fp64 && row.precision != "fp64") continue;
    BarPlot::Group group;
    const bool gpu = report.backend.kind == "cuda";
    const auto threads = gpu ? "" : fmt::format(", {} thread{}", row.threads, row.threads == 1 ? "" : "s");
    group.label =
        fmt::format("{}{}{}", row.name, threads,
                    (row.precision == "fp64" ? "" : ", " + row.precision) + (row.basis == "fp32" ? ", fp32 basis" : ""));
    const auto value = [&](double seconds) { return times ? seconds : 100 * row.bytes / seconds / row.triad; };
    put(plot, group, "echelon", value(row.seconds));
    for (const auto& peer : row.peers) put(plot, group, first_word(peer.name), value(peer.seconds));
    plot.groups.push_back(std::move(group));
  }
  return plot;
}

std::string bench_svg(const BenchReport& report) {
  if (report.kind == "trisolve") return trisolve_svg(report);
  if (const OrderKind* const orders = find_order_kind(report.kind)) return orders->svg(report);
  if (report.kind == "convergence") return panel_svg(methods_figure(report));
  return report.backend.kind == "cuda" ? cuda_figure(report) : bar_svg(bench_plot(report));
}

}  // namespace echelon::cli
