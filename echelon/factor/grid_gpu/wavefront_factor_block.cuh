// SPDX-License-Identifier: BSD-3-Clause
// Small blocks on a GPU, a row of a block in each of b neighbouring lanes: the inverse by Gauss-Jordan through shuffles, and
// what is done about a bad one. Operations and their order are those of base/small_block.hpp, so the bits are the host's.
#pragma once

#include "echelon/factor/blocks_gpu/load_column.cuh"
#include "echelon/factor/grid_gpu/wavefront_factor_tile.cuh"

namespace echelon {

/// `a` is row r of a block whose row 0 is in lane `first`. a ← A⁻¹; returns the smallest |pivot| as `invert` does. All lanes
/// of the warp take part.
template <int B, class T>
__device__ __forceinline__ T invert_rows(T (&a)[B], int r, int first) {
  constexpr unsigned all = ~0u;
  T smallest = -1;
  bool failed = false, swapped = false;
  int swaps[B];
#pragma unroll
  for (int p = 0; p < B; ++p) {
    int best = p;
    T size = __shfl_sync(all, magnitude(a[p]), first + p);
#pragma unroll
    for (int other = p + 1; other < B; ++other) {
      const T next = __shfl_sync(all, magnitude(a[p]), first + other);
      if (next > size) size = next, best = other;
    }
    swaps[p] = best;
    if (!failed) {
      if (smallest < 0 || !(size >= smallest)) smallest = size;
      if (!(size > 0)) smallest = size, failed = true;
    }
    if (__any_sync(all, best != p)) {
      swapped = true;
      const int source = first + (r == p ? best : r == best ? p : r);
#pragma unroll
      for (int c = 0; c < B; ++c) a[c] = __shfl_sync(all, a[c], source);
    }
    const T inverse = T(1) / __shfl_sync(all, a[p], first + p), factor = a[p];
    if (r == p) a[p] = 1;
#pragma unroll
    for (int c = 0; c < B; ++c) {
      const T scaled = a[c] * inverse;  // of use in row p alone
      const T of_p = __shfl_sync(all, scaled, first + p);
      const T before = c == p ? T(0) : a[c];
      a[c] = r == p ? scaled : fma(-factor, of_p, before);
    }
  }
  if (swapped) {
#pragma unroll
    for (int p = B - 1; p >= 0; --p) {
#pragma unroll
      for (int other = p + 1; other < B; ++other) {
        const T kept = a[p];
        if (other == swaps[p]) a[p] = a[other], a[other] = kept;
      }
    }
  }
  return smallest;
}

/// Cold: one thread judges a block that may be bad. D, then two blocks, then b ints are at `room`; D comes back there.
template <int B, class T>
__device__ __noinline__ double judge_block(const WavefrontFactorView<T>& v, PivotPlace place, T* room, T smallest, T scale,
                                           bool row_nonfinite) {
  PivotRules rules = v.rules;
  rules.zero_row_scale = v.status->zero_row_scale;
  PivotWorkspace<T> work;
  work.small = room + B * B;
  work.swaps = reinterpret_cast<int*>(room + 3 * B * B);
  work.row_nonfinite = row_nonfinite;
  DevicePivotLog log{v.status};
  repair::block_pivot(rules, log, place, B, room, smallest, scale, work);
  return work.change;
}

/// Cold: what is used instead of a bad scalar pivot.
template <class T>
__device__ __noinline__ JudgedPivot<T> judge_pivot(const WavefrontFactorView<T>& v, PivotPlace place, T pivot, T scale,
                                                   bool row_nonfinite) {
  PivotRules rules = v.rules;
  rules.zero_row_scale = v.status->zero_row_scale;
  PivotWorkspace<T> work;
  work.row_nonfinite = row_nonfinite;
  DevicePivotLog log{v.status};
  const T used = repair::pivot(rules, log, place, pivot, scale, work);
  return {used, work.change};
}

/// Cold: notes a row of A that holds NaN or Inf.
template <class T>
__device__ __noinline__ void note_nonfinite_row(const WavefrontFactorView<T>& v, PivotPlace place) {
  DevicePivotLog log{v.status};
  repair::note_nonfinite_row(log, place);
}

}  // namespace echelon
