// SPDX-License-Identifier: BSD-3-Clause
// A product of small blocks on FP64 tensor cores, and loops that are unrolled over constants.
#pragma once

#include <type_traits>
#include <utility>

namespace echelon {

/// Calls f(integral constant) for 0 … N − 1.
template <int N, class F>
__device__ __forceinline__ void unrolled(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (f(std::integral_constant<int, I>{}), ...); }
  (std::make_integer_sequence<int, N>{});
}

/// w ← w + a b for four k
__device__ __forceinline__ void multiply(double a, double b, double (&w)[2]) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(w[0]), "+d"(w[1])
      : "d"(a), "d"(b));
}

}  // namespace echelon
