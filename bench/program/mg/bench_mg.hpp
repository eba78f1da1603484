// SPDX-License-Identifier: BSD-3-Clause
// `echelon bench mg`: multigrid beside hypre's PFMG and SMG, and our methods beside each other, to the same residual.
#pragma once

#include <string>
#include <vector>

#include "bench/program/bench_options.hpp"
#include "echelon/report/bench_report.hpp"

namespace echelon::cli {

/// Runs all cases; returns the exit status.
int run_bench_mg(const BenchOptions& options, const std::vector<std::string>& arguments);
std::string mg_table(const BenchReport& report);
std::string mg_svg(const BenchReport& report);

}  // namespace echelon::cli
