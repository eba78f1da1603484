// SPDX-License-Identifier: BSD-3-Clause
// The picture of `bench dbsr`: the paper's figures 9 (a row for CG alone, one for four levels), 10, 12 and 8, 11.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/program/dbsr/bench_dbsr.hpp"
#include "bench/program/dbsr/dbsr_cases.hpp"
#include "echelon/report/plots/panel_plot.hpp"

namespace echelon::cli {
namespace {

using Pick = double (*)(const BenchRow& row);

bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

std::size_t series_of(PanelPlot& plot, int threads) {
  const auto name = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
  const auto at = std::ranges::find(plot.series, name);
  if (at != plot.series.end()) return static_cast<std::size_t>(at - plot.series.begin());
  plot.series.push_back(name);
  return plot.series.size() - 1;
}

std::string panel_title(const BenchRow& row) { return fmt::format("{}, {}, {}³", row.stencil, row.precision, row.grid[0]); }

/// One size is drawn: the smallest. The table has them all.
std::int64_t drawn_side(const BenchReport& report) {
  std::int64_t least = 0;
  for (const auto& row : report.rows) least = least == 0 ? row.grid[0] : std::min(least, row.grid[0]);
  return least;
}

template <class Named>
Named& found_or_made(std::vector<Named>& among, std::string Named::*field, const std::string& name) {
  for (auto& one : among) {
    if (one.*field == name) return one;
  }
  among.emplace_back();
  among.back().*field = name;
  return among.back();
}

/// A row of panels of those cases `what`, a group an operation that begins with one of `operations`.
void add_row(PanelPlot& plot, const BenchReport& report, const std::string& what, const std::string& stencil,
             const std::string& axis, const std::vector<std::string>& operations, const std::string& prefix, Pick value,
             Pick mark) {
  PanelPlot::Row to;
  to.axis = axis;
  const std::int64_t side = drawn_side(report);
  for (const auto& name : operations) {
    for (const auto& row : report.rows) {
      if (!begins(row.name, what + " ") || row.operation != name || row.stencil != stencil || row.grid[0] != side) continue;
      const auto series = series_of(plot, row.threads);
      auto& panel = found_or_made(to.panels, &PanelPlot::Panel::title, panel_title(row));
      auto label = begins(name, prefix) ? name.substr(prefix.size()) : name;
      if (const auto at = label.find(" bsize 8"); at != std::string::npos) label = label.substr(0, at);
      auto& group = found_or_made(panel.groups, &PanelPlot::Group::label, label);
      if (group.bars.size() <= series) group.bars.resize(series + 1, {std::nan(""), ""});
      const double marked = mark ? mark(row) : std::nan("");
      group.bars[series] = {value(row), std::isfinite(marked) && marked > 0 ? fmt::format("{:.3g}", marked) : ""};
    }
  }
  if (!to.panels.empty()) plot.rows.push_back(std::move(to));
}

double milliseconds_of_sweeps(const BenchRow& row) { return 1e3 * row.seconds; }
double speedup(const BenchRow& row) { return measure_of(row, "speedup_over_serial"); }
double iterations(const BenchRow& row) { return static_cast<double>(row.iterations); }
double factor_steps(const BenchRow& row) { return measure_of(row, "factor_steps"); }
double megabytes(const BenchRow& row) {
  double sum = 0;
  for (const char* part : {"bytes_nonzeros", "bytes_padding", "bytes_columns", "bytes_rows", "bytes_offsets"}) {
    sum += 1e-6 * measure_of(row, part);
  }
  return sum;
}
double percent_padding(const BenchRow& row) {
  return 100 * measure_of(row, "bytes_padding") / (measure_of(row, "bytes_nonzeros") + measure_of(row, "bytes_padding"));
}

}  // namespace

std::string dbsr_svg(const BenchReport& measured) {
  // Pieces of a run may have been put together in any order.
  BenchReport report = measured;
  std::ranges::stable_sort(report.rows, [](const BenchRow& a, const BenchRow& b) {
    return a.precision == b.precision ? a.threads < b.threads : a.precision > b.precision;
  });
  PanelPlot plot;
  plot.title = "ILU(0) reordered and in natural order: time to the same residual, formats, factorization";
  plot.subtitle = fmt::format("{}; medians over {} round{}; marked: iterations, in the last row percent of padding",
                              report.backend.name, report.rounds, report.rounds == 1 ? "" : "s");
  plot.group_axis = "strategy, format or bsize";
  const std::vector<std::string> strategies = {"bj",        "mc",       "bmc-fix",   "bmc-auto", "dbsr-fix",
                                               "dbsr-auto", "simd-fix", "simd-auto", "lines"};
  std::vector<std::string> sizes;
  for (const int bsize : {1, 2, 4, 8, 16, 32, 64}) sizes.push_back(fmt::format("simd bsize {}", bsize));
  std::vector<std::string> stored = {"bmc-fix"};
  stored.insert(stored.end(), sizes.begin(), sizes.end());
  const std::vector<std::string> formats = {
      "bmc-fix", "sell bsize 8", "sell+gather bsize 8", "dbsr bsize 8", "dbsr+gather bsize 8", "simd bsize 8", "lines"};
  const std::vector<std::string> factored = {
      "serial", "bj", "mc", "bmc-fix", "bmc-auto", "simd bsize 8", "simd-auto bsize 8", "lines"};
  struct Figure {
    const char *what, *axis;
    const std::vector<std::string>& groups;
    const char* prefix;
    Pick value, mark;
  };
  const Figure figures[] = {{"cg", "9: CG, times serial", strategies, "", speedup, iterations},
                            {"mg", "9: four levels, times serial", strategies, "", speedup, iterations},
                            {"sweeps", "8: ms of both sweeps", formats, "", milliseconds_of_sweeps, nullptr},
                            {"sweeps", "10: ms, by bsize", sizes, "simd bsize ", milliseconds_of_sweeps, nullptr},
                            {"sweeps", "12: factorization, steps", factored, "", factor_steps, nullptr},
                            {"sweeps", "11: MB, by bsize", stored, "simd bsize ", megabytes, percent_padding}};
  for (const auto& one : figures) {
    for (const char* stencil : {"box27", "star7"}) {
      add_row(plot, report, one.what, stencil, one.axis, one.groups, one.prefix, one.value, one.mark);
    }
  }
  return panel_svg(plot);
}

}  // namespace echelon::cli
