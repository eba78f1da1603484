// SPDX-License-Identifier: BSD-3-Clause
// Values that rows pass to one another without a flag: U, D⁻¹ and L⁻¹e are cleared to a NaN that no row publishes, so
// whoever reads one sees whether it is there, in one trip to the second-level cache. Nothing is fenced: each value of eight
// bytes comes whole, and a reader looks at every one of them.
#pragma once

#include "echelon/base/cuda/absent_value.cuh"
#include "echelon/factor/rows_gpu/row_factor_view.hpp"

namespace echelon {

__device__ __forceinline__ void publish(double* to, double x) {
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(to), "d"(published(x)) : "memory");
}

/// B neighbouring values, the first at a multiple of B.
template <int B>
__device__ __forceinline__ void publish_column(double* to, const double (&x)[B]) {
  if constexpr (B % 2 == 0) {
#pragma unroll
    for (int r = 0; r < B; r += 2) {
      asm volatile("st.relaxed.gpu.global.v2.f64 [%0], {%1, %2};" ::"l"(to + r), "d"(published(x[r])),
                   "d"(published(x[r + 1]))
                   : "memory");
    }
  } else {
#pragma unroll
    for (int r = 0; r < B; ++r) publish(to + r, x[r]);
  }
}

/// Leaves `to` as it is when nothing is wanted. Without a branch, so that many are under way together.
__device__ __forceinline__ void fetch(bool wanted, const double* from, double& to) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.relaxed.gpu.global.f64 %0, [%1]; }"
               : "+d"(to)
               : "l"(from), "r"(static_cast<unsigned>(wanted)));
}

/// 0 when it is not wanted: what `to` was is not waited for.
__device__ __forceinline__ void fetch_or_zero(bool wanted, const double* from, double& to) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.f64 %0, 0d0000000000000000; @p ld.relaxed.gpu.global.f64 %0, [%1]; }"
      : "=&d"(to)
      : "l"(from), "r"(static_cast<unsigned>(wanted)));
}

template <int B>
__device__ __forceinline__ void fetch_column(bool wanted, const double* from, double (&to)[B]) {
  if constexpr (B % 2 == 0) {
#pragma unroll
    for (int r = 0; r < B; r += 2) {
      asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2]; }"
                   : "+d"(to[r]), "+d"(to[r + 1])
                   : "l"(from + r), "r"(static_cast<unsigned>(wanted)));
    }
  } else {
#pragma unroll
    for (int r = 0; r < B; ++r) fetch(wanted, from + r, to[r]);
  }
}

template <int B>
__device__ __forceinline__ bool is_absent(const double (&x)[B]) {
  bool absent = false;
#pragma unroll
  for (int r = 0; r < B; ++r) absent = absent || is_absent(x[r]);
  return absent;
}

/// Before an attempt: nothing is there. Without a ticket left there is no attempt (row_prepare.cuh).
static __global__ void clear_published_kernel(RowFactorView v) {
  if (v.status->ticket != 0) return;
  const int b = v.rows.A.block;
  const std::int64_t rows = v.rows.A.block_rows, bb = std::int64_t{b} * b;
  const std::int64_t upper = v.rows.upper_start[rows] * bb;
  const std::int64_t first = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x,
                     step = std::int64_t{gridDim.x} * blockDim.x;
  const auto two = reinterpret_cast<double2*>(v.rows.upper_values);
  for (std::int64_t n = first; n < upper / 2; n += step) two[n] = {absent_value, absent_value};
  if (first == 0 && upper % 2 != 0) v.rows.upper_values[upper - 1] = absent_value;
  for (std::int64_t n = first; n < rows * bb; n += step) v.rows.inverse_diagonal[n] = absent_value;
  for (std::int64_t n = first; n < rows * b; n += step) v.estimate[n] = absent_value;
}

}  // namespace echelon
