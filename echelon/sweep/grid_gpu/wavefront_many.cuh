// SPDX-License-Identifier: BSD-3-Clause
// The exact sweep of wavefront_sweep.cuh on K vectors that share the coefficients' way through memory: each vector's sums in
// its own order, so each has the bits of a sweep alone. Bytes a point: held entries · 8 b², and 16 b a vector. Roles, waits
// and what makes reads safe are those of wavefront_sweep.cuh; a lane has its line (and row) of all K vectors, publishes K
// words for it, and a border's lane asks for K.
#pragma once

#include "echelon/sweep/grid_gpu/wavefront_many_view.hpp"
#include "echelon/sweep/grid_gpu/wavefront_sweep_serve.cuh"

namespace echelon::device {

/// A lane owns a place of the border in all vectors; groups of warps take the steps in turn.
template <int B, int K>
__device__ __forceinline__ void fetch_many_borders(const WavefrontManyView& many, const OwnTile& own, int warp, int lane) {
  const WavefrontSweepView& v = many.sweep;
  const SweepBlock& plan = v.plan;
  const int mask = plan.history - 1, n = own.levels, nx = v.vector.front.nx, a_vector = own.slots * B;
  const BorderPlace<B, K, double> mine(v, own, warp % plan.border_warps * warp_size + lane);
  for (int s = warp / plan.border_warps - v.deepest; s < n - 1; s += plan.border_groups) {
    double value[K] = {};
    bool here = static_cast<unsigned>(s - mine.first) >= static_cast<unsigned>(nx);
    unsigned polls = 0;
    unsigned long long begun = 0;
    for (;;) {
      if (!here) {
        unsigned __int128 found[K];
#pragma unroll
        for (int k = 0; k < K; ++k) found[k] = load_word(mine.word + s * mine.step + k * a_vector);
        here = true;
#pragma unroll
        for (int k = 0; k < K; ++k) here = here && tag_of(found[k]) == own.epoch;
#pragma unroll
        for (int k = 0; k < K; ++k) from_bits(value_of(found[k]), value[k]);
      }
      if (__all_sync(all_lanes, here)) break;
      if (++polls == 1) begun = nanoseconds();
      if (polls >= polls_before_sleep) __nanosleep(static_cast<unsigned>(plan.poll_sleep));
      if (!here && polls % polls_a_look == 0 && give_up(v.state, begun, {own.number, mine.other, v.lower})) here = true;
    }
    // One step after the last that reads what this overwrites: a wait two steps back would be ambiguous.
    const int last = s - plan.history + v.deepest + 1;
    if (last >= 0) {
      barrier_wait_idle(own.base + place::done + 8 * (last & mask), static_cast<unsigned>(last >> v.log_history) & 1);
    }
    if (mine.inside) {
#pragma unroll
      for (int k = 0; k < K; ++k) store(mine.at + (s & mask) * plan.plane_bytes + k * (plan.plane_bytes / K), value[k]);
    }
    warp_arrives(own.base + place::border + 8 * (s & mask), lane);
  }
}

}  // namespace echelon::device
