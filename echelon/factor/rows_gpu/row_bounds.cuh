// SPDX-License-Identifier: BSD-3-Clause
// What bounds ‖(LU)⁻¹e‖∞ of factors on a GPU whose L⁻¹e is known (factor_bounds.hpp): the largest rows of |D⁻¹||U|e and of
// |D⁻¹||L⁻¹e|, into the status. A thread has a scalar row, its sum in the host's order. No row waits for another, so this
// takes the time of reading U, where the upper sweep follows its chains. Bytes: 8 b² an entry of U, 8 b² + 8 b + 8 a row.
#pragma once

#include "echelon/factor/pivots/factor_bounds.hpp"
#include "echelon/factor/rows_gpu/line_of_values.cuh"
#include "echelon/factor/rows_gpu/row_factor_judge.cuh"

namespace echelon {

constexpr int bounds_threads = 256;

/// Of |u| of scalar row r of block row i.
__device__ __forceinline__ double sum_above(const FactorView<double>& f, std::int64_t i, int r) {
  const std::int64_t last = f.A.block_rows - 1, bb = std::int64_t{f.A.block} * f.A.block;
  return line_of_values(f.upper_values, f.upper_start[last - i] * bb + r, f.upper_start[last - i + 1] * bb, f.A.block).sum;
}

/// The largest of the warp's sizes ≥ 0. Most warps find out without an atomic that they do not have it.
__device__ __forceinline__ void raise_seldom(unsigned long long* to, double size) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
    const double other = __shfl_xor_sync(~0u, size, half);
    size = other > size ? other : size;
  }
  if (threadIdx.x % 32 != 0) return;
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(size));
  if (bits > *static_cast<volatile unsigned long long*>(to)) atomicMax(to, bits);
}

__device__ __forceinline__ void note_bounds(FactorStatus* status, const FactorBounds& bounds) {
  raise_seldom(&status->upper, bounds.upper);
  raise_seldom(&status->inverse, bounds.inverse);
  if (!bounds.finite) atomicOr(&status->not_bounded, 1u);
}

/// What a thread finds of scalar rows while it factors them, in shared memory, since registers are for the rows: the largest
/// change of a diagonal and the bounds, infinite where a row's is not finite.
struct RowExtremes {
  double change, upper, inverse;

  __device__ void begin() { change = upper = inverse = 0; }
  __device__ void include_change(double other) { change = other > change ? other : change; }
  /// Sums of a row's |u|, its |d⁻¹| and |y|.
  __device__ void include_row(double above, double size, double y) {
    upper = larger(upper, above * size);
    inverse = larger(inverse, size * y);
  }
  /// All lanes.
  __device__ void note(FactorStatus* status) const {
    raise_by_warp(&status->change, change);
    note_bounds(status, {0, upper, inverse, repair::is_finite(upper) && repair::is_finite(inverse)});
  }

 private:
  __device__ static double larger(double x, double other) {
    return other <= x ? x : repair::is_finite(other) ? other : std::numeric_limits<double>::infinity();
  }
};

static __global__ void __launch_bounds__(bounds_threads) bound_scalars_kernel(const __grid_constant__ RowFactorView v) {
  const std::int64_t step = std::int64_t{gridDim.x} * bounds_threads;
  FactorBounds bounds;
  for (std::int64_t i = blockIdx.x * std::int64_t{bounds_threads} + threadIdx.x; i < v.rows.A.block_rows; i += step) {
    const double size = magnitude(v.rows.inverse_diagonal[i]);
    const double y = magnitude(v.estimate[v.rows.order ? v.rows.order[i] : i]);
    bounds.include_upper(sum_above(v.rows, i, 0) * size);
    bounds.include_solved(size * y);
  }
  note_bounds(v.status, bounds);
}

/// Block rows of a block of threads, whose sums are in its shared memory.
ECHELON_FN int bounds_rows(int block) { return block < bounds_threads ? bounds_threads / block : 1; }

static __global__ void __launch_bounds__(bounds_threads) bound_blocks_kernel(const __grid_constant__ RowFactorView v) {
  extern __shared__ double sums_above[];
  const int b = v.rows.A.block, at_once = bounds_rows(b);
  FactorBounds bounds;
  for (std::int64_t first = std::int64_t{blockIdx.x} * at_once; first < v.rows.A.block_rows;
       first += std::int64_t{gridDim.x} * at_once) {
    const int scalars = static_cast<int>(min(std::int64_t{at_once}, v.rows.A.block_rows - first)) * b;
    for (int n = threadIdx.x; n < scalars; n += bounds_threads) sums_above[n] = sum_above(v.rows, first + n / b, n % b);
    __syncthreads();
    for (int n = threadIdx.x; n < scalars; n += bounds_threads) {
      const std::int64_t i = first + n / b, user = v.rows.order ? v.rows.order[i] : i;
      const double* D = v.rows.inverse_diagonal + i * b * b + n % b;
      bounds.include_upper(absolute_product(b, D, sums_above + n / b * b));
      bounds.include_solved(absolute_product(b, D, v.estimate + user * b));
    }
    __syncthreads();
  }
  note_bounds(v.status, bounds);
}

}  // namespace echelon
