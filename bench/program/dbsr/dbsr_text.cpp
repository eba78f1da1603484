// SPDX-License-Identifier: BSD-3-Clause
// The tables of `bench dbsr`: one a kind of case, and the paper's claims beside it.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "bench/program/dbsr/bench_dbsr.hpp"
#include "bench/program/dbsr/dbsr_cases.hpp"
#include "bench/program/dbsr/paper_range.hpp"
#include "echelon/report/table.hpp"

namespace echelon::cli {
namespace {

constexpr auto left = Table::Align::left, right = Table::Align::right;

std::string or_dash(double value, const char* form) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(form), value) : "-";
}

bool is_of(const BenchRow& row, const std::string& what) { return row.name.rfind(what + " ", 0) == 0; }

std::string solve_table(const BenchReport& report) {
  Table table({{"case", left},
               {"strategy", left},
               {"threads", right},
               {"iterations", right},
               {"to serial", right},
               {"seconds", right},
               {"spread", right},
               {"speedup", right},
               {"factor s", right},
               {"what ran", left}});
  bool any = false;
  for (const auto& row : report.rows) {
    if (row.iterations == 0) continue;
    any = true;
    table.add({row.name, row.operation, std::to_string(row.threads), std::to_string(row.iterations),
               fmt::format("{:.2f}", row.iteration_ratio), fmt::format("{:.4f}", row.seconds),
               fmt::format("{:.0f} %", 100 * row.spread), or_dash(measure_of(row, "speedup_over_serial"), "{:.2f}"),
               fmt::format("{:.4f}", row.setup_seconds), row.kernel});
  }
  return any ? table.text() + "\n" : "";
}

std::string sweep_table(const BenchReport& report) {
  Table table({{"case", left},
               {"format", left},
               {"threads", right},
               {"sweeps ms", right},
               {"% triad", right},
               {"step ms", right},
               {"factor ms", right},
               {"in steps", right},
               {"convert ms", right},
               {"values MB", right},
               {"padding", right},
               {"indices", right}});
  bool any = false;
  for (const auto& row : report.rows) {
    if (!is_of(row, "sweeps")) continue;
    any = true;
    const auto get = [&](const char* name, double factor, const char* form) {
      return or_dash(factor * measure_of(row, name), form);
    };
    const double indices =
        measure_of(row, "bytes_columns") + measure_of(row, "bytes_rows") + measure_of(row, "bytes_offsets");
    table.add({row.name, row.operation, std::to_string(row.threads), fmt::format("{:.2f}", 1e3 * row.seconds),
               fmt::format("{:.0f}", row.percent_of(row.triad)), get("step_seconds", 1e3, "{:.2f}"),
               get("factor_seconds", 1e3, "{:.2f}"), get("factor_steps", 1, "{:.2f}"),
               get("conversion_seconds", 1e3, "{:.0f}"), get("bytes_nonzeros", 1e-6, "{:.1f}"),
               get("bytes_padding", 1e-6, "{:.1f}"), or_dash(1e-6 * indices, "{:.1f}")});
  }
  return any ? table.text() + "\n" : "";
}

std::string symgs_table(const BenchReport& report) {
  Table table({{"case", left},
               {"order", left},
               {"threads", right},
               {"ms", right},
               {"spread", right},
               {"% triad", right},
               {"residual", right}});
  bool any = false;
  for (const auto& row : report.rows) {
    if (!is_of(row, "symgs")) continue;
    any = true;
    table.add({row.name, row.operation, std::to_string(row.threads), fmt::format("{:.2f}", 1e3 * row.seconds),
               fmt::format("{:.0f} %", 100 * row.spread), fmt::format("{:.0f}", row.percent_of(row.triad)),
               or_dash(measure_of(row, "residual_after_a_step"), "{:.4f}")});
  }
  return any ? table.text() + "\n" : "";
}

/// Rows of one case, precision and thread count by strategy.
using Group = std::map<std::string, const BenchRow*>;

std::map<std::string, Group> groups_of(const BenchReport& report) {
  std::map<std::string, Group> groups;
  for (const auto& row : report.rows) groups[fmt::format("{} t{}", row.name, row.threads)][row.operation] = &row;
  return groups;
}

std::vector<PaperRange> ranges_of(const BenchReport& report) {
  PaperRange plain64{"9", "DBSR over BMC, FP64, time to the residual", 1.11, 1.17, {}},
      plain32{"9", "the same, FP32", 1.16, 1.40, {}}, simd64{"9", "DBSR with SIMD over BMC, FP64", 1.17, 1.26, {}},
      simd32{"9", "the same, FP32", 1.22, 1.46, {}}, sell{"8", "DBSR over SELL, sweeps, both with SIMD", 1.158, 1.158, {}},
      gather_free{"8", "gather-free SIMD over scalar DBSR, sweeps", 1.124, 1.124, {}},
      stable{"10", "sweeps of bsize 16 over those of bsize 32 (stable: 1)", 1, 1.05, {}, true},
      factor{"12", "factorization in smoothing steps of DBSR", 1, 1, {}, true};
  PaperRange gathered{"8", "SIMD with gather over scalar DBSR, sweeps (no gain: 1)", 1, 1, {}};
  const auto ratio = [](const Group& group, const char* slow, const char* fast, std::vector<double>& to) {
    const auto a = group.find(slow), b = group.find(fast);
    if (a != group.end() && b != group.end()) to.push_back(a->second->seconds / b->second->seconds);
  };
  for (const auto& [name, group] : groups_of(report)) {
    const bool narrow = group.begin()->second->precision == "fp32";
    if (is_of(*group.begin()->second, "sweeps")) {
      ratio(group, "sell+gather bsize 8", "simd bsize 8", sell.ours);
      ratio(group, "dbsr bsize 8", "simd bsize 8", gather_free.ours);
      ratio(group, "dbsr bsize 8", "dbsr+gather bsize 8", gathered.ours);
      ratio(group, "simd bsize 16", "simd bsize 32", stable.ours);
      const auto at = group.find("simd bsize 8");
      if (at != group.end()) {
        const double steps = measure_of(*at->second, "factor_steps");
        if (std::isfinite(steps)) factor.ours.push_back(steps);
      }
      continue;
    }
    for (const char* blocks : {"fix", "auto"}) {
      const auto bmc = fmt::format("bmc-{}", blocks);
      ratio(group, bmc.c_str(), fmt::format("dbsr-{}", blocks).c_str(), narrow ? plain32.ours : plain64.ours);
      ratio(group, bmc.c_str(), fmt::format("simd-{}", blocks).c_str(), narrow ? simd32.ours : simd64.ours);
    }
  }
  return {sell, gather_free, gathered, plain64, plain32, simd64, simd32, stable, factor};
}

}  // namespace

std::string dbsr_table(const BenchReport& report) {
  return solve_table(report) + sweep_table(report) + symgs_table(report) + paper_table(ranges_of(report));
}

}  // namespace echelon::cli
