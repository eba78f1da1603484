// SPDX-License-Identifier: BSD-3-Clause
// A case of `echelon bench convergence --backend cuda`: IC(0) and IC(1) on the grid, ParIC(0), ParICT and multicolour IC(0)
// in block CSR, and multicolour ILU(0) by cuSPARSE beside the last. A row's seconds are factorization and iteration.
#pragma once

#include "bench/program/bench_contenders.hpp"
#include "bench/program/bench_frame.hpp"

namespace echelon::cli {

/// Throws Error when one of ours does not converge.
CaseResult measure_device_convergence(const bench::BenchCase& one, int rounds, const std::vector<Contender>& contenders,
                                      const Progress& progress);

}  // namespace echelon::cli
