// SPDX-License-Identifier: BSD-3-Clause
// The inverse of a small block by a warp (block CSR; grids for b = 2 and 3): Gauss-Jordan with row pivoting, operations and
// their order those of base/small_block.hpp, so the bits are the host's. Blocks of two and three: every lane has all of it.
// Larger ones: a lane has two neighbours of a row, as the tensor cores have them, so a step is few shuffles; rows are
// looked through and exchanged only where the pivot is not the largest.
#pragma once

#include <type_traits>

#include "echelon/base/small_block.hpp"

namespace echelon {

/// x or y, by value: the compiler would otherwise choose among places, and keep the block in memory.
__device__ __forceinline__ double chosen(bool first, double x, double y) {
  asm("" : "+d"(x));
  asm("" : "+d"(y));
  return first ? x : y;
}

__device__ __forceinline__ void exchange(bool wanted, double& x, double& y) {
  const double first = x, second = y;
  x = chosen(wanted, second, first);
  y = chosen(wanted, first, second);
}

/// a[c][r] ← its inverse; returns the smallest |pivot| as `invert` does.
template <int B>
__device__ __forceinline__ double invert_alone(double (&a)[B][B]) {
  double smallest = -1;
  bool failed = false, swapped = false;
  int swaps[B];
#pragma unroll
  for (int p = 0; p < B; ++p) {
    int best = p;
    double size = magnitude(a[p][p]);
#pragma unroll
    for (int r = p + 1; r < B; ++r) {
      if (magnitude(a[p][r]) > size) size = magnitude(a[p][r]), best = r;
    }
    swaps[p] = best;
    if (!failed) {
      if (smallest < 0 || !(size >= smallest)) smallest = size;
      if (!(size > 0)) smallest = size, failed = true;
    }
    if (best != p) {
      swapped = true;
#pragma unroll
      for (int r = p + 1; r < B; ++r) {
#pragma unroll
        for (int c = 0; c < B; ++c) exchange(r == best, a[c][p], a[c][r]);
      }
    }
    const double inverse = 1.0 / a[p][p];
    a[p][p] = 1;
#pragma unroll
    for (int c = 0; c < B; ++c) a[c][p] *= inverse;
#pragma unroll
    for (int r = 0; r < B; ++r) {
      if (r == p) continue;
      const double factor = a[p][r];
      a[p][r] = 0;
#pragma unroll
      for (int c = 0; c < B; ++c) a[c][r] = fma(-factor, a[c][p], a[c][r]);
    }
  }
  if (swapped) {
#pragma unroll
    for (int p = B - 1; p >= 0; --p) {
#pragma unroll
      for (int other = p + 1; other < B; ++other) {
#pragma unroll
        for (int r = 0; r < B; ++r) exchange(other == swaps[p], a[p][r], a[other][r]);
      }
    }
  }
  return smallest;
}

/// Two or three: each lane has all, and the lane with that number among its row's lanes tells a column.
template <int B>
struct InvertedAlone {
  double a[B][B];
  double smallest;
  int lane;

  __device__ InvertedAlone(const double* D, int lane_of_row) : lane(lane_of_row) {
#pragma unroll
    for (int n = 0; n < B * B; ++n) a[n / B][n % B] = D[n];
    smallest = invert_alone<B>(a);
  }

  /// The inverse to where `store(place, value)` puts it.
  template <class Store>
  __device__ void store(const Store& store) const {
#pragma unroll
    for (int r = 0; r < B; ++r) {
      double own = a[0][r];
#pragma unroll
      for (int c = 1; c < B; ++c) own = chosen(lane == c, a[c][r], own);
      if (lane < B) store(lane * B + r, own);
    }
  }
};

/// Larger ones, by a warp: lane 4g + q has columns 2q and 2q + 1 of row g, those that the block has.
template <int B>
struct InvertedTile {
  double a[2];
  double smallest = -1;
  int column[2];  // where they belong in the inverse

  __device__ InvertedTile(const double* D, int) {
    const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      column[h] = 2 * q + h;
      a[h] = g < B && column[h] < B ? D[column[h] * B + g] : 0;
    }
    bool failed = false, swapped = false;
    unsigned swaps = 0;  // four bits a step
#pragma unroll
    for (int p = 0; p < B; ++p) {
      double pivot = __shfl_sync(~0u, a[p % 2], 4 * p + p / 2);
      unsigned best = p;
      const bool larger = g > p && g < B && q == p / 2 && magnitude(a[p % 2]) > magnitude(pivot);
      if (__any_sync(~0u, larger)) {
        swapped = true;
        best = bring_largest(p, pivot);
      }
      swaps |= best << 4 * p;
      const double size = magnitude(pivot);
      if (!failed) {
        if (smallest < 0 || !(size >= smallest)) smallest = size;
        if (!(size > 0)) smallest = size, failed = true;
      }
      const double inverse = 1.0 / pivot, factor = __shfl_sync(~0u, a[p % 2], 4 * g + p / 2);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const bool of_p = 2 * q + h == p;
        const double of_row = __shfl_sync(~0u, a[h], 4 * p + q), scaled = (of_p ? 1.0 : of_row) * inverse;
        a[h] = g == p ? scaled : fma(-factor, scaled, of_p ? 0.0 : a[h]);
      }
    }
    if (!swapped) return;
#pragma unroll
    for (int p = B - 1; p >= 0; --p) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int other = swaps >> 4 * p & 15;
        column[h] = column[h] == p ? other : column[h] == other ? p : column[h];
      }
    }
  }

  /// The inverse to where `store(place, value)` puts it.
  template <class Store>
  __device__ void store(const Store& store) const {
    const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (g < B && 2 * q + h < B) store(column[h] * B + g, a[h]);
    }
  }

 private:
  /// Exchanges row p and the one that is largest in column p, which is returned.
  __device__ unsigned bring_largest(int p, double& pivot) {
    const int lane = threadIdx.x % 32, g = lane / 4;
    int best = p;
    for (int r = p + 1; r < B; ++r) {
      const double low = __shfl_sync(~0u, a[0], 4 * r + p / 2), high = __shfl_sync(~0u, a[1], 4 * r + p / 2);
      const double other = p % 2 == 0 ? low : high;
      if (magnitude(other) > magnitude(pivot)) pivot = other, best = r;
    }
    const int source = 4 * (g == p ? best : g == best ? p : g) + lane % 4;
    a[0] = __shfl_sync(~0u, a[0], source);
    a[1] = __shfl_sync(~0u, a[1], source);
    return static_cast<unsigned>(best);
  }
};

template <int B>
using InvertedBlock = std::conditional_t<B <= 3, InvertedAlone<B>, InvertedTile<B>>;

}  // namespace echelon
