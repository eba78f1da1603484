// SPDX-License-Identifier: BSD-3-Clause
// A case of `echelon bench block --backend cuda`: analysis, the first factorization, which finds out how rows meet, those
// after it, and both sweeps of ILU(0) of a block CSR matrix, rows taken as `automatic` chooses, by depth, in their order,
// and in an RCM order of our own, beside cuSPARSE's routines.
#pragma once

#include <vector>

#include "bench/program/bench_frame.hpp"

namespace echelon::cli {

struct BlockPlan {
  int repeats = 1;  // of a sweep; analyses and factorizations less
  std::vector<Contender> contenders;
};

/// Throws Error when ours cannot be measured, or when its answer depends on the order in which rows are taken.
CaseResult measure_device_block(const bench::BenchCase& one, const BlockPlan& plan, const Progress& progress);

}  // namespace echelon::cli
