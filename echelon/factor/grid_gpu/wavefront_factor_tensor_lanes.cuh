// SPDX-License-Identifier: BSD-3-Clause
// How the lanes of a warp hold the blocks of a team's lines, for b = 4 … 8: as mma.m8n8k4 has them. Lane 4g + q holds row g
// and columns 2q, 2q + 1 of an 8×8 matrix whose diagonal blocks are those of 8/b' lines (b' = 4 or 8, the next one to b);
// what falls beside them is never looked at. Products are chains of fma over ascending k, as on the host: the same bits.
// What is beyond b in a block is multiplied as −0 · 0, which changes nothing, not even a zero's sign. The inverse by
// Gauss-Jordan through shuffles: operations and their order are those of base/small_block.hpp.
#pragma once

#include "echelon/factor/grid_gpu/wavefront_factor_steps.cuh"

namespace echelon {

/// Scalars from one row to the next in shared memory, so that a warp reads fragments without conflicts.
constexpr int fragment_row = 12;

template <int B>
struct TensorLanes {
  static_assert(B >= 4 && B <= 8);
  static constexpr int padded = B <= 4 ? 4 : 8;
  static constexpr int lines = 8 / padded;
  static constexpr int values = 2;                          // of a block that a lane holds: neighbours in a row
  static constexpr int factors = padded / 4;                // of a left or right factor: products of four k each
  static constexpr int asked_ahead = padded == 8 ? 8 : 18;  // blocks on their way
  static constexpr bool turns_in_memory = B > 4 && B < 8;   // shuffles would take registers that these have not
  static constexpr int room = (turns_in_memory ? 2 : 1) * 8 * fragment_row;  // scalars of shared memory

  int lane, g, q;
  int line, r;       // its row, and of which of the team's lines
  int first_column;  // the first of two
  bool used;         // they are of that line's block
  int row;           // what a lane without one reads: another's

  __device__ explicit TensorLanes(int lane_)
      : lane(lane_),
        g(lane / 4),
        q(lane % 4),
        line(g / padded),
        r(g % padded),
        first_column(2 * q % padded),
        used(2 * q / padded == line && r < B && first_column < B),
        row(r < B ? r : 0) {}

  /// Value v is of a block, in that column; else a column that others read, too.
  __device__ bool holds(int v) const { return used && counts(v); }
  __device__ bool counts(int v) const { return B % 2 == 0 || first_column + v < B; }  // where the lane is used
  __device__ int column(int v) const {
    return first_column + v < B ? first_column + v : first_column < B ? first_column : 0;
  }
  /// One of a line's lanes.
  __device__ bool leads() const { return lane == line * padded * 4; }
  __device__ bool any_of_line(bool x) const {
    constexpr unsigned mask = padded == 8 ? ~0u : (1u << (4 * padded)) - 1;
    return (__ballot_sync(whole_warp, x) >> (line * 4 * padded) & mask) != 0;
  }
  __device__ __forceinline__ double sum_of_row(double x) const {
    x += __shfl_xor_sync(whole_warp, x, 1);
    return x + __shfl_xor_sync(whole_warp, x, 2);
  }
  __device__ __forceinline__ double largest_of_line(double x) const {
#pragma unroll
    for (int half = 1; half < 4 * padded; half *= 2) {
      const double other = __shfl_xor_sync(whole_warp, x, half);
      x = other > x ? other : x;
    }
    return x;
  }

  /// A block as a right factor: rows q and q + 4 of column r.
  __device__ const double* right_place(const PointValues<double>& point) const { return point.at + (row * point.run + q); }
  __device__ __forceinline__ void ask(const double* at, double (&u)[factors]) const {
    u[0] = load_shared_by_all(at);
    if constexpr (B == 8) u[1] = load_shared_by_all(at + 4);
    if constexpr (B > 4 && B < 8) u[1] = load_shared_by_all(q + 4 < B, at + 4);
  }
  /// A block that the lanes hold, or its negative, as a left factor. The two forms are asked for in turn and have places of
  /// their own in `scratch`, so that a place is written again only when all have read it.
  template <bool negative>
  __device__ __forceinline__ void left(const double (&w)[values], double (&a)[factors], double* scratch) const {
    double* row_at = scratch + ((negative ? 8 : 0) + g) * fragment_row;
    if constexpr (turns_in_memory) {
      *reinterpret_cast<double2*>(row_at + 2 * q) = {w[0], w[1]};
      __syncwarp();
    }
#pragma unroll
    for (int h = 0; h < factors; ++h) {
      const int k = q + 4 * h;
      double value;
      if constexpr (turns_in_memory) {
        value = row_at[line * padded + k];
      } else {
        const int holder = 4 * g + (line * padded + k) / 2;
        const double even = __shfl_sync(whole_warp, w[0], holder), odd = __shfl_sync(whole_warp, w[1], holder);
        value = k % 2 == 0 ? even : odd;
      }
      a[h] = k >= B ? -0.0 : negative ? -value : value;
    }
  }
  /// w ← w + a u
  __device__ __forceinline__ void multiply(const double (&a)[factors], const double (&u)[factors],
                                           double (&w)[values]) const {
#pragma unroll
    for (int h = 0; h < factors; ++h) echelon::multiply(a[h], u[h], w);
  }

  /// d ← d⁻¹ with row pivoting; returns the smallest |pivot|. `scratch` is the warp's.
  __device__ __forceinline__ double invert(double (&a)[values], double* scratch) const {
    double smallest = -1;
    bool failed = false, swapped = false;
    int swaps[B];
    const int first_lane = line * padded * 4;  // of the line's first row
    unrolled<B>([&](auto p) {
      constexpr int s = p % 2;
      const int holder = (line * padded + p) / 2;
      double factor = __shfl_sync(whole_warp, a[s], 4 * g + holder);
      double pivot = __shfl_sync(whole_warp, factor, first_lane + 4 * p);
      double of_p[2] = {__shfl_sync(whole_warp, a[0], first_lane + 4 * p + q),
                        __shfl_sync(whole_warp, a[1], first_lane + 4 * p + q)};
      swaps[p] = p;
      if (__any_sync(whole_warp, used && r > p && magnitude(factor) > magnitude(pivot))) {
        const int best = largest_below<p>(factor);
        swaps[p] = best;
        swapped = true;
        const int source = 4 * (line * padded + (r == p ? best : r == best ? p : r)) + q;
        a[0] = __shfl_sync(whole_warp, a[0], source);
        a[1] = __shfl_sync(whole_warp, a[1], source);
        factor = __shfl_sync(whole_warp, a[s], 4 * g + holder);
        pivot = __shfl_sync(whole_warp, factor, first_lane + 4 * p);
        of_p[0] = __shfl_sync(whole_warp, a[0], first_lane + 4 * p + q);
        of_p[1] = __shfl_sync(whole_warp, a[1], first_lane + 4 * p + q);
      }
      const double size = magnitude(pivot);
      if (!failed) {
        if (smallest < 0 || !(size >= smallest)) smallest = size;
        if (!(size > 0)) smallest = size, failed = true;
      }
      const double inverse = __drcp_rn(pivot);
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const bool here = first_column + c == p;
        const double scaled = (here ? 1.0 : of_p[c]) * inverse;
        a[c] = r == p ? scaled : fma(-factor, scaled, here ? 0.0 : a[c]);
      }
    });
    if (swapped) turn_back(swaps, a, scratch);
    return smallest;
  }

 private:
  /// The row, p or further down, whose |value| is the first of the largest; a NaN in row p stays.
  template <int p>
  __device__ int largest_below(double value) const {
    const double sizes = magnitude(value);
    int best = p;
    double size = __shfl_sync(whole_warp, sizes, 4 * (line * padded + p));
#pragma unroll
    for (int other = p + 1; other < B; ++other) {
      const double next = __shfl_sync(whole_warp, sizes, 4 * (line * padded + other));
      if (next > size) size = next, best = other;
    }
    return best;
  }

  /// Columns change places as rows did, the last first.
  __device__ void turn_back(const int (&swaps)[B], double (&a)[2], double* scratch) const {
    double* row_at = scratch + g * fragment_row + line * padded;
    __syncwarp();
    if (holds(0)) row_at[first_column] = a[0];
    if (holds(1)) row_at[first_column + 1] = a[1];
    __syncwarp();
    if (q == 0) {
#pragma unroll
      for (int p = B - 1; p >= 0; --p) {
        const double kept = row_at[p];
        row_at[p] = row_at[swaps[p]];
        row_at[swaps[p]] = kept;
      }
    }
    __syncwarp();
    if (holds(0)) a[0] = row_at[first_column];
    if (holds(1)) a[1] = row_at[first_column + 1];
    __syncwarp();
  }
};

}  // namespace echelon
