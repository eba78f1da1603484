// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/rows_gpu/row_factor_view.hpp"
#include "echelon/sweep/rows_gpu/row_sweep_view.hpp"

namespace echelon {
const RowFactorKernels* row_factor_kernels() { return nullptr; }
const RowSweepKernels* row_sweep_kernels() { return nullptr; }
}  // namespace echelon
