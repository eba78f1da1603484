// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/grid_gpu/wavefront_factor_team_launch.cuh"

namespace echelon {
ECHELON_FACTOR_TEAM(Diamond25)
}  // namespace echelon
