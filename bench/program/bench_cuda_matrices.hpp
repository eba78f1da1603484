// SPDX-License-Identifier: BSD-3-Clause
// A case of `echelon bench matrices --backend cuda`: a Matrix Market file solved on host and GPU with the same options, by
// GMRES(50) with ILU(0) and with ILU(1) and by the automatic choice, b = A·1, rtol 1e-8, at most 1000 iterations. The host
// is the row's contender. A verdict is the same when both converge by the same choice, in counts one or a tenth apart (sums
// of a matrix on its grid run in another order on a GPU), or neither converges; both residuals are recomputed here.
#pragma once

#include <string>

#include "bench/program/bench_frame.hpp"
#include "echelon/base/device.hpp"

namespace echelon::cli {

/// Rows whose verdicts differ are in the result's `missing`. Throws Error when the file cannot be solved at all.
CaseResult measure_matrix_verdicts(const bench::BenchCase& one, Device device, const Progress& progress);

/// A line a run, and how many agree.
std::string matrices_table(const BenchReport& report);

}  // namespace echelon::cli
