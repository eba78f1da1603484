// SPDX-License-Identifier: BSD-3-Clause
// Rows by tickets on a GPU: who takes which, and when a wait has been too long.
#pragma once

#include <cstdint>

#include "echelon/base/cuda/cuda_async.cuh"
#include "echelon/base/cuda/row_sweep_state.hpp"

namespace echelon::device {

constexpr int looks_between_clocks = 1024;

__device__ __forceinline__ unsigned next_ticket(RowSweepState* state) {
  unsigned ticket = 0;
  if (threadIdx.x % 32 == 0) ticket = atomicAdd(&state->ticket, 1u);
  return __shfl_sync(~0u, ticket, 0);
}

/// Looks at the clock now and then; true once this or another warp has waited too long.
class Patience {
 public:
  __device__ bool is_over(const RowSweepState* state) {
    if (++looks_ % looks_between_clocks != 0) return false;
    if (begun_ == 0) begun_ = nanoseconds();
    return nanoseconds() - begun_ > state->patience ||
           *const_cast<const volatile unsigned long long*>(&state->first_wait) != RowSweepState::no_wait;
  }

 private:
  unsigned looks_ = 0;
  unsigned long long begun_ = 0;
};

__device__ __forceinline__ void give_up_row(RowSweepState* state, std::int64_t waited_for, std::int64_t position) {
  atomicMin(&state->first_wait,
            static_cast<unsigned long long>(waited_for) << 32 | static_cast<unsigned long long>(position));
}

}  // namespace echelon::device
