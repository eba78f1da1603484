// SPDX-License-Identifier: BSD-3-Clause
// When and how the rows of a factorization are given to one cluster (row_factor_cluster.cuh).
#pragma once

#include "echelon/factor/rows_gpu/row_factor_view.hpp"

namespace echelon {

/// Scalars whose meets are kept; `launch` says how many words they need in memory otherwise. False, and nothing is changed,
/// when their words do not fit or they are better spread over the GPU.
bool plan_cluster(int device, const RowFactorView& view, RowFactorLaunch& launch);
/// Queues one attempt of what was planned.
void start_cluster(const RowFactorView& view, const RowFactorLaunch& launch);

}  // namespace echelon
