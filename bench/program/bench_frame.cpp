// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bench/program/bench_text.hpp"
#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/outputs.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/machine.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/report/json.hpp"

namespace echelon::cli {
namespace {

bool takes_standard_output(const BenchOptions& options) {
  return options.json == "-" || options.plot == "-" || options.spy == "-";
}

/// Not a pipe or standard output: whoever reads those gets one report, at the end.
bool can_be_written_again(const std::string& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  return path != "-" && (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status));
}

/// No more is read of what is no report, or without an end: a device, another file.
std::string report_text(const std::string& path) {
  constexpr std::size_t piece = 1 << 16, largest = std::size_t{1} << 28;
  std::ifstream file(path);
  std::string text;
  for (std::size_t size = 0; file; text.resize(size)) {
    text.resize(size + piece);
    file.read(text.data() + size, piece);
    size += static_cast<std::size_t>(file.gcount());
    const auto first = std::string_view(text.data(), size).find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || text[first] != '{' || size > largest) break;
  }
  if (file.bad() || !file.is_open()) throw Error(ErrorCode::file_missing, fmt::format("--from {}: cannot be read", path));
  if (text.size() > largest) {
    throw Error(ErrorCode::file_format,
                fmt::format("--from {}: more than {} bytes, and no report is that long", path, largest));
  }
  return text;
}

}  // namespace

void require_chosen(std::size_t left, const BenchOptions& options) {
  if (left > 0) return;
  throw Error(ErrorCode::bad_option,
              fmt::format("--only {}: no case of {} has that in its name", options.only, options.kind));
}

std::vector<bench::BenchCase> chosen_cases(std::vector<bench::BenchCase> cases, const BenchOptions& options) {
  return chosen_of(std::move(cases), options);
}

std::vector<int> thread_counts(const BenchOptions& options) {
  std::vector<int> counts = options.threads;
  if (counts.empty()) counts = {1, hardware_threads()};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

BenchReport new_report(const BenchOptions& options, const std::vector<std::string>& arguments,
                       const Contenders& contenders) {
  BenchReport report;
  report.kind = options.kind;
  report.machine = options.machine;
  report.commit = options.commit.empty() ? program_commit() : options.commit;
  report.arguments = arguments;
  report.cache_bytes = last_level_cache_bytes();
  report.small = options.small;
  for (const auto& contender : contenders.found) report.contenders_found.push_back(contender.name);
  report.contenders_missing = contenders.missing;
  return report;
}

int run_cases(const BenchOptions& options, BenchReport& report, const std::vector<bench::BenchCase>& cases,
              const MeasureCase& measure) {
  return run_named_cases(options, report, names_of(cases),
                         [&](std::size_t which, const Progress& progress) { return measure(cases[which], progress); });
}

int run_named_cases(const BenchOptions& options, BenchReport& report, const std::vector<std::string>& cases,
                    const MeasureNamed& measure) {
  for (const auto& one : cases) report.missing.push_back({one, options.kind, "the run ended before it"});
  Console console(options.quiet, takes_standard_output(options));
  std::string unwritten;
  const auto write = [&](const std::string& path, const auto& content) {
    try {
      if (!path.empty()) write_report(path, content(report));
    } catch (const Error& error) {
      unwritten = error.what();  // what was measured is still shown, and after the next case there may be room again
    }
  };
  const auto write_json = [&] { write(options.json, [](const BenchReport& all) { return to_json(all); }); };
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const auto progress = [&](const std::string& what) {
      if (console.shows_progress()) console.progress(fmt::format("{}/{} {}: {}", c + 1, cases.size(), cases[c], what));
    };
    const auto listed = std::find_if(report.missing.begin(), report.missing.end(),
                                     [&](const NotCompared& one) { return one.name == cases[c]; });
    try {
      auto result = measure(c, progress);
      std::move(result.rows.begin(), result.rows.end(), std::back_inserter(report.rows));
      std::move(result.not_compared.begin(), result.not_compared.end(), std::back_inserter(report.not_compared));
      report.missing.erase(listed);
      std::move(result.missing.begin(), result.missing.end(), std::back_inserter(report.missing));
    } catch (const Error& error) {
      listed->why = error.what();
    }
    unwritten.clear();
    if (can_be_written_again(options.json)) write_json();
  }
  console.clear_progress();
  if (!can_be_written_again(options.json)) write_json();
  write(options.plot, [](const BenchReport& all) { return bench_svg(all); });
  console.say(bench_table(report));
  console.say(bench_remarks(report));
  if (!unwritten.empty()) {
    console.complain(fmt::format("echelon: {}\n", unwritten));
    return exit_status(ErrorCode::write_failed);
  }
  if (report.missing.empty()) return exit_done;
  if (options.quiet) console.complain(bench_remarks(report));
  return exit_not_converged;
}

int show_again(const BenchOptions& options) {
  const BenchReport report = bench_report_from_json(report_text(options.from));
  if (report.kind != options.kind) {
    throw Error(ErrorCode::bad_option,
                fmt::format("--from {}: the report of bench {}, not of {}", options.from, report.kind, options.kind));
  }
  if (!options.plot.empty()) write_report(options.plot, bench_svg(report));
  Console console(options.quiet, takes_standard_output(options));
  console.say(bench_table(report));
  return exit_done;
}

}  // namespace echelon::cli
