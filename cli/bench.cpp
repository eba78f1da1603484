// SPDX-License-Identifier: BSD-3-Clause
// `echelon bench KIND`: every listed shape, ours beside the contenders that are there. A shape without a row of ours fails
// the run and is named. The report is written after every case, so that a run that was ended has what it did.
#include <fmt/format.h>

#include <algorithm>

#include "bench/measure/shapes.hpp"
#include "cli/bench_case_run.hpp"
#include "cli/bench_text.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/machine_info.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/machine.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/report/json.hpp"

namespace echelon::cli {
namespace {

std::vector<bench::BenchCase> chosen_cases(const BenchOptions& options) {
  auto cases = bench::shapes(options.kind, options.small);
  std::erase_if(cases, [&](const bench::BenchCase& one) { return one.name().find(options.only) == std::string::npos; });
  if (cases.empty()) {
    throw Error(ErrorCode::bad_option,
                fmt::format("--only {}: no case of {} has that in its name", options.only, options.kind));
  }
  return cases;
}

std::vector<int> thread_counts(const BenchOptions& options) {
  std::vector<int> counts = options.threads;
  if (counts.empty()) counts = {1, hardware_threads()};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

int rounds_of(const BenchOptions& options) {
  if (options.rounds > 0) return options.rounds;
  if (options.small) return 1;
  return options.kind == "solver" || options.kind == "convergence" ? 3 : 5;
}

}  // namespace

int run_bench(const BenchOptions& options, const std::vector<std::string>& arguments) {
  const auto cases = chosen_cases(options);
  // A comparison of our own methods has no contenders.
  Contenders contenders;
  if (options.kind != "convergence") {
    contenders =
        find_contenders(options.kind, options.peers.empty() ? contender_names() : options.peers, options.contenders);
  }
  CasePlan plan;
  plan.threads = thread_counts(options);
  plan.rounds = rounds_of(options);
  plan.contenders = contenders.found;

  BenchReport report;
  report.kind = options.kind;
  report.machine = options.machine;
  report.commit = options.commit.empty() ? program_commit() : options.commit;
  report.arguments = arguments;
  set_threads(plan.threads.back());
  report.backend = host_backend(true);
  report.cache_bytes = last_level_cache_bytes();
  report.small = options.small;
  report.rounds = plan.rounds;
  for (const auto& contender : contenders.found) report.contenders_found.push_back(contender.name);
  report.contenders_missing = contenders.missing;
  for (const auto& one : cases) report.missing.push_back({one.name(), options.kind, "the run ended before it"});

  Console console(options.quiet, options.json == "-");
  for (std::size_t c = 0; c < cases.size(); ++c) {
    plan.progress = [&](const std::string& what) {
      if (console.shows_progress())
        console.progress(fmt::format("{}/{} {}: {}", c + 1, cases.size(), cases[c].name(), what));
    };
    const auto listed = std::find_if(report.missing.begin(), report.missing.end(),
                                     [&](const NotCompared& one) { return one.name == cases[c].name(); });
    try {
      auto result = measure_case(cases[c], plan);
      std::move(result.rows.begin(), result.rows.end(), std::back_inserter(report.rows));
      std::move(result.not_compared.begin(), result.not_compared.end(), std::back_inserter(report.not_compared));
      report.missing.erase(listed);
    } catch (const Error& error) {
      listed->why = error.what();
    }
    if (!options.json.empty() && options.json != "-") write_report(options.json, to_json(report));
  }
  console.clear_progress();
  if (options.json == "-") write_report(options.json, to_json(report));
  if (!options.plot.empty()) write_report(options.plot, bar_svg(bench_plot(report)));
  console.say(bench_table(report));
  console.say(bench_remarks(report));
  if (report.missing.empty()) return exit_done;
  if (options.quiet) console.complain(bench_remarks(report));
  return exit_not_converged;
}

}  // namespace echelon::cli
