// SPDX-License-Identifier: BSD-3-Clause
// Where a row meets the rows before it, found by G lanes, a lane an entry, from the patterns alone: for each k of the lower
// part and each entry of the row, which entry of U(k) has its column; and which entry of A is the row's. Rows have fewer
// than G entries. Bytes a row: 4 an entry, 16 and 4 an entry of U(k) for each k, mostly from the second-level cache.
#pragma once

#include "echelon/factor/ilu_numeric.hpp"

namespace echelon {

template <int G>
struct RowMeeting {
  static constexpr unsigned char none = 255;
  static constexpr std::int32_t beyond_all = 2147483647;

  const int first, e;       // lane of the row's first; the own one, counted from there
  std::int32_t column = 0;  // of the entry
  // In the lower part: the row k.
  std::int32_t user_k = 0;
  std::int64_t begin_k = 0;
  int entries_k = 0;  // of U(k)

  __device__ RowMeeting() : first(threadIdx.x % 32 / G * G), e(threadIdx.x % G) {}

  /// A row of so many entries in all, none where there is no row.
  __device__ void open(const FactorView<double>& f, std::int32_t i, std::int64_t lower, std::int64_t upper, int below,
                       int count) {
    column = beyond_all;
    if (e < below) {
      column = i - static_cast<const std::int32_t*>(f.lower_distance)[lower + e];
    } else if (e == below && e < count) {
      column = i;
    } else if (e < count) {
      column = i + above(f)[upper + e - below - 1];
    }
    begin_k = entries_k = user_k = 0;
    if (e < below) {
      const std::int64_t last = f.A.block_rows - 1;
      begin_k = f.upper_start[last - column];
      entries_k = static_cast<int>(f.upper_start[last - column + 1] - begin_k);
      user_k = f.order ? f.order[column] : column;
    }
  }

  /// Of A's entries from `begin` on, at most G of them: `of_A` gets which one an entry of the row is. All lanes.
  __device__ void find_in_A(const FactorView<double>& f, std::int64_t begin, int entries, unsigned char* of_A) const {
    of_A[e] = none;
    __syncwarp();
    std::int32_t wanted = -1;
    if (e < entries) {
      wanted = f.A.column[begin + e];
      if (f.position) wanted = f.position[wanted];
    }
    const int place = find(wanted);
    if (place >= 0) of_A[place] = static_cast<unsigned char>(e);
    __syncwarp();
  }

  /// Byte t·G + n of `found` says where in U(k) of step t the row's entry n is. The entries of all U(k) are dealt out to the
  /// lanes; who has one looks for its column among the row's. All lanes.
  __device__ void find_all(const FactorView<double>& f, int below, std::uint32_t* found) const {
    for (int n = e; n < below * (G / 4); n += G) found[n] = ~0u;
    int ends = entries_k;
#pragma unroll
    for (int step = 1; step < G; step *= 2) {
      const int other = __shfl_up_sync(~0u, ends, step, G);
      if (e >= step) ends += other;
    }
    const int begins = ends - entries_k, total = __shfl_sync(~0u, ends, first + G - 1);
    __syncwarp();
    for (int n = e; __any_sync(~0u, n - e < total); n += G) {
      int t = 0;
#pragma unroll
      for (int size = G / 2; size > 0; size /= 2) {
        if (__shfl_sync(~0u, ends, first + t + size - 1) <= n) t += size;
      }
      const std::int32_t k = __shfl_sync(~0u, column, first + t);
      const std::int64_t begin = __shfl_sync(~0u, begin_k, first + t);
      const int in_row = n - __shfl_sync(~0u, begins, first + t);
      const std::int32_t wanted = n < total ? k + above(f)[begin + in_row] : -1;
      const int place = find(wanted);
      if (place >= 0) reinterpret_cast<unsigned char*>(found)[t * G + place] = static_cast<unsigned char>(in_row);
    }
    __syncwarp();
  }

 private:
  __device__ static const std::int32_t* above(const FactorView<double>& f) {
    return static_cast<const std::int32_t*>(f.upper_distance);
  }

  /// The entry of the row that has this column; −1 without one. All lanes.
  __device__ int find(std::int32_t wanted) const {
    int low = 0;
#pragma unroll
    for (int size = G / 2; size > 0; size /= 2) {
      if (__shfl_sync(~0u, column, first + low + size - 1) < wanted) low += size;
    }
    return __shfl_sync(~0u, column, first + low) == wanted ? low : -1;
  }
};

}  // namespace echelon
