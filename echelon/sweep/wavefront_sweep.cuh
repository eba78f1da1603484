// SPDX-License-Identifier: BSD-3-Clause
// The exact sweep of one tile by one block, in the direction of the triangle:
//   L: x_p = r_p − Σ L_m x_k          U: x_p = D_p⁻¹ (r_p − Σ U_u x_k)          the farthest entry first, by fma
// Bytes a point: held entries · b² · (bytes of a stored value) + r and x. Warps have roles: one copies the runs of coming
// levels into a ring (bulk copies), some fetch x on the borders from words that neighbouring tiles publish, and groups of
// computing warps take the levels in turn. A lane keeps its lines (and its row of the block) from the first level to the
// last. Blocks take tiles by a ticket in an order of dependencies, so a wait is always for a tile that runs or has run.
// Reads of x are safe: the own tile's levels by `done`, the borders' by `border`, and a level is overwritten only after the
// last step that reads it is done. A word carries its launch's epoch, so no stale value is taken for a new one.
#pragma once

#include "echelon/sweep/wavefront_sweep_lines.cuh"
#include "echelon/sweep/wavefront_sweep_serve.cuh"

namespace echelon::device {

template <int B, int M, int NE, class V, class S>
__global__ void __launch_bounds__(sweep_limits::threads, 1)
    wavefront_sweep_kernel(const __grid_constant__ WavefrontSweepView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  const SweepBlock& plan = v.plan;
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  OwnTile own;
  own.base = shared_address(memory);
  own.history = own.base + sweep_limits::head_bytes;
  own.ring = own.history + (plan.history * plan.plane_bytes + 127) / 128 * 128;
  if (threadIdx.x == 0) {
    const int ticket = static_cast<int>(atomicAdd(&v.state->ticket, 1u));
    store(own.base + place::tile, v.lower ? ticket : v.vector.tiles.count - 1 - ticket);
    store(own.base + place::epoch, static_cast<std::int64_t>(*const_cast<volatile unsigned long long*>(&v.state->epoch)));
    for (int stage = 0; stage < plan.stages; ++stage) {
      barrier_init(own.base + place::full + 8 * stage, 1);
      warp_barrier_init(own.base + place::empty + 8 * stage, plan.warps);
    }
    for (int level = 0; level < plan.history; ++level) {
      if (plan.border_warps > 0) warp_barrier_init(own.base + place::border + 8 * level, plan.border_warps);
      warp_barrier_init(own.base + place::done + 8 * level, plan.warps);
    }
    barriers_are_ready();
  }
  for (int at = threadIdx.x * 4; at < plan.history * plan.plane_bytes; at += blockDim.x * 4) store(own.history + at, 0);
  __syncthreads();
  std::int64_t epoch;
  load(own.base + place::tile, own.number);
  load(own.base + place::epoch, epoch);
  own.epoch = static_cast<unsigned long long>(epoch);
  // Only a test that skips tiles gives out more tickets than there are tiles.
  if (static_cast<unsigned>(own.number) >= static_cast<unsigned>(v.vector.tiles.count)) return finish_block(v);
  own.tile = v.vector.tiles.tiles[own.number];
  own.levels = own.tile.levels;
  own.first_run = v.vector.first_run[own.number];
  own.slots = v.reach_z * v.vector.tiles.shape.y + v.reach_y * v.vector.tiles.shape.z;
  const int computing = plan.warps * plan.groups;
  if (warp == computing) {
    copy_ahead<B, V, S>(v, own, lane);
  } else if (warp > computing) {
    fetch_borders<B, V>(v, own, warp - computing - 1, lane);
  } else {
    SweepLines<B, M, NE, V, S> lines(v, own, warp, lane);
    // Later groups have these behind them with the steps they wait for; they may also come too late to ask.
    for (int s = -v.deepest; s < 0 && plan.border_warps > 0 && lines.group < 2; ++s) {
      barrier_wait(own.base + place::border + 8 * (s & (plan.history - 1)), 0);
    }
    if constexpr (NE > 0 && B == 1) {
      lines.run_whole();
    } else {
      lines.run_pieces();
    }
  }
  finish_block(v);
}

}  // namespace echelon::device
