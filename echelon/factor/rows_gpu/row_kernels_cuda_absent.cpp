// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/row_factor_view.hpp"
#include "echelon/sweep/row_sweep_view.hpp"

namespace echelon {
const RowFactorKernels* row_factor_kernels() { return nullptr; }
const RowSweepKernels* row_sweep_kernels() { return nullptr; }
}  // namespace echelon
