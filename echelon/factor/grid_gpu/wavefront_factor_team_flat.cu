// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/grid_gpu/wavefront_factor_team_launch.cuh"

namespace echelon {
ECHELON_FACTOR_TEAM(Star5)
ECHELON_FACTOR_TEAM(Star9)
ECHELON_FACTOR_TEAM(Box9)
}  // namespace echelon
