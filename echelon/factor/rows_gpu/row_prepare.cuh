// SPDX-License-Identifier: BSD-3-Clause
// What a factorization of block CSR on a GPU needs before its rows begin, in one launch: the sums and largest values of A's
// rows and ‖A‖∞ (where rows do not measure themselves), the scale that stands for rows of zeros, the fingerprint of A's
// pattern, and everything cleared that rows write to one another. Where the pattern is not the one expected, the last block
// gives all tickets away, so that the factorization, queued behind this without waiting, leaves the factors as they are.
// Bytes: 8 b² (where it measures) + 4 an entry and 8 a row read, 9 a row (where it measures) and the words written.
#pragma once

#include "echelon/base/cuda/launch_behind.cuh"
#include "echelon/factor/rows_gpu/line_of_values.cuh"
#include "echelon/factor/rows_gpu/row_factor_judge.cuh"

namespace echelon {

constexpr int prepare_threads = 256;

/// Equal for equal patterns, and for others with a chance of 2⁻⁴⁸: the sum over this of every column and row start.
__device__ __forceinline__ unsigned long long mixed(unsigned long long x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

/// A thread's part of the sum over an array whose first place is `first`, when `blocks` share it.
template <class S>
__device__ __forceinline__ unsigned long long fingerprint_part(const S* x, std::int64_t count, std::int64_t first,
                                                               unsigned blocks) {
  constexpr int batch = 4;
  const std::int64_t step = blocks * std::int64_t{blockDim.x};
  unsigned long long own = 0;
  for (std::int64_t n = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; n < count; n += batch * step) {
    S some[batch];
#pragma unroll
    for (int t = 0; t < batch; ++t) some[t] = value_or_zero(n + t * step < count, x + n + t * step);
#pragma unroll
    for (int t = 0; t < batch; ++t) {
      const auto place = static_cast<unsigned long long>(first + n + t * step) + 1;
      if (n + t * step < count) own += mixed(mixed(place) ^ static_cast<unsigned long long>(some[t]));
    }
  }
  return own;
}

/// Sums in the host's order: along the row, a thread each. Gives the largest finite one of the thread's.
__device__ __forceinline__ double measure_scalars(const BlockCsrView<double>& A, const RowMeasures& to, unsigned blocks) {
  const std::int64_t step = blocks * std::int64_t{blockDim.x};
  double largest = 0;
  for (std::int64_t row = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; row < A.block_rows; row += step) {
    const LineOfValues line = line_of_values(A.values, A.row_start[row], A.row_start[row + 1], 1);
    to.scale[row] = line.largest;
    to.nonfinite[row] = line.nonfinite ? 1 : 0;
    if (repair::is_finite(line.sum) && line.sum > largest) largest = line.sum;
  }
  return largest;
}

/// Block rows that a block of threads measures at once.
ECHELON_FN int measured_rows(int block) { return block < prepare_threads ? prepare_threads / block : 1; }
/// Of shared memory: the sums and the largest values of their scalar rows.
ECHELON_FN int measured_bytes(int block) { return block == 1 ? 0 : 2 * measured_rows(block) * block * 8; }

/// The same of blocks, a scalar row a thread: the largest sum of a block row counts, 0 when it is not finite, as in
/// note_row_sum of pivot_rules.hpp. All threads of the block.
__device__ __forceinline__ double measure_blocks(const BlockCsrView<double>& A, const RowMeasures& to, unsigned blocks) {
  extern __shared__ double measured[];
  const int b = A.block, at_once = measured_rows(b);
  const std::int64_t bb = std::int64_t{b} * b;
  double* const sums = measured;
  double* const scales = measured + at_once * b;
  double largest = 0;
  for (std::int64_t first = std::int64_t{blockIdx.x} * at_once; first < A.block_rows;
       first += std::int64_t{blocks} * at_once) {
    const int rows = static_cast<int>(min(std::int64_t{at_once}, A.block_rows - first));
    for (int n = threadIdx.x; n < rows * b; n += prepare_threads) {
      const std::int64_t row = first + n / b;
      const LineOfValues line = line_of_values(A.values, A.row_start[row] * bb + n % b, A.row_start[row + 1] * bb, b);
      // NaN for a row with NaN or Inf in it, whose sum says nothing.
      sums[n] = line.nonfinite ? NAN : line.sum;
      scales[n] = line.largest;
    }
    __syncthreads();
    for (int n = threadIdx.x; n < rows; n += prepare_threads) {
      double sum = 0, scale = 0;
      bool nonfinite = false;
      for (int r = n * b; r < (n + 1) * b; ++r) {
        nonfinite = nonfinite || sums[r] != sums[r];
        sum = sums[r] > sum ? sums[r] : sum;
        scale = scales[r] > scale ? scales[r] : scale;
      }
      to.scale[first + n] = scale;
      to.nonfinite[first + n] = nonfinite ? 1 : 0;
      if (!nonfinite && repair::is_finite(sum) && sum > largest) largest = sum;
    }
    __syncthreads();
  }
  return largest;
}

__device__ __forceinline__ void measure_rows(const BlockCsrView<double>& A, const RowMeasures& to, unsigned blocks) {
  raise_by_warp(to.norm, A.block == 1 ? measure_scalars(A, to, blocks) : measure_blocks(A, to, blocks));
}

static __global__ void __launch_bounds__(prepare_threads) measure_rows_kernel(BlockCsrView<double> A, RowMeasures to) {
  measure_rows(A, to, gridDim.x);
}

/// |a| of the first value of A that is finite and not zero, 1 without one: what stands for the scale of a row of zeros. All
/// threads of one block; the status is cleared before.
__device__ __forceinline__ void begin_status(const BlockCsrView<double>& A, std::int64_t entries, FactorStatus* status) {
  static_assert(sizeof(FactorStatus) % sizeof(unsigned) == 0);
  __shared__ int first;
  for (unsigned n = threadIdx.x; n < sizeof(FactorStatus) / sizeof(unsigned); n += blockDim.x) {
    reinterpret_cast<unsigned*>(status)[n] = 0;
  }
  const std::int64_t values = entries * A.block * A.block;
  for (std::int64_t begin = 0; begin < values; begin += blockDim.x) {
    if (threadIdx.x == 0) first = static_cast<int>(blockDim.x);
    __syncthreads();
    const std::int64_t n = begin + threadIdx.x;
    const double size = n < values ? magnitude(A.values[n]) : 0;
    if (size > 0 && repair::is_finite(size)) atomicMin(&first, static_cast<int>(threadIdx.x));
    __syncthreads();
    if (first == static_cast<int>(threadIdx.x)) status->zero_row_scale = size;
    if (first < static_cast<int>(blockDim.x)) return;
    __syncthreads();
  }
  __syncthreads();
  if (threadIdx.x == 0) status->zero_row_scale = 1;
}

static __global__ void __launch_bounds__(prepare_threads) begin_status_kernel(BlockCsrView<double> A, FactorStatus* status) {
  begin_status(A, A.row_start[A.block_rows], status);
}

/// All bits: a NaN that says that a word is not there yet.
__device__ __forceinline__ void clear_words(const RowPreparation& p, unsigned blocks) {
  const auto words = reinterpret_cast<uint4*>(p.words);
  const std::int64_t step = blocks * std::int64_t{blockDim.x};
  for (std::int64_t n = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; n < p.word_count; n += step) {
    words[n] = {~0u, ~0u, ~0u, ~0u};
  }
}

static __global__ void __launch_bounds__(prepare_threads) clear_words_kernel(RowPreparation p) { clear_words(p, gridDim.x); }

/// The block that adds last compares. One atomic has both the sum and how many have added.
__device__ __forceinline__ void compare_fingerprints(const RowPreparation& p, unsigned long long part) {
  __shared__ unsigned long long parts[prepare_threads / 32];
  for (int half = 16; half > 0; half /= 2) part += __shfl_down_sync(~0u, part, half);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = part;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < prepare_threads / 32; ++warp) part += parts[warp];
  // The status, cleared by one block, is seen by the one that adds last.
  if (blockIdx.x == gridDim.x - 1) __threadfence();
  const unsigned long long own = (part << RowsFound::count_bits) + 1,
                           sum = atomicAdd(&p.numbers->found[p.turn].fingerprint, own) + own;
  if (!p.compare || sum == p.expected || (sum & RowsFound::count_mask) != gridDim.x) return;
  __threadfence();
  p.numbers->status.ticket = static_cast<unsigned>(p.A.block_rows);
}

/// The last block begins the status; the others have the rest.
static __global__ void __launch_bounds__(prepare_threads) prepare_rows_kernel(const __grid_constant__ RowPreparation p) {
  device::let_next_begin();
  const unsigned sharing = gridDim.x - 1;
  unsigned long long part = 0;
  if (blockIdx.x == sharing) {
    begin_status(p.A, p.entries, &p.numbers->status);
    if (threadIdx.x == 0) p.numbers->found[1 - p.turn] = {};
  } else {
    part = fingerprint_part(p.A.column, p.entries, 0, sharing) +
           fingerprint_part(p.A.row_start + 1, p.A.block_rows, p.entries, sharing);
    clear_words(p, sharing);
    if (p.measure) measure_rows(p.A, p.known, sharing);
  }
  compare_fingerprints(p, part);
}

}  // namespace echelon
