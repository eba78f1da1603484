// SPDX-License-Identifier: BSD-3-Clause
// What the translation units of single stencils instantiate: blocks of b = 2 … 8.
#pragma once

#include <algorithm>

#include "echelon/factor/wavefront_factor_launch.cuh"
#include "echelon/factor/wavefront_factor_team.cuh"

namespace echelon {

template <class Static, int B>
struct TeamOf {
  static FactorLaunch plan(const WavefrontFactorView<double>& view, int processors) {
    FactorLaunch launch;
    launch.team_lines = TeamShape<B>::lines;
    launch.shared_bytes = team_warps * static_cast<int>(sizeof(TeamRoom<Static, B>));
    allow_shared(factor_team<Static, B>, launch.shared_bytes);
    int blocks = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, factor_team<Static, B>, team_warps * 32,
                                                             static_cast<std::size_t>(launch.shared_bytes)),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    const Wavefront& front = view.vector.front;
    const std::int64_t teams = (std::int64_t{front.ny} + launch.team_lines) * front.nz;
    launch.blocks =
        static_cast<int>(std::min<std::int64_t>(std::int64_t{std::max(blocks, 1)} * processors, teams / team_warps + 1));
    return launch;
  }
  static void start(const WavefrontFactorView<double>& view, const FactorLaunch& launch) {
    factor_team<Static, B><<<launch.blocks, team_warps * 32, launch.shared_bytes>>>(view);
  }
};

#define ECHELON_FACTOR_TEAM(Static)                                              \
  template <>                                                                    \
  FactorRowsKernel<double> factor_team_kernel<static_plans::Static>(int block) { \
    using namespace static_plans;                                                \
    switch (block) {                                                             \
      case 2: return {TeamOf<Static, 2>::plan, TeamOf<Static, 2>::start};        \
      case 3: return {TeamOf<Static, 3>::plan, TeamOf<Static, 3>::start};        \
      case 4: return {TeamOf<Static, 4>::plan, TeamOf<Static, 4>::start};        \
      case 5: return {TeamOf<Static, 5>::plan, TeamOf<Static, 5>::start};        \
      case 6: return {TeamOf<Static, 6>::plan, TeamOf<Static, 6>::start};        \
      case 7: return {TeamOf<Static, 7>::plan, TeamOf<Static, 7>::start};        \
      case 8: return {TeamOf<Static, 8>::plan, TeamOf<Static, 8>::start};        \
      default: return {};                                                        \
    }                                                                            \
  }

}  // namespace echelon
