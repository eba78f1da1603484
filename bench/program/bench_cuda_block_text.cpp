// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_cuda_block_text.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "bench/measure/geometric_mean.hpp"
#include "echelon/report/table.hpp"

namespace echelon::cli {
namespace {

constexpr auto left = Table::Align::left, right = Table::Align::right;
constexpr const char* shown[] = {"analysis", "ilu0 factorization", "lower sweep", "upper sweep"};

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }

/// 0 without a contender.
double speedup(const BenchRow& row) {
  const auto* peer = row.best_peer();
  return peer ? peer->seconds / row.seconds : 0;
}

bool is_real(const BenchRow& row) { return row.problem == "matrix"; }

/// "star7 rcm" of "random star7 64x64x64 b=4 rcm", "mesh rcm"; the numbering is the last word of a name.
std::string kind_of_matrix(const BenchRow& row) {
  if (is_real(row)) return "real, geometric mean";
  const std::string pattern = row.problem == "mesh" ? "mesh" : row.stencil;
  return pattern + row.name.substr(row.name.rfind(' '));
}

std::string means(const BenchReport& report) {
  std::vector<std::string> operations;
  for (const auto& row : report.rows) {
    if (std::ranges::find(operations, row.operation) == operations.end()) operations.push_back(row.operation);
  }
  Table table({{"times cuSPARSE's better, geometric", left},
               {"all", right},
               {"least", right},
               {"generated", right},
               {"least", right},
               {"real", right},
               {"least", right}});
  for (const auto& operation : operations) {
    bench::GeometricMean all, made, real;
    for (const auto& row : report.rows) {
      if (row.operation != operation) continue;
      all.add(speedup(row));
      (is_real(row) ? real : made).add(speedup(row));
    }
    if (all.count == 0) continue;
    table.add({operation, all.text(), all.least_text(), made.text(), made.least_text(), real.text(), real.least_text()});
  }
  return table.text();
}

}  // namespace

std::string block_table(const BenchReport& report) {
  struct Shown {
    const char *operation, *head;
  };
  // Older reports have no first factorization and no checked ones.
  constexpr Shown each[] = {{"analysis", "analysis"},
                            {"ilu0 first factorization", "first"},
                            {"ilu0 factorization beside", "beside checked"},
                            {"ilu0 factorization", "factor"},
                            {"lower sweep", "lower"},
                            {"upper sweep", "upper"}};
  std::vector<Table::Column> columns = {{"case", left}, {"n", right}, {"way", left}};
  for (const auto& [operation, head] : each) {
    columns.push_back({fmt::format("{} ms", head), right});
    columns.push_back({"peer", right});
    columns.push_back({"×", right});
  }
  Table table(columns);
  std::vector<std::string> line;
  // A way's rows stand together, its analysis first.
  for (const auto& row : report.rows) {
    const std::string word = each[0].operation;
    if (row.operation.starts_with(word)) {
      if (!line.empty()) table.add(line);
      const std::string way = row.operation.substr(word.size());
      line = {row.name, std::to_string(row.n), way.empty() ? "chosen: " + row.schedule : way.substr(2, way.size() - 3)};
      line.resize(columns.size(), "-");
    }
    const auto which =
        std::ranges::find_if(each, [&](const Shown& one) { return row.operation.starts_with(one.operation); });
    if (which == std::end(each) || line.empty()) continue;
    const auto at = static_cast<std::size_t>(3 + 3 * (which - each));
    const auto* peer = row.best_peer();
    line[at] = milliseconds(row.seconds);
    if (peer) line[at + 1] = milliseconds(peer->seconds), line[at + 2] = fmt::format("{:.2f}", speedup(row));
  }
  if (!line.empty()) table.add(line);
  return table.text() + "\n" + means(report);
}

PanelPlot block_figure(const BenchReport& report) {
  PanelPlot plot;
  plot.title = "ILU(0) of block CSR on the GPU beside cuSPARSE";
  plot.subtitle = fmt::format("{}; FP64, median of {}; times as fast as the better of csrilu02 + SpSV and bsrilu02 + bsrsv2",
                              report.backend.name, report.rounds);
  plot.group_axis = "block size";
  plot.series = {"echelon"};
  for (const std::string operation : shown) {
    std::vector<std::string> kinds;
    std::map<std::string, std::map<int, bench::GeometricMean>> speedups;
    for (const auto& row : report.rows) {
      if (row.operation != operation || !row.best_peer()) continue;
      const auto kind = kind_of_matrix(row);
      if (!speedups.contains(kind)) kinds.push_back(kind);
      speedups[kind][row.dof].add(speedup(row));
    }
    PanelPlot::Row panels{operation + ", times as fast", {}};
    for (const auto& kind : kinds) {
      PanelPlot::Panel panel{kind, {}};
      for (const auto& [dof, mean] : speedups[kind]) {
        panel.groups.push_back({std::to_string(dof), {{mean.value(), mean.text()}}});
      }
      panels.panels.push_back(std::move(panel));
    }
    if (!panels.panels.empty()) plot.rows.push_back(std::move(panels));
  }
  return plot;
}

}  // namespace echelon::cli
