// SPDX-License-Identifier: BSD-3-Clause
// `echelon bench dbsr`: reorder, or preserve the dependencies? Figures 8 to 12 of X. Yang, S. Li, F. Yuan, D. Dong, 2024.
#pragma once

#include <string>
#include <vector>

#include "bench/program/bench_options.hpp"
#include "echelon/report/bench_report.hpp"

namespace echelon::cli {

/// Runs all cases; returns the exit status.
int run_bench_dbsr(const BenchOptions& options, const std::vector<std::string>& arguments);
std::string dbsr_table(const BenchReport& report);
std::string dbsr_svg(const BenchReport& report);

}  // namespace echelon::cli
