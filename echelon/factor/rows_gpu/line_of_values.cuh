// SPDX-License-Identifier: BSD-3-Clause
// Along a row of values on a GPU, by one thread and in the host's order. Values are asked for a batch at a time, since each
// takes as long as all of them; beyond the end there are zeros, which change no sum of sizes.
#pragma once

#include "echelon/factor/pivots/pivot_repair.hpp"

namespace echelon {

/// Of |values| at begin, begin + step, … before `end`.
struct LineOfValues {
  double sum = 0, largest = 0;  // NaN is never the largest
  bool nonfinite = false;
};

// 0 when it is not wanted. Without a branch, so that many are under way together.
__device__ __forceinline__ double value_or_zero(bool wanted, const double* from) {
  double x = 0;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.f64 %0, [%1]; }"
               : "+d"(x)
               : "l"(from), "r"(static_cast<unsigned>(wanted)));
  return x;
}
__device__ __forceinline__ std::int64_t value_or_zero(bool wanted, const std::int64_t* from) {
  std::int64_t x = 0;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.s64 %0, [%1]; }"
               : "+l"(x)
               : "l"(from), "r"(static_cast<unsigned>(wanted)));
  return x;
}
__device__ __forceinline__ std::int32_t value_or_zero(bool wanted, const std::int32_t* from) {
  std::int32_t x = 0;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.s32 %0, [%1]; }"
               : "+r"(x)
               : "l"(from), "r"(static_cast<unsigned>(wanted)));
  return x;
}

__device__ __forceinline__ LineOfValues line_of_values(const double* values, std::int64_t begin, std::int64_t end,
                                                       int step) {
  constexpr int batch = 8;
  LineOfValues found;
  for (; begin < end; begin += batch * std::int64_t{step}) {
    double some[batch];
#pragma unroll
    for (int t = 0; t < batch; ++t) {
      const std::int64_t at = begin + t * std::int64_t{step};
      some[t] = value_or_zero(at < end, values + at);
    }
#pragma unroll
    for (int t = 0; t < batch; ++t) {
      const double size = magnitude(some[t]);
      found.largest = size > found.largest ? size : found.largest;
      found.nonfinite = found.nonfinite || !repair::is_finite(size);
      found.sum += size;
    }
  }
  return found;
}

}  // namespace echelon
