// SPDX-License-Identifier: BSD-3-Clause
// The frame of a benchmark run, on the host and on a GPU: case after case, what is missing and why, report, table, plot.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/program/bench_case_run.hpp"
#include "bench/program/bench_options.hpp"

namespace echelon::cli {

/// Throws Error(bad_option) that names --only when it left nothing.
void require_chosen(std::size_t left, const BenchOptions& options);
/// The cases whose name contains --only. Throws Error(bad_option) when there is none.
std::vector<bench::BenchCase> chosen_cases(std::vector<bench::BenchCase> cases, const BenchOptions& options);
/// The same for what has a name() of its own.
template <class Case>
std::vector<Case> chosen_of(std::vector<Case> cases, const BenchOptions& options) {
  std::erase_if(cases, [&](const Case& one) { return one.name().find(options.only) == std::string::npos; });
  require_chosen(cases.size(), options);
  return cases;
}
template <class Case>
std::vector<std::string> names_of(const std::vector<Case>& cases) {
  std::vector<std::string> names;
  for (const auto& one : cases) names.push_back(one.name());
  return names;
}

/// Of --threads, in order and each once; one and all where none is given.
std::vector<int> thread_counts(const BenchOptions& options);

/// All that is known before the first case.
BenchReport new_report(const BenchOptions& options, const std::vector<std::string>& arguments, const Contenders& contenders);

/// Measures one case; `progress` takes what is being done now. Error means that the case has no row.
using Progress = std::function<void(const std::string&)>;
using MeasureCase = std::function<CaseResult(const bench::BenchCase& one, const Progress& progress)>;

/// Runs all, writes and prints; returns the exit status.
using MeasureNamed = std::function<CaseResult(std::size_t which, const Progress& progress)>;
int run_named_cases(const BenchOptions& options, BenchReport& report, const std::vector<std::string>& names,
                    const MeasureNamed& measure);
/// The same for cases of the usual kind.
int run_cases(const BenchOptions& options, BenchReport& report, const std::vector<bench::BenchCase>& cases,
              const MeasureCase& measure);

/// The table and the picture of --from. Throws Error when it is no report of this kind.
int show_again(const BenchOptions& options);

}  // namespace echelon::cli
