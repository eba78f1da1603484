// SPDX-License-Identifier: BSD-3-Clause
// Small blocks dealt out to a warp so that every product of the factorization of block CSR is a few mma.m8n8k4 without a
// shuffle: a lane has (r, q) and, of blocks larger than four, (r, q + 4) of each block of w; of a block to the right of a
// product it has the transposed places. Results then stand where the next product's left factor is wanted: of the two
// columns that a lane gets, one is its own, or both are of a large block. Blocks of up to four let two rows share the warp.
// Products are fma over ascending columns, as base/small_block.hpp has them; what is padded adds −0.
#pragma once

#include <limits>

#include "echelon/base/small_block.hpp"
#include "echelon/factor/blocks_gpu/tensor_step.cuh"

namespace echelon {

/// `Rows` block rows a warp: one, or two of blocks of up to four.
template <int B, int Rows>
struct TileLane {
  static constexpr int halves = B > 4 ? 2 : 1, bb = B * B;
  static constexpr int lanes = 32 / Rows;  // of a row
  static_assert(Rows == 1 || (Rows == 2 && B <= 4));
  using Tile = double[halves];

  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
  const int r = B > 4 ? g / 2 + 4 * (g % 2) : g / 2;
  const int s = B > 4 ? 0 : g % 2;  // which of the warp's rows

  /// A single row of small blocks has half of the lanes.
  __device__ bool works() const { return B > 4 || Rows == 2 || s == 0; }
  /// Whether the place is one of the block.
  __device__ bool has(int h) const { return r < B && 4 * h + q < B && works(); }
  /// In memory, by columns: of w and L; of a right factor. Those of the second half: 4 B and 4 further on.
  __device__ int own() const { return q * B + r; }
  __device__ int right() const { return r * B + q; }
  static constexpr int own_step = 4 * B, right_step = 4;

  /// The lane that has a place of this lane's row, q < 4.
  __device__ int of(int row, int column) const { return 4 * (B > 4 ? row % 4 * 2 + row / 4 : 2 * row + s) + column; }
  /// Lanes of a row counted for other uses, and back; which of the warp's lanes they are.
  __device__ int rank() const { return Rows == 2 ? lane / 8 * 4 + q : lane; }
  __device__ int of_rank(int n) const { return Rows == 2 ? n / 4 * 8 + 4 * s + n % 4 : n; }

  /// to ← to + a · right
  __device__ void add_product(const Tile& a, const Tile& right, Tile& to) const {
    if constexpr (halves == 2) {
      multiply(a[0], right[0], to);
      multiply(a[1], right[1], to);
    } else {
      double both[2] = {to[0], to[0]};
      multiply(a[0], right[0], both);
      to[0] = Rows == 2 && s == 1 ? both[1] : both[0];
    }
  }

  /// As a left factor: columns that the block has not add −0.
  __device__ void pad(Tile& a) const {
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      if (B % 4 != 0 && 4 * h + q >= B) a[h] = -0.0;
    }
  }

  /// Bit n of a warp's vote for the lane of rank n, this lane's row alone.
  __device__ unsigned of_row(unsigned votes) const {
    if constexpr (Rows == 1) return votes;
    unsigned some = votes >> 4 * s & 0x0f0f0f0f;
    some = (some | some >> 4) & 0x00ff00ff;
    return (some | some >> 8) & 0xffff;
  }
};

/// a ← a⁻¹ where no row is exchanged and every |pivot| is above `least`, which is told for this lane's row; elsewhere a is
/// of no use. Gauss-Jordan, operations and their order those of base/small_block.hpp. All lanes.
template <int B, int Rows>
__device__ __forceinline__ bool invert_plainly(const TileLane<B, Rows>& at, double least,
                                               double (&a)[TileLane<B, Rows>::halves]) {
  constexpr int halves = TileLane<B, Rows>::halves;
  bool plain = true;
#pragma unroll
  for (int p = 0; p < B; ++p) {
    const double pivot = __shfl_sync(~0u, a[p / 4], at.of(p, p % 4));
    const double factor = __shfl_sync(~0u, a[p / 4], at.lane - at.q + p % 4);
    // A pivot that is infinite alone is no reason to stop, as on the host: the first one stands for all.
    plain = plain & (magnitude(pivot) > least) & (p > 0 || magnitude(pivot) <= std::numeric_limits<double>::max()) &
            (at.r <= p || at.r >= B || !(magnitude(factor) > magnitude(pivot)));
    const double inverse = 1.0 / pivot;
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      const bool of_p = h == p / 4 && at.q == p % 4;
      const double of_row = __shfl_sync(~0u, a[h], at.of(p, at.q)), scaled = (of_p ? 1.0 : of_row) * inverse;
      a[h] = at.r == p ? scaled : fma(-factor, scaled, of_p ? 0.0 : a[h]);
    }
  }
  return plain;
}

/// The inverse with row pivoting, and what is to be known of its pivots. All lanes.
template <int B, int Rows>
struct TileInverse {
  using Lane = TileLane<B, Rows>;
  static constexpr int halves = Lane::halves;

  const Lane& at;
  typename Lane::Tile a;
  double smallest = 0;  // |pivot|, as `invert` gives it if no pivot was 0 or NaN
  int column[halves];   // where they belong in the inverse

  __device__ TileInverse(const Lane& lane, const typename Lane::Tile& D) : at(lane) {
#pragma unroll
    for (int h = 0; h < halves; ++h) a[h] = D[h], column[h] = 4 * h + at.q;
    unsigned swaps = 0;  // four bits a step
#pragma unroll 1
    for (int p = 0; p < B; ++p) {
      double pivot = __shfl_sync(~0u, of_half(p), at.of(p, p % 4));
      swaps |= bring_largest(p, pivot) << 4 * p;
      const double size = magnitude(pivot);
      if (p == 0 || !(size >= smallest)) smallest = size;
      const double inverse = 1.0 / pivot, factor = __shfl_sync(~0u, of_half(p), at.lane - at.q + p % 4);
#pragma unroll
      for (int h = 0; h < halves; ++h) {
        const bool of_p = 4 * h + at.q == p;
        const double of_row = __shfl_sync(~0u, a[h], at.of(p, at.q)), scaled = (of_p ? 1.0 : of_row) * inverse;
        a[h] = at.r == p ? scaled : fma(-factor, scaled, of_p ? 0.0 : a[h]);
      }
    }
#pragma unroll 1
    for (int p = B - 1; p >= 0; --p) {
#pragma unroll
      for (int h = 0; h < halves; ++h) {
        const int other = static_cast<int>(swaps >> 4 * p & 15);
        column[h] = column[h] == p ? other : column[h] == other ? p : column[h];
      }
    }
  }

 private:
  /// The lane's value in the half that has column p.
  __device__ double of_half(int p) const { return p < 4 ? a[0] : a[halves - 1]; }

  /// Exchanges row p and the one that is largest in column p, which is returned.
  __device__ unsigned bring_largest(int p, double& pivot) {
    int best = p;
#pragma unroll 1
    for (int r = p + 1; r < B; ++r) {
      const double other = __shfl_sync(~0u, of_half(p), at.of(r, p % 4));
      if (magnitude(other) > magnitude(pivot)) pivot = other, best = r;
    }
    const int source = at.of(at.r == p ? best : at.r == best ? p : at.r, at.q);
#pragma unroll
    for (int h = 0; h < halves; ++h) a[h] = __shfl_sync(~0u, a[h], source);
    return static_cast<unsigned>(best);
  }
};

}  // namespace echelon
