// SPDX-License-Identifier: BSD-3-Clause
// `echelon check FILE`: what can be said of a matrix without solving with it, as a table and as JSON.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/outputs.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/io/matrix_market.hpp"
#include "echelon/report/json.hpp"
#include "echelon/report/table.hpp"
#include "echelon/solve/matrix_check.hpp"

namespace echelon::cli {
namespace {

struct CheckOptions {
  std::string matrix;
  std::string json;
  bool quiet = false;
};

void add_check_options(const OptionList& options, CheckOptions& o) {
  OptionGroup group(options);
  group.required_file("matrix", o.matrix, "Matrix Market file, plain or .gz", FileRole::input);
  group.file("--json", o.json, json_help, FileRole::output);
  group.flag("-q,--quiet", o.quiet, "print nothing: the exit status is the answer");
}

std::string symmetry_words(const CheckReport& report) {
  if (report.symmetric) return "symmetric";
  if (report.pattern_symmetric)
    return fmt::format("symmetric pattern, values differ by {:.1e} of the largest", report.asymmetry);
  return "not symmetric, pattern included";
}

std::string diagonal_words(const CheckReport& report) {
  std::string text;
  const auto add = [&](std::int64_t count, const char* what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(report.missing_diagonals, "missing");
  add(report.zero_diagonals, "zero");
  add(report.negative_diagonals, "negative");
  add(report.weak_diagonals, "weak (below 1e-3 of their row)");
  if (text.empty()) text = "all positive";
  return text + fmt::format("; {:.0f} % of the rows dominant",
                            report.rows
                                ? 100.0 * static_cast<double>(report.dominant_rows) / static_cast<double>(report.rows)
                                : 0.0);
}

std::string entry_words(const CheckReport& report) {
  std::string text = fmt::format("{} stored", report.nnz);
  if (report.rows > 0)
    text += fmt::format(", {:.1f} a row", static_cast<double>(report.nnz) / static_cast<double>(report.rows));
  if (report.duplicates > 0) text += fmt::format(", {} duplicates summed", report.duplicates);
  if (report.explicit_zeros > 0) text += fmt::format(", {} zeros", report.explicit_zeros);
  if (report.nonfinite > 0) text += fmt::format(", {} NAN OR INFINITE", report.nonfinite);
  return text;
}

std::string text_of_sizes(const CheckReport& report) {
  Table table({{"", Table::Align::left}, {"", Table::Align::left}});
  table.add({"matrix", fmt::format("{}, {} x {}, {} {}", report.path, report.rows, report.columns, report.field,
                                   report.symmetry_in_file)});
  table.add({"entries", fmt::format("{} promised by the size line, not looked at", report.entries_promised)});
  table.add({"rank", fmt::format("at most {}", report.structural_rank)});
  for (const auto& line : report.advice) table.add({"advice", line});
  return table.text();
}

std::string text_of(const CheckReport& report) {
  Table table({{"", Table::Align::left}, {"", Table::Align::left}});
  table.add({"matrix", fmt::format("{}, {} x {}, {} {}", report.path, report.rows, report.columns, report.field,
                                   report.symmetry_in_file)});
  table.add({"entries", entry_words(report)});
  table.add({"symmetry", symmetry_words(report)});
  table.add({"diagonal", diagonal_words(report)});
  table.add({"blocks", report.block_guess > 1
                           ? fmt::format("{0}x{0}, {1:.0f} % full", report.block_guess, 100 * report.block_density)
                           : "none seen"});
  table.add({"empty", fmt::format("{} rows, {} columns", report.empty_rows, report.empty_columns)});
  table.add(
      {"rank",
       fmt::format("{} by structure{}", report.structural_rank,
                   report.structural_rank == report.rows && report.structural_rank == report.columns ? " (full)" : "")});
  table.add({"ILU(0)", fmt::format("{} of memory", human_bytes(report.ilu0_bytes))});
  for (const auto& line : report.advice) table.add({"advice", line});
  return table.text();
}

int run_check(const CheckOptions& options, const Arguments& arguments) {
  Output output(options.json);
  begin_team();
  ReadOptions reading;
  reading.allow_nonfinite = true;  // to count and place them all
  MatrixMarketFile file(options.matrix, reading);
  auto report = condemned_by_sizes(file.sizes()) ? check_sizes(file.sizes()) : check_matrix(file.matrix(), options.matrix);
  report.arguments = arguments;
  output.write([&] { return to_json(report); });
  Console console(options.quiet, options.json == "-");
  console.say(report.sizes_only ? text_of_sizes(report) : text_of(report));
  return report.solvable ? exit_done : exit_not_converged;
}

}  // namespace

Command check_command() {
  const auto o = std::make_shared<CheckOptions>();
  return {.name = "check",
          .help = "look at a matrix before solving: structure, diagonal, symmetry, NaN, rank, memory, advice",
          .footer = "Exit status: 0 solvable, 1 singular by structure, not square or not finite, 2 not readable.",
          .add_options = [o](const OptionList& options) { add_check_options(options, *o); },
          .run = [o](const Arguments& arguments) { return run_check(*o, arguments); }};
}

}  // namespace echelon::cli
