// SPDX-License-Identifier: BSD-3-Clause
// `echelon bench trisolve`: the triangular systems of ILU(0) by exact sweeps and by iterations, over the number of sweeps:
// time of an application, error against the exact one, GMRES iterations with it, and what is known of the factors before and
// after Ruiz scaling. The guard is off, so that the table shows what it would have prevented; a column says its verdict.
#pragma once

#include <vector>

#include "bench/program/bench_frame.hpp"

namespace echelon::cli {

int run_bench_trisolve(const BenchOptions& options, const std::vector<std::string>& arguments);

std::string trisolve_table(const BenchReport& report);
/// The error after each number of sweeps, of the last case of the report.
std::string trisolve_svg(const BenchReport& report);

}  // namespace echelon::cli
