// SPDX-License-Identifier: BSD-3-Clause
// One row of a triangular sweep, L and U by one flag:
//   L: x_i = r_i − Σ_j L_ij x_j          U: x_i = D_i⁻¹ (x_i − Σ_j U_ij x_j)          one fma chain a scalar.
// The farthest column comes first (L: j ascending, U: j descending), so that only the end of a row's chain waits for the
// rows just before it. Shared by every traversal. Bytes a row: (8 b² + 2 or 4) an entry, 8 for the row's start, and 8 b²
// more for D⁻¹ in U.
#pragma once

#include <cstdint>

#include "echelon/base/small_block.hpp"

namespace echelon {

template <class T>
struct SweepView {
  std::int64_t rows;
  int block;
  const std::int64_t* start;  // by sweep position
  const void* distance;       // uint16_t or int32_t
  const T* values;
  const T* inverse_diagonal;  // U only
  const T* r;                 // right-hand side; x itself in U
  T* x;
  const std::uint8_t* together = nullptr;  // for kernels of rows together: how many, from each position
};

/// b = 1: sum − Σ value·x in the order of the chain, two entries a turn; `distance` and `value` at the chain's first entry.
template <bool lower, class Distance, class T>
ECHELON_FN T scalar_chain(std::int64_t entries, const Distance* distance, const T* value, const T* x_i, T sum) {
  constexpr std::int64_t step = lower ? 1 : -1;
  for (; entries >= 2; entries -= 2, distance += 2 * step, value += 2 * step) {
    sum = fma(-value[0], x_i[-step * std::int64_t{distance[0]}], sum);
    sum = fma(-value[step], x_i[-step * std::int64_t{distance[step]}], sum);
  }
  if (entries > 0) sum = fma(-value[0], x_i[-step * std::int64_t{distance[0]}], sum);
  return sum;
}

/// Position s of the sweep; `scratch` holds b scalars when B = 0.
template <bool lower, int B, class Distance, class T>
ECHELON_FN void sweep_row(const SweepView<T>& view, std::int64_t s, T* scratch) {
  const int b = extent<B>(view.block);
  const std::int64_t i = lower ? s : view.rows - 1 - s;
  const Distance* distance = static_cast<const Distance*>(view.distance);
  const std::int64_t begin = view.start[s], entries = view.start[s + 1] - begin;
  if constexpr (B == 1) {
    const std::int64_t first = lower ? begin : begin + entries - 1;
    const T sum = scalar_chain<lower>(entries, distance + first, view.values + first, view.x + i, view.r[i]);
    view.x[i] = lower ? sum : view.inverse_diagonal[i] * sum;
  } else {
    T fixed[B > 0 ? B : 1];
    T* sum = B > 0 ? fixed : scratch;
    for (int c = 0; c < b; ++c) sum[c] = view.r[i * b + c];
    for (std::int64_t e = 0; e < entries; ++e) {
      const std::int64_t p = lower ? begin + e : begin + entries - 1 - e;
      const std::int64_t j = lower ? i - distance[p] : i + distance[p];
      subtract_product<B>(b, view.values + p * b * b, view.x + j * b, sum);
    }
    if constexpr (lower) {
      for (int c = 0; c < b; ++c) view.x[i * b + c] = sum[c];
    } else {
      product<B>(b, view.inverse_diagonal + i * b * b, sum, view.x + i * b);
    }
  }
}

}  // namespace echelon
