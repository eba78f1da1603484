// SPDX-License-Identifier: BSD-3-Clause
// Depths of rows without levels or barriers. A warp takes 32 rows that follow each other, a lane a row: a depth that is not
// negative is there, in the memory for rows of other warps, in a lane's register for those of the own. Chains within a
// warp go on by shuffles until they stop; only then memory is asked again. Both triangles run at once.
// Bytes a row: 16, 4 an entry, 4 for each entry's depth and 4 written.
#pragma once

#include "echelon/base/cuda/row_watch.cuh"
#include "echelon/schedule/rows_gpu/row_depth_view.hpp"

namespace echelon::device {

constexpr int row_depth_threads = 256;
/// More would only look at the memory more often.
constexpr int row_depth_blocks_a_processor = 4;
constexpr int depths_together = 4;
constexpr std::int32_t no_depth = -1;

struct RowDepthState {
  RowSweepState waits;
  int deepest[2] = {-1, -1};
};

/// Predicated, so that several are under way at once: the compiler would branch. Others keep `else_`.
__device__ __forceinline__ std::int32_t load_depth_if(bool wanted, const std::int32_t* from, std::int32_t else_) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; @p ld.relaxed.gpu.global.s32 %0, [%2]; }"
               : "+r"(else_)
               : "r"(static_cast<int>(wanted)), "l"(from)
               : "memory");
  return else_;
}
__device__ __forceinline__ std::int32_t load_if(bool wanted, const std::int32_t* from) {
  std::int32_t found = 0;
  asm("{ .reg .pred p; setp.ne.s32 p, %1, 0; @p ld.global.nc.s32 %0, [%2]; }"
      : "+r"(found)
      : "r"(static_cast<int>(wanted)), "l"(from));
  return found;
}
__device__ __forceinline__ void store_depth(std::int32_t* to, std::int32_t depth) {
  asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(to), "r"(depth) : "memory");
}

/// One lane's row. The farthest entries first: those of the own warp are the last.
class DepthLane {
 public:
  __device__ DepthLane(const RowDepthView& v, int which, std::int32_t first_row)
      : of_(v.triangle[which]),
        lower_(which == RowDepthView::lower),
        first_(first_row),
        s_(first_row + static_cast<std::int32_t>(threadIdx.x % 32)) {
    open_ = s_ < v.rows;
    if (!open_) return;
    begin_ = of_.start[s_];
    entries_ = static_cast<int>(of_.start[s_ + 1] - begin_);
    take_entries();
  }

  __device__ bool is_open() const { return open_; }
  __device__ std::int32_t depth() const { return open_ ? no_depth : depth_; }
  __device__ std::int32_t position() const { return s_; }
  /// One that is missing.
  __device__ std::int32_t waited_for() const {
    std::int32_t one = 0;
#pragma unroll
    for (int k = 0; k < depths_together; ++k) one = waits(k) ? needed_[k] : one;
    return one;
  }

  /// Asks once for depths of other warps. True when some came.
  __device__ bool ask_memory() {
    std::int32_t found[depths_together];
#pragma unroll
    for (int k = 0; k < depths_together; ++k) {
      found[k] = load_depth_if(waits(k) && needed_[k] < first_, of_.depth + needed_[k], no_depth);
    }
    return take(found);
  }

  /// All lanes. True when this one's row has gone on.
  __device__ bool ask_warp() {
    const std::int32_t own = depth();
    std::int32_t found[depths_together];
#pragma unroll
    for (int k = 0; k < depths_together; ++k) {
      const bool here = waits(k) && needed_[k] >= first_;
      const int other = __shfl_sync(~0u, own, here ? needed_[k] - first_ : 0);
      found[k] = here ? other : no_depth;
    }
    const bool some = take(found);
    return go_on() || some;
  }

 private:
  __device__ bool waits(int k) const { return missing_ >> k & 1; }

  __device__ void take_entries() {
#pragma unroll
    for (int k = 0; k < depths_together; ++k) {
      const int n = taken_ + k;
      const bool has = n < entries_;
      needed_[k] = s_ - load_if(has, of_.distance + begin_ + (lower_ ? n : entries_ - 1 - n));
      missing_ |= has ? 1u << k : 0u;
    }
    taken_ += depths_together;
  }

  __device__ bool take(const std::int32_t (&found)[depths_together]) {
    const unsigned before = missing_;
#pragma unroll
    for (int k = 0; k < depths_together; ++k) {
      if (found[k] == no_depth) continue;
      depth_ = max(depth_, found[k] + 1);
      missing_ &= ~(1u << k);
    }
    return missing_ != before;
  }

  /// Once nothing is missing: more entries, or the end.
  __device__ bool go_on() {
    if (!open_ || missing_ != 0) return false;
    if (taken_ < entries_) {
      take_entries();
    } else {
      store_depth(of_.depth + s_, depth_);
      open_ = false;
    }
    return true;
  }

  const RowDepthView::Triangle& of_;
  const bool lower_;
  const std::int32_t first_, s_;
  std::int64_t begin_ = 0;
  int entries_ = 0, taken_ = 0;
  std::int32_t needed_[depths_together] = {};
  unsigned missing_ = 0;
  std::int32_t depth_ = 0;
  bool open_ = false;
};

/// Tickets alternate between the triangles; a row waits for rows of earlier tickets only.
static __global__ void __launch_bounds__(row_depth_threads)
    row_depth_kernel(const __grid_constant__ RowDepthView v, RowDepthState* state) {
  std::int32_t deepest[2] = {no_depth, no_depth};
  bool stopped = false;
  while (!stopped) {
    const unsigned ticket = next_ticket(&state->waits), which = ticket % 2;
    const std::int64_t first = std::int64_t{ticket / 2} * 32;
    if (first >= v.rows) break;
    DepthLane lane(v, static_cast<int>(which), static_cast<std::int32_t>(first));
    Patience patience;
    while (__any_sync(~0u, lane.is_open()) && !stopped) {
      bool moved = __any_sync(~0u, lane.ask_memory());
      while (__any_sync(~0u, lane.ask_warp())) moved = true;
      if (moved) continue;
      stopped = __any_sync(~0u, patience.is_over(&state->waits));
      if (stopped && lane.is_open()) give_up_row(&state->waits, lane.waited_for(), lane.position());
    }
    if (!stopped) deepest[which] = max(deepest[which], lane.depth());
  }
#pragma unroll
  for (int which = 0; which < 2; ++which) {
    const std::int32_t most = __reduce_max_sync(~0u, deepest[which]);
    if (threadIdx.x % 32 == 0) atomicMax(&state->deepest[which], most);
  }
}

}  // namespace echelon::device
