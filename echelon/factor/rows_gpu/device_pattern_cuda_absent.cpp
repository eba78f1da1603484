// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/device_pattern_view.hpp"
#include "echelon/schedule/row_depth_view.hpp"

namespace echelon {
const PatternKernels* pattern_kernels() { return nullptr; }
const RowDepthKernels* row_depth_kernels() { return nullptr; }
}  // namespace echelon
