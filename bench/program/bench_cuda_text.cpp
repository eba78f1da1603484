// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_cuda_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/measure/geometric_mean.hpp"
#include "echelon/report/table.hpp"

namespace echelon::cli {
namespace {

constexpr auto left = Table::Align::left, right = Table::Align::right;

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }

std::string kind_of(const BenchRow& row) { return row.operation + ", " + row.precision; }

std::vector<std::string> kinds_of(const BenchReport& report) {
  std::vector<std::string> kinds;
  for (const auto& row : report.rows) {
    if (std::find(kinds.begin(), kinds.end(), kind_of(row)) == kinds.end()) kinds.push_back(kind_of(row));
  }
  return kinds;
}

}  // namespace

std::string cuda_table(const BenchReport& report) {
  Table table({{"case", left},
               {"operation", left},
               {"stored", left},
               {"ms", right},
               {"spread", right},
               {"% copy", right},
               {"GF/s", right},
               {"peer ms", right},
               {"speedup", right},
               {"its analysis ms", right},
               {"fastest peer", left}});
  for (const auto& row : report.rows) {
    const auto* peer = row.best_peer();
    table.add({row.name, row.operation, row.precision, milliseconds(row.seconds), fmt::format("{:.0f} %", 100 * row.spread),
               fmt::format("{:.1f}", row.percent_of(row.copy)),
               row.flops > 0 ? fmt::format("{:.0f}", row.flops / row.seconds / 1e9) : "-",
               peer ? milliseconds(peer->seconds) : "-", peer ? fmt::format("{:.2f}", peer->seconds / row.seconds) : "-",
               peer ? milliseconds(peer->analysis_seconds) : "-",
               peer ? fmt::format("{}, {}", peer->name, peer->method) : "-"});
  }
  return table.text();
}

namespace {

/// What set-ups are made of; empty when no row says so.
std::string setup_table(const BenchReport& report) {
  const auto first = std::ranges::find_if(report.rows, [](const BenchRow& row) { return !row.setup_parts.empty(); });
  if (first == report.rows.end()) return {};
  std::vector<Table::Column> columns{{"set-up, ms", left}, {"stored", left}};
  for (const auto& part : first->setup_parts) columns.push_back({part.name, right});
  for (const char* title : {"sum", "in one go", "of a copy of A: sum", "in one go"}) columns.push_back({title, right});
  Table table(columns);
  for (const auto& row : report.rows) {
    if (row.setup_parts.size() != first->setup_parts.size()) continue;
    std::vector<std::string> cells{row.name, row.precision};
    for (const auto& part : row.setup_parts) cells.push_back(milliseconds(part.seconds));
    const auto of_copy = [&](double seconds) {
      return row.copy_seconds > 0 && seconds > 0 ? fmt::format("{:.2f}", seconds / row.copy_seconds) : std::string("-");
    };
    cells.push_back(milliseconds(row.setup_seconds));
    cells.push_back(row.setup_span_seconds > 0 ? milliseconds(row.setup_span_seconds) : "-");
    cells.push_back(of_copy(row.setup_seconds));
    cells.push_back(of_copy(row.setup_span_seconds));
    table.add(cells);
  }
  return fmt::format("\n{}", table.text());
}

}  // namespace

std::string cuda_solver_table(const BenchReport& report) {
  Table table({{"case", left},
               {"stored", left},
               {"iterations", right},
               {"ms", right},
               {"factor", right},
               {"sweeps", right},
               {"products", right},
               {"vectors", right},
               {"set-up", right},
               {"copy of A", right},
               {"peer ms", right},
               {"iterations", right},
               {"speedup", right},
               {"with analysis", right},
               {"fastest peer", left}});
  bench::GeometricMean alone, with_analysis;
  for (const auto& row : report.rows) {
    const auto* peer = row.best_peer();
    const auto part = [&](const std::string& name) {
      const auto found = std::ranges::find(row.parts, name, &TimePart::name);
      return found == row.parts.end() ? std::string("-") : milliseconds(found->seconds);
    };
    const double speedup = peer ? peer->seconds / row.seconds : 0;
    const double both = peer ? (peer->seconds + peer->analysis_seconds) / (row.seconds + row.analysis_seconds) : 0;
    alone.add(speedup);
    with_analysis.add(both);
    table.add({row.name, row.precision, std::to_string(row.iterations), milliseconds(row.seconds), part("factorization"),
               part("sweeps"), part("products"), part("vector work"), milliseconds(row.setup_seconds),
               milliseconds(row.copy_seconds > 0 ? row.copy_seconds : row.upload_seconds),
               peer ? milliseconds(peer->seconds) : "-", peer ? std::to_string(peer->iterations) : "-",
               peer ? fmt::format("{:.2f}", speedup) : "-", peer ? fmt::format("{:.2f}", both) : "-",
               peer ? fmt::format("{}, {}", peer->name, peer->method) : "-"});
  }
  return table.text() + setup_table(report) +
         fmt::format("\ngeometric means of {}: {} (least {}), with analysis {} (least {})\n", alone.count, alone.text(),
                     alone.least_text(), with_analysis.text(), with_analysis.least_text());
}

std::string cuda_means(const BenchReport& report) {
  Table table({{"geometric means", left},
               {"cases", right},
               {"% copy", right},
               {"least", right},
               {"DoF >= 2", right},
               {"speedup", right},
               {"least", right}});
  for (const auto& kind : kinds_of(report)) {
    bench::GeometricMean all, blocks, speedup;
    for (const auto& row : report.rows) {
      if (kind_of(row) != kind) continue;
      all.add(row.percent_of(row.copy));
      if (row.dof > 1) blocks.add(row.percent_of(row.copy));
      if (const auto* peer = row.best_peer()) speedup.add(peer->seconds / row.seconds);
    }
    table.add({kind, std::to_string(all.count), all.text(), all.least_text(), blocks.text(), speedup.text(),
               speedup.least_text()});
  }
  return table.text();
}

}  // namespace echelon::cli
