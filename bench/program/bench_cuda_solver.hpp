// SPDX-License-Identifier: BSD-3-Clause
// A case of `echelon bench solver --backend cuda`: factors in FP64 and FP32, and cuSPARSE's beside those in FP64. A row's
// seconds are factorization and iteration; the tables, and the matrix assembled on the GPU, are its set-up: part by part,
// each waited for, and in one go, as a user has it.
#pragma once

#include "bench/program/bench_contenders.hpp"
#include "bench/program/bench_frame.hpp"

namespace echelon::cli {

/// Throws Error when ours does not converge.
CaseResult measure_device_solve(const bench::BenchCase& one, int rounds, const std::vector<Contender>& contenders,
                                const Progress& progress);

/// Our rows of a case, one a storage of the factors, and the norm of the first one's answer.
struct MeasuredSolves {
  std::vector<BenchRow> rows;
  double answer_norm = 0;
};
MeasuredSolves measure_device_solves(const bench::BenchCase& one, int rounds, const std::vector<Stored>& storages);

/// Part by part.
std::vector<TimePart> medians(const std::vector<std::vector<TimePart>>& rounds);

/// Runs them all on the case; what may be compared becomes peers of `row`.
void compare_with(const std::vector<Contender>& contenders, const bench::BenchCase& one, double answer_norm,
                  const Progress& progress, BenchRow& row, CaseResult& result);

}  // namespace echelon::cli
