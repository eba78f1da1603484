// SPDX-License-Identifier: BSD-3-Clause
// The frame of a benchmark run, on the host and on a GPU: case after case, what is missing and why, report, table, plot.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/program/bench_case_run.hpp"
#include "bench/program/bench_options.hpp"

namespace echelon::cli {

/// The cases whose name contains --only. Throws Error(bad_option) when there is none.
std::vector<bench::BenchCase> chosen_cases(std::vector<bench::BenchCase> cases, const BenchOptions& options);

/// All that is known before the first case.
BenchReport new_report(const BenchOptions& options, const std::vector<std::string>& arguments, const Contenders& contenders);

/// Measures one case; `progress` takes what is being done now. Error means that the case has no row.
using Progress = std::function<void(const std::string&)>;
using MeasureCase = std::function<CaseResult(const bench::BenchCase& one, const Progress& progress)>;

/// Runs all, writes and prints; returns the exit status.
int run_cases(const BenchOptions& options, BenchReport& report, const std::vector<bench::BenchCase>& cases,
              const MeasureCase& measure);

/// The table and the picture of --from. Throws Error when it is no report of this kind.
int show_again(const BenchOptions& options);

}  // namespace echelon::cli
