// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/grid_gpu/wavefront_factor_rows_launch.cuh"

namespace echelon {
ECHELON_FACTOR_ROWS(6)
}  // namespace echelon
