// SPDX-License-Identifier: BSD-3-Clause
// Small blocks on a GPU, a column of a block in each of b neighbouring lanes: products with a block in shared memory, the
// inverse by Gauss-Jordan through shuffles, and sums along rows. Operations and their order are those of
// base/small_block.hpp, so the bits are the host's.
#pragma once

#include "echelon/factor/wavefront_factor_tile.cuh"

namespace echelon {

template <class T>
struct Packs;
template <>
struct Packs<double> {
  using Two = double2;
};
template <>
struct Packs<float> {
  using Two = float2;
};

/// b scalars that begin at a multiple of b scalars behind an aligned address.
template <int B, class T>
__device__ __forceinline__ void load_column(const T* from, T (&to)[B]) {
  if constexpr (B % 4 == 0 && sizeof(T) == 4) {
#pragma unroll
    for (int n = 0; n < B; n += 4) {
      const float4 four = *reinterpret_cast<const float4*>(from + n);
      to[n] = four.x, to[n + 1] = four.y, to[n + 2] = four.z, to[n + 3] = four.w;
    }
  } else if constexpr (B % 2 == 0) {
#pragma unroll
    for (int n = 0; n < B; n += 2) {
      const auto two = *reinterpret_cast<const typename Packs<T>::Two*>(from + n);
      to[n] = two.x, to[n + 1] = two.y;
    }
  } else {
#pragma unroll
    for (int n = 0; n < B; ++n) to[n] = from[n];
  }
}
template <int B, class T>
__device__ __forceinline__ void store_column(const T (&from)[B], T* to) {
  if constexpr (B % 4 == 0 && sizeof(T) == 4) {
#pragma unroll
    for (int n = 0; n < B; n += 4) {
      *reinterpret_cast<float4*>(to + n) = make_float4(from[n], from[n + 1], from[n + 2], from[n + 3]);
    }
  } else if constexpr (B % 2 == 0) {
#pragma unroll
    for (int n = 0; n < B; n += 2) *reinterpret_cast<typename Packs<T>::Two*>(to + n) = {from[n], from[n + 1]};
  } else {
#pragma unroll
    for (int n = 0; n < B; ++n) to[n] = from[n];
  }
}

/// y ← y − L x, L in shared memory
template <int B, class T>
__device__ __forceinline__ void subtract_shared_product(const T* L, const T (&x)[B], T (&y)[B]) {
#pragma unroll
  for (int k = 0; k < B; ++k) {
    T column[B];
    load_column<B>(L + k * B, column);
#pragma unroll
    for (int r = 0; r < B; ++r) y[r] = fma(-column[r], x[k], y[r]);
  }
}

/// y ← W x, W in shared memory
template <int B, class T>
__device__ __forceinline__ void shared_product(const T* W, const T (&x)[B], T (&y)[B]) {
#pragma unroll
  for (int k = 0; k < B; ++k) {
    T column[B];
    load_column<B>(W + k * B, column);
#pragma unroll
    for (int r = 0; r < B; ++r) y[r] = k == 0 ? column[r] * x[k] : fma(column[r], x[k], y[r]);
  }
}

/// `a` is column c of a block whose column 0 is in lane `first`. a ← A⁻¹; returns the smallest |pivot| as `invert` does. All
/// lanes of the warp take part.
template <int B, class T>
__device__ __forceinline__ T invert_columns(T (&a)[B], int c, int first) {
  constexpr unsigned all = ~0u;
  T smallest = -1;
  bool failed = false;
  int swaps[B];
#pragma unroll
  for (int p = 0; p < B; ++p) {
    int best = p;
    T size = magnitude(a[p]);
#pragma unroll
    for (int r = p + 1; r < B; ++r) {
      if (magnitude(a[r]) > size) size = magnitude(a[r]), best = r;
    }
    best = __shfl_sync(all, best, first + p);
    size = __shfl_sync(all, size, first + p);
    swaps[p] = best;
    if (!failed) {
      if (smallest < 0 || !(size >= smallest)) smallest = size;
      if (!(size > 0)) smallest = size, failed = true;
    }
    const T kept = a[p];
#pragma unroll
    for (int r = p + 1; r < B; ++r) {
      if (r == best) a[p] = a[r], a[r] = kept;
    }
    const T inverse = T(1) / __shfl_sync(all, a[p], first + p);
    if (c == p) a[p] = 1;
    a[p] *= inverse;
#pragma unroll
    for (int r = 0; r < B; ++r) {
      if (r == p) continue;
      const T factor = __shfl_sync(all, a[r], first + p);
      if (c == p) a[r] = 0;
      a[r] = fma(-factor, a[p], a[r]);
    }
  }
  // Columns p and swaps[p] change places for p descending: where this one comes from.
  int source = c;
#pragma unroll
  for (int p = 0; p < B; ++p) source = source == p ? swaps[p] : source == swaps[p] ? p : source;
#pragma unroll
  for (int r = 0; r < B; ++r) a[r] = __shfl_sync(all, a[r], first + source);
  return smallest;
}

/// Of values[r] of the columns of a block: lane c returns the sum along row c. `room` holds 32·b scalars of this warp.
template <int B, class S>
__device__ __forceinline__ S row_sum(const S (&values)[B], S* room, int lane, int c) {
  if constexpr (B == 1) {
    return values[0];
  } else {
    __syncwarp();
#pragma unroll
    for (int r = 0; r < B; ++r) room[lane * B + r] = values[r];
    __syncwarp();
    S sum = 0;
    if (lane / B * B + B <= 32) {
#pragma unroll
      for (int k = 0; k < B; ++k) sum += room[(lane - c + k) * B + c];
    }
    return sum;
  }
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

/// Cold: what is used instead of a bad scalar pivot, and the change that is. By value: an address would keep the caller's
/// whole state in memory.
template <class T>
struct JudgedPivot {
  T used;
  double change;
};
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
