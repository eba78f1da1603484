// SPDX-License-Identifier: BSD-3-Clause
// The GPU's tables of this folder in a build without CUDA: there are none.
#include "echelon/schedule/rows_gpu/row_depth_view.hpp"

namespace echelon {
const RowDepthKernels* row_depth_kernels() { return nullptr; }
}  // namespace echelon
