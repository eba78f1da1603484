// SPDX-License-Identifier: BSD-3-Clause
// Blocks in the form that mma.m8n8k4 has: lane 4g + q holds row g and columns 2q, 2q + 1 of an 8×8 matrix whose diagonal
// blocks are those of a team's lines. The inverse by Gauss-Jordan through shuffles: operations and their order are those of
// base/small_block.hpp, so the bits are the host's.
#pragma once

#include "echelon/factor/wavefront_factor_steps.cuh"

namespace echelon {

constexpr unsigned whole_warp = ~0u;
/// Scalars from one row to the next in shared memory, so that a warp reads fragments without conflicts.
constexpr int fragment_row = 12;

/// What a lane holds.
template <int B>
struct FragmentLane {
  static constexpr int padded = TeamShape<B>::padded;
  int g, q;
  int line, r;       // its row, and of which of the team's lines
  int first_column;  // the first of two
  bool used;         // they are of that line's block

  __device__ explicit FragmentLane(int lane)
      : g(lane / 4),
        q(lane % 4),
        line(g / padded),
        r(g % padded),
        first_column(2 * q % padded),
        used(2 * q / padded == line && r < B && first_column < B) {}
};

/// The row, p or further down, whose |value| is the first of the largest; a NaN in row p stays.
template <int B, int p>
__device__ int largest_below(const FragmentLane<B>& at, double value) {
  const double sizes = magnitude(value);
  int best = p;
  double size = __shfl_sync(whole_warp, sizes, 4 * (at.line * at.padded + p));
#pragma unroll
  for (int other = p + 1; other < B; ++other) {
    const double next = __shfl_sync(whole_warp, sizes, 4 * (at.line * at.padded + other));
    if (next > size) size = next, best = other;
  }
  return best;
}

/// Columns change places as rows did, the last first.
template <int B>
__device__ void turn_back(const FragmentLane<B>& at, const int (&swaps)[B], double (&a)[2], double* room) {
  double* row = room + at.g * fragment_row + at.line * at.padded;
  __syncwarp();
  if (at.used) row[at.first_column] = a[0];
  if (at.used && at.first_column + 1 < B) row[at.first_column + 1] = a[1];
  __syncwarp();
  if (at.q == 0) {
#pragma unroll
    for (int p = B - 1; p >= 0; --p) {
      const double kept = row[p];
      row[p] = row[swaps[p]];
      row[swaps[p]] = kept;
    }
  }
  __syncwarp();
  if (at.used) a[0] = row[at.first_column];
  if (at.used && at.first_column + 1 < B) a[1] = row[at.first_column + 1];
  __syncwarp();
}

/// a ← a⁻¹ with row pivoting; returns the smallest |pivot|. `room` is for eight rows.
template <int B>
__device__ __forceinline__ double invert_fragment(const FragmentLane<B>& at, double (&a)[2], double* room) {
  double smallest = -1;
  bool failed = false, swapped = false;
  int swaps[B];
  const int first_lane = at.line * at.padded * 4;  // of the line's first row
  unrolled<B>([&](auto p) {
    constexpr int s = p % 2;
    const int holder = (at.line * at.padded + p) / 2;
    double factor = __shfl_sync(whole_warp, a[s], 4 * at.g + holder);
    double pivot = __shfl_sync(whole_warp, factor, first_lane + 4 * p);
    double row[2] = {__shfl_sync(whole_warp, a[0], first_lane + 4 * p + at.q),
                     __shfl_sync(whole_warp, a[1], first_lane + 4 * p + at.q)};
    swaps[p] = p;
    if (__any_sync(whole_warp, at.used && at.r > p && magnitude(factor) > magnitude(pivot))) {
      const int best = largest_below<B, p>(at, factor);
      swaps[p] = best;
      swapped = true;
      const int source = 4 * (at.line * at.padded + (at.r == p ? best : at.r == best ? p : at.r)) + at.q;
      a[0] = __shfl_sync(whole_warp, a[0], source);
      a[1] = __shfl_sync(whole_warp, a[1], source);
      factor = __shfl_sync(whole_warp, a[s], 4 * at.g + holder);
      pivot = __shfl_sync(whole_warp, factor, first_lane + 4 * p);
      row[0] = __shfl_sync(whole_warp, a[0], first_lane + 4 * p + at.q);
      row[1] = __shfl_sync(whole_warp, a[1], first_lane + 4 * p + at.q);
    }
    const double size = magnitude(pivot);
    if (!failed) {
      if (smallest < 0 || !(size >= smallest)) smallest = size;
      if (!(size > 0)) smallest = size, failed = true;
    }
    const double inverse = __drcp_rn(pivot);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const bool here = at.first_column + c == p;
      const double scaled = (here ? 1.0 : row[c]) * inverse;
      a[c] = at.r == p ? scaled : fma(-factor, scaled, here ? 0.0 : a[c]);
    }
  });
  if (swapped) turn_back<B>(at, swaps, a, room);
  return smallest;
}

}  // namespace echelon
