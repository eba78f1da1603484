// SPDX-License-Identifier: BSD-3-Clause
// What the translation units of single stencils instantiate: blocks of b = 2 … 8.
#pragma once

#include <algorithm>

#include "echelon/factor/grid_gpu/wavefront_factor_launch.cuh"
#include "echelon/factor/grid_gpu/wavefront_factor_team.cuh"

namespace echelon {

template <class Static, int B>
struct TeamOf {
  static FactorLaunch plan(const WavefrontFactorView<double>& view, int processors) {
    FactorLaunch launch;
    launch.kernel = "teams";
    launch.team_lines = TeamLanes<B>::lines;
    launch.reads_elsewhere = can_be_apart<B>;
    launch.shared_bytes = team_warps * static_cast<int>(sizeof(TeamRoom<Static, B>));
    allow_shared(factor_team<Static, B, false>, launch.shared_bytes);
    if constexpr (can_be_apart<B>) allow_shared(factor_team<Static, B, true>, launch.shared_bytes);
    int blocks = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, factor_team<Static, B, can_be_apart<B>>,
                                                             team_warps * 32, static_cast<std::size_t>(launch.shared_bytes)),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    const Wavefront& front = view.vector.front;
    const std::int64_t teams = (std::int64_t{front.ny} + launch.team_lines) * front.nz;
    launch.blocks =
        static_cast<int>(std::min<std::int64_t>(std::int64_t{std::max(blocks, 1)} * processors, teams / team_warps + 1));
    return launch;
  }
  static void start(const WavefrontFactorView<double>& view, const FactorLaunch& launch) {
    if constexpr (can_be_apart<B>) {
      if (view.source != view.values) {
        factor_team<Static, B, true><<<launch.blocks, team_warps * 32, launch.shared_bytes>>>(view);
        return;
      }
    }
    factor_team<Static, B, false><<<launch.blocks, team_warps * 32, launch.shared_bytes>>>(view);
  }
};

/// Where it wins. Short rows of b = 5 go to the lists of wavefront_factor_rows.cuh: columns of five scalars straddle sectors
/// of the caches, so teams need A in place and a copy before (star13 112³ on an H200: 7.9 + 1.7 ms), lists do not (9.0).
template <class Static, int B>
FactorRowsKernel<double> team_kernel() {
  if constexpr (Static::plan.entries <= 13 && B == 5) {
    return {};
  } else {
    return {TeamOf<Static, B>::plan, TeamOf<Static, B>::start};
  }
}

#define ECHELON_FACTOR_TEAM(Static)                                              \
  template <>                                                                    \
  FactorRowsKernel<double> factor_team_kernel<static_plans::Static>(int block) { \
    using namespace static_plans;                                                \
    switch (block) {                                                             \
      case 2: return team_kernel<Static, 2>();                                   \
      case 3: return team_kernel<Static, 3>();                                   \
      case 4: return team_kernel<Static, 4>();                                   \
      case 5: return team_kernel<Static, 5>();                                   \
      case 6: return team_kernel<Static, 6>();                                   \
      case 7: return team_kernel<Static, 7>();                                   \
      case 8: return team_kernel<Static, 8>();                                   \
      default: return {};                                                        \
    }                                                                            \
  }

}  // namespace echelon
