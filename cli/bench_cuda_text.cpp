// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench_cuda_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "echelon/report/table.hpp"

namespace echelon::cli {
namespace {

constexpr auto left = Table::Align::left, right = Table::Align::right;

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }

/// Of positive numbers; "-" for none.
struct GeometricMean {
  double logarithms = 0, least = 0;
  int count = 0;
  void add(double value) {
    if (!(value > 0)) return;
    least = count == 0 ? value : std::min(least, value);
    logarithms += std::log(value);
    ++count;
  }
  std::string text() const { return count == 0 ? "-" : fmt::format("{:.2f}", std::exp(logarithms / count)); }
  std::string least_text() const { return count == 0 ? "-" : fmt::format("{:.2f}", least); }
};

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

std::string cuda_means(const BenchReport& report) {
  Table table({{"geometric means", left},
               {"cases", right},
               {"% copy", right},
               {"least", right},
               {"DoF >= 2", right},
               {"speedup", right},
               {"least", right}});
  for (const auto& kind : kinds_of(report)) {
    GeometricMean all, blocks, speedup;
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

BarPlot cuda_plot(const BenchReport& report) {
  BarPlot plot;
  plot.title = report.kind == "factor" ? "ILU(0) factorization on the GPU" : "Lower triangular sweeps on the GPU";
  plot.subtitle = fmt::format("{}, copies {:.0f} GB/s; FP64, median of {}", report.backend.name,
                              report.backend.copy_bandwidth / 1e9, report.rounds);
  plot.axis = "bytes that must move over time, percent of the copy bandwidth";
  plot.line = 100;
  plot.series = {"echelon", "cuSPARSE, the faster routine"};
  // One operation: all of them would make a picture of a hundred bars.
  const std::string operation = report.kind == "factor" ? "ilu0 factorization" : "lower sweep";
  for (const auto& row : report.rows) {
    if (row.precision != "fp64" || !row.operation.starts_with(operation)) continue;
    const std::string variant = row.operation.substr(operation.size());
    const PeerTime* best = row.best_peer();
    plot.groups.push_back({fmt::format("{} {}³ b={}{}", row.stencil, row.grid[0], row.dof, variant),
                           {row.percent_of(row.copy), best ? 100 * row.bytes / best->seconds / row.copy : std::nan("")}});
  }
  return plot;
}

bool grows(const BenchReport& report) {
  if (report.backend.kind != "cuda") return false;
  std::set<std::string> shapes;
  std::set<std::string> cases;
  for (const auto& row : report.rows) {
    shapes.insert(fmt::format("{} {}", row.stencil, row.dof));
    cases.insert(row.name);
  }
  return cases.size() > shapes.size();
}

SizePlot cuda_curves(const BenchReport& report) {
  SizePlot plot;
  plot.title = report.kind == "factor" ? "ILU(0) factorization on the GPU by size" : "Lower sweeps on the GPU by size";
  plot.subtitle = fmt::format("{}, copies {:.0f} GB/s; FP64, median of {}", report.backend.name,
                              report.backend.copy_bandwidth / 1e9, report.rounds);
  plot.size_axis = "points along a side of the grid";
  plot.value_axis = "percent of the copy bandwidth";
  plot.line = 100;
  std::vector<std::string> shapes;
  const auto curve = [&](const BenchRow& row, const std::string& who, bool dashed) -> SizePlot::Curve& {
    const auto shape = fmt::format("{} b={}", row.stencil, row.dof);
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
    const auto color = static_cast<int>(std::find(shapes.begin(), shapes.end(), shape) - shapes.begin());
    const auto label = shape + ", " + who;
    const auto known = std::find_if(plot.curves.begin(), plot.curves.end(), [&](const auto& c) { return c.label == label; });
    if (known != plot.curves.end()) return *known;
    return plot.curves.emplace_back(SizePlot::Curve{label, color, dashed, {}});
  };
  const std::string operation = report.kind == "factor" ? "ilu0 factorization" : "lower sweep";
  for (const auto& row : report.rows) {
    if (row.operation != operation || row.precision != "fp64") continue;
    const auto side = static_cast<double>(row.grid[0]);
    curve(row, "echelon", false).points.emplace_back(side, row.percent_of(row.copy));
    if (const auto* peer = row.best_peer()) {
      curve(row, "best of " + peer->name, true).points.emplace_back(side, 100 * row.bytes / peer->seconds / row.copy);
    }
  }
  return plot;
}

}  // namespace echelon::cli
