// SPDX-License-Identifier: BSD-3-Clause
// What the blocks of a sweep share besides values: the ticket's end and the watchdog.
#pragma once

#include "echelon/base/cuda/cuda_async.cuh"
#include "echelon/sweep/grid_gpu/wavefront_sweep_view.hpp"

namespace echelon::device {

/// Every block has its ticket and the epoch by the time all have come here; the last one turns the state for the next
/// launch.
__device__ __forceinline__ void finish_block(const WavefrontSweepView& v) {
  if (threadIdx.x == 0 && atomicAdd(&v.state->finished, 1u) + 1 == gridDim.x) {
    v.state->ticket = v.state->finished = 0;
    ++v.state->epoch;
  }
}

struct Waiting {
  int tile, for_tile;
  bool lower;
};

/// True once some block has waited longer than the state's patience, this one included. All who wait then say for whom, and
/// the earliest in the order of tickets is the one that is missing.
__device__ __forceinline__ bool give_up(SweepState* state, unsigned long long begun, const Waiting& why) {
  const bool stopped = *const_cast<volatile unsigned long long*>(&state->first_wait) != SweepState::no_wait;
  if (!stopped && nanoseconds() - begun <= state->patience) return false;
  const unsigned ticket = why.lower ? static_cast<unsigned>(why.for_tile) : ~static_cast<unsigned>(why.for_tile);
  const unsigned long long mine = static_cast<unsigned long long>(ticket) << 32 | static_cast<unsigned>(why.tile);
  atomicMin(&state->first_wait, mine);
  return true;
}

}  // namespace echelon::device
