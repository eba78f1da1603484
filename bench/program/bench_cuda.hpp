// SPDX-License-Identifier: BSD-3-Clause
// `echelon bench KIND --backend cuda`: sweeps, product, conversions, factorization and whole solves on the
// first GPU beside cuSPARSE's routines, each a process of its own.
#pragma once

#include <string>
#include <vector>

#include "bench/program/bench_options.hpp"

namespace echelon::cli {

/// Throws Error(device) when there is no GPU or this build has no CUDA.
int run_bench_cuda(const BenchOptions& options, const std::vector<std::string>& arguments);

}  // namespace echelon::cli
