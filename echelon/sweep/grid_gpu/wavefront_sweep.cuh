// SPDX-License-Identifier: BSD-3-Clause
// The exact sweep of one tile by one block, in the direction of the triangle:
//   L: x_p = r_p − Σ L_m x_k          U: x_p = D_p⁻¹ (r_p − Σ U_u x_k)          the farthest entry first, by fma
// Bytes a point: held entries · b² · (bytes of a stored value) + r and x. Warps have roles: one or more copy the runs of
// coming levels into a ring (bulk copies), some fetch x on the borders from words that neighbouring tiles publish, and
// groups of computing warps take the levels in turn. A lane keeps its lines (and its row of the block) from the first level
// to the last. Blocks take tiles by a ticket in an order of dependencies, so a wait is always for a tile that runs or has
// run. Reads of x are safe: the own tile's levels by `done`, the borders' by `border`, and a level is overwritten only after
// the last step that reads it is done. A word carries its launch's epoch, so no stale value is taken for a new one.
#pragma once

#include "echelon/sweep/grid_gpu/wavefront_sweep_lines.cuh"
#include "echelon/sweep/grid_gpu/wavefront_sweep_serve.cuh"

namespace echelon::device {

template <int B, int M, class V, class S>
__global__ void __launch_bounds__(sweep_limits::threads, 1)
    wavefront_sweep_kernel(const __grid_constant__ WavefrontSweepView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  const SweepBlock& plan = v.plan;
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  OwnTile own;
  if (!take_tile(v, memory, own)) return finish_block(v);
  const int computing = plan.warps * plan.groups;
  if (warp >= computing && warp < computing + plan.copiers) {
    copy_ahead<B, 1, V, S>(v, own, warp - computing, lane, [&](int) { return static_cast<const V*>(v.r); });
  } else if (warp > computing) {
    fetch_borders<B, V>(v, own, warp - computing - plan.copiers, lane);
  } else {
    SweepLines<B, M, V, S> lines(v, own, warp, lane);
    lines.await_first_borders();
    lines.run();
  }
  finish_block(v);
}

}  // namespace echelon::device
