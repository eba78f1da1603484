// SPDX-License-Identifier: BSD-3-Clause
// What a factorization of block CSR on a GPU needs before its rows begin, in one launch: the sums and largest values of A's
// rows and ‖A‖∞, the scale that stands for rows of zeros, the fingerprint of A's pattern, and everything cleared that rows
// write to one another. Where the pattern is not the one expected, the last block gives all tickets away, so that the
// factorization, queued behind this without waiting, leaves the factors as they are.
// Bytes: 8 b² + 4 an entry and 8 a row read, 9 (b > 1: and 8 b) a row and the words written.
#pragma once

#include "echelon/factor/row_factor_judge.cuh"

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

/// A thread's part of the sum.
__device__ __forceinline__ unsigned long long fingerprint_part(const BlockCsrView<double>& A, std::int64_t entries) {
  const std::int64_t step = gridDim.x * std::int64_t{blockDim.x};
  unsigned long long own = 0;
  for (std::int64_t n = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; n < entries + A.block_rows; n += step) {
    const auto what = static_cast<unsigned long long>(n < entries ? A.column[n] : A.row_start[n - entries + 1]);
    own += mixed(mixed(static_cast<unsigned long long>(n) + 1) ^ what);
  }
  return own;
}

/// Sums in the host's order: along the row, a thread each. Gives the largest finite one of the thread's.
__device__ __forceinline__ double measure_scalars(const BlockCsrView<double>& A, const RowMeasures& to) {
  const std::int64_t step = gridDim.x * std::int64_t{blockDim.x};
  double largest = 0;
  for (std::int64_t row = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; row < A.block_rows; row += step) {
    double sum = 0, scale = 0;
    bool nonfinite = false;
    for (std::int64_t n = A.row_start[row]; n < A.row_start[row + 1]; ++n) {
      const double size = magnitude(A.values[n]);
      scale = size > scale ? size : scale;
      nonfinite = nonfinite || !repair::is_finite(size);
      sum += size;
    }
    to.scale[row] = scale;
    to.nonfinite[row] = nonfinite ? 1 : 0;
    if (repair::is_finite(sum) && sum > largest) largest = sum;
  }
  return largest;
}

/// As note_row_sum of pivot_rules.hpp, without the note: the largest sum of a block row, 0 when it is not finite.
__device__ __forceinline__ double judge_sums(const BlockCsrView<double>& A, const RowMeasures& to, std::int64_t row) {
  double largest = 0;
  for (int r = 0; r < A.block; ++r) {
    const double sum = to.sums[row * A.block + r];
    largest = sum > largest || !(sum == sum) ? sum : largest;
  }
  bool nonfinite = false;
  if (!repair::is_finite(largest)) {
    const std::int64_t bb = std::int64_t{A.block} * A.block;
    for (std::int64_t n = A.row_start[row] * bb; n < A.row_start[row + 1] * bb && !nonfinite; ++n) {
      nonfinite = !repair::is_finite(A.values[n]);
    }
    largest = 0;
  }
  to.nonfinite[row] = nonfinite ? 1 : 0;
  return largest;
}

/// The same of blocks, a scalar row a thread. All threads of the block.
__device__ __forceinline__ double measure_blocks(const BlockCsrView<double>& A, const RowMeasures& to) {
  const int b = A.block;
  const std::int64_t bb = std::int64_t{b} * b, at_once = b < prepare_threads ? prepare_threads / b : 1;
  double largest = 0;
  for (std::int64_t first = blockIdx.x * at_once; first < A.block_rows; first += gridDim.x * at_once) {
    const std::int64_t rows = min(at_once, A.block_rows - first);
    for (std::int64_t n = threadIdx.x; n < rows; n += prepare_threads) to.scale[first + n] = 0;
    __syncthreads();
    for (std::int64_t n = threadIdx.x; n < rows * b; n += prepare_threads) {
      const std::int64_t row = first + n / b;
      double sum = 0, scale = 0;
      for (std::int64_t e = A.row_start[row] * bb + n % b; e < A.row_start[row + 1] * bb; e += b) {
        const double size = magnitude(A.values[e]);
        scale = size > scale ? size : scale;
        sum += size;
      }
      to.sums[first * b + n] = sum;
      raise(reinterpret_cast<unsigned long long*>(to.scale) + row, scale);
    }
    __syncthreads();
    for (std::int64_t n = threadIdx.x; n < rows; n += prepare_threads) {
      const double sum = judge_sums(A, to, first + n);
      largest = sum > largest ? sum : largest;
    }
  }
  return largest;
}

__device__ __forceinline__ void measure_rows(const BlockCsrView<double>& A, const RowMeasures& to) {
  raise_by_warp(to.norm, A.block == 1 ? measure_scalars(A, to) : measure_blocks(A, to));
}

static __global__ void __launch_bounds__(prepare_threads) measure_rows_kernel(BlockCsrView<double> A, RowMeasures to) {
  measure_rows(A, to);
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

/// All bits: a NaN that says that a word is not there yet. None: a tag that no attempt has.
__device__ __forceinline__ void clear_words(const RowPreparation& p) {
  const auto words = reinterpret_cast<uint4*>(p.words);
  const unsigned bits = p.absent_words ? ~0u : 0;
  const std::int64_t step = gridDim.x * std::int64_t{blockDim.x};
  for (std::int64_t n = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; n < p.word_count; n += step) {
    words[n] = {bits, bits, bits, bits};
  }
}

static __global__ void __launch_bounds__(prepare_threads) clear_words_kernel(RowPreparation p) { clear_words(p); }

/// The block that adds last compares. One atomic has both the sum and how many have added.
__device__ __forceinline__ void compare_fingerprints(const RowPreparation& p, unsigned long long part) {
  __shared__ unsigned long long parts[prepare_threads / 32];
  for (int half = 16; half > 0; half /= 2) part += __shfl_down_sync(~0u, part, half);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = part;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < prepare_threads / 32; ++warp) part += parts[warp];
  // The status, cleared by the first block, is seen by the one that is last.
  if (blockIdx.x == 0) __threadfence();
  const unsigned long long own = (part << RowsFound::count_bits) + 1,
                           sum = atomicAdd(&p.numbers->found[p.turn].fingerprint, own) + own;
  if (!p.compare || sum == p.expected || (sum & RowsFound::count_mask) != gridDim.x) return;
  __threadfence();
  p.numbers->status.ticket = static_cast<unsigned>(p.A.block_rows);
}

static __global__ void __launch_bounds__(prepare_threads) prepare_rows_kernel(const __grid_constant__ RowPreparation p) {
  if (blockIdx.x == 0) {
    begin_status(p.A, p.entries, &p.numbers->status);
    if (threadIdx.x == 0) p.numbers->found[1 - p.turn] = {};
  }
  const unsigned long long part = fingerprint_part(p.A, p.entries);
  clear_words(p);
  measure_rows(p.A, p.known);
  compare_fingerprints(p, part);
}

}  // namespace echelon
