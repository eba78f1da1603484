// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/grid_gpu/wavefront_factor_scalar_launch.cuh"

namespace echelon {
ECHELON_FACTOR_SCALARS(Star13)
ECHELON_FACTOR_SCALARS(Diamond13)
}  // namespace echelon
