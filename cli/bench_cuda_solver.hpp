// SPDX-License-Identifier: BSD-3-Clause
// A case of `echelon bench solver|convergence --backend cuda`: factors in FP64 and FP32, and cuSPARSE's beside those in
// FP64. A row's seconds are factorization and iteration; the tables, and the matrix assembled on the GPU, are its set-up.
#pragma once

#include "cli/bench_contenders.hpp"
#include "cli/bench_frame.hpp"

namespace echelon::cli {

/// Throws Error when ours does not converge.
CaseResult measure_device_solve(const bench::BenchCase& one, int rounds, const std::vector<Contender>& contenders,
                                const Progress& progress);

/// IC(0) and IC(1) beside each other.
CaseResult measure_device_convergence(const bench::BenchCase& one, int rounds, const Progress& progress);

}  // namespace echelon::cli
