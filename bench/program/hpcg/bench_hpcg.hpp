// SPDX-License-Identifier: BSD-3-Clause
// `echelon bench hpcg`: ratings of `echelon hpcg` by smoother, threads and ranks, beside a reference program that is there.
// Every run is a process of its own, ours too, as a user starts it; a rating counts when its run ended VALID.
#pragma once

#include <string>
#include <vector>

#include "bench/program/bench_options.hpp"
#include "echelon/report/bench_report.hpp"

namespace echelon::cli {

/// What `echelon hpcg --smoother` takes; the first is the exact one.
std::vector<std::string> hpcg_smoother_names();
int run_bench_hpcg(const BenchOptions& options, const std::vector<std::string>& arguments);
std::string hpcg_table(const BenchReport& report);
std::string hpcg_svg(const BenchReport& report);

}  // namespace echelon::cli
