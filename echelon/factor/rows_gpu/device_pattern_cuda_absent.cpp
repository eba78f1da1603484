// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/rows_gpu/device_pattern_view.hpp"
#include "echelon/schedule/rows_gpu/row_depth_view.hpp"

namespace echelon {
const PatternKernels* pattern_kernels() { return nullptr; }
const RowDepthKernels* row_depth_kernels() { return nullptr; }
}  // namespace echelon
