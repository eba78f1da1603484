// SPDX-License-Identifier: BSD-3-Clause
// G rows of a scalar triangular sweep at once, where each row has the columns of the row before it and that row's own:
//   L: x_i = r_i − Σ_j L_ij x_j,  U: x_i = D_i⁻¹ (x_i − Σ_j U_ij x_j)          the fma chains of sweep_row, bit for bit.
// A chain advances one fma at a time, so a row alone waits for latency; G chains fill that time, and share the
// distances and x_j. Bytes a row: 8 an entry and 8 for its start, (2 or 4)/G an entry for the distances, 8 more for D⁻¹ in
// U.
#pragma once

#include "echelon/sweep/rows/row.inl"

namespace echelon {

/// Positions s … s + G − 1.
template <bool lower, int G, class Distance, class T>
ECHELON_FN void sweep_rows_together(const SweepView<T>& view, std::int64_t s) {
  const std::int64_t i = lower ? s : view.rows - 1 - s;
  constexpr std::int64_t step =
      lower ? 1 : -1;  // in rows and in entries: L is stored in the order of its chain, U against it
  const std::int64_t shared = view.start[s + 1] - view.start[s];
  const Distance* distance = static_cast<const Distance*>(view.distance) + (lower ? view.start[s] : view.start[s + 1] - 1);
  const T* values[G];
  T sum[G];
  for (int g = 0; g < G; ++g) {
    values[g] = view.values + (lower ? view.start[s + g] : view.start[s + g + 1] - 1);
    sum[g] = view.r[i + step * g];
  }
  for (std::int64_t e = 0; e < shared; ++e) {
    const T x = view.x[i - step * distance[step * e]];
    for (int g = 0; g < G; ++g) sum[g] = fma(-values[g][step * e], x, sum[g]);
  }
  for (int g = 0; g < G; ++g) {
    if constexpr (!lower) sum[g] = view.inverse_diagonal[i - g] * sum[g];
    view.x[i + step * g] = sum[g];
    for (int later = g + 1; later < G; ++later) {
      sum[later] = fma(-values[later][step * (shared + g)], sum[g], sum[later]);
    }
  }
}

/// Positions begin … end − 1, as many together as `view.together` and the end allow.
template <bool lower, class Distance, class T>
ECHELON_FN void sweep_range_together(const SweepView<T>& view, std::int64_t begin, std::int64_t end) {
  for (std::int64_t s = begin; s < end;) {
    const std::int64_t rows = view.together[s] < end - s ? view.together[s] : end - s;
    switch (rows) {
      case 1: sweep_row<lower, 1, Distance>(view, s, static_cast<T*>(nullptr)); break;
      case 2: sweep_rows_together<lower, 2, Distance>(view, s); break;
      case 3: sweep_rows_together<lower, 3, Distance>(view, s); break;
      default: sweep_rows_together<lower, 4, Distance>(view, s); break;
    }
    s += rows;
  }
}

}  // namespace echelon
