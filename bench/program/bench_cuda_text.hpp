// SPDX-License-Identifier: BSD-3-Clause
// A GPU benchmark's report for people: the table, and the means that goals speak of.
#pragma once

#include <string>

#include "echelon/report/bench_report.hpp"

namespace echelon::cli {

std::string cuda_table(const BenchReport& report);
/// Solves: what the time is made of, the contender without and with its analysis, set-up against a plain copy.
std::string cuda_solver_table(const BenchReport& report);
/// Geometric means over the cases, of all and of those with blocks, a line an operation and precision.
std::string cuda_means(const BenchReport& report);

}  // namespace echelon::cli
