// SPDX-License-Identifier: BSD-3-Clause
// Sweeps by one block of threads (row_sweep_one_block.cuh), for row_sweep_cuda.cu.
#pragma once

#include "echelon/sweep/rows_gpu/row_sweep_view.hpp"

namespace echelon {

/// Sets what the view has of it and gives true where that is the faster way.
bool plan_one_block(int device, RowSweepView& view);
/// Queued.
void launch_one_block(const RowSweepView& view);

}  // namespace echelon
