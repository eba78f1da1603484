// SPDX-License-Identifier: BSD-3-Clause
// One row of a fixed-point sweep. The arithmetic is that of ilu_row.inl with the last iterate in the place of rows done
// before, so that a fixed point has the bits of the elimination:
//   l = s_ik d_k⁻¹,  w_j ← w_j − l s_kj for k ascending.
#pragma once

#include "echelon/factor/fixed_point/fixed_point.hpp"
#include "echelon/factor/rows/ilu_row.inl"

namespace echelon {

/// sum + (value·unit)²
ECHELON_FN double fixed_point_square(double value, double unit, double sum) {
  const double scaled = value * unit;
  return fma(scaled, scaled, sum);
}

template <class T>
ECHELON_FN double square_sum(const FixedPointView<T>& view, T value, double sum) {
  return fixed_point_square(static_cast<double>(value), view.unit, sum);
}

template <bool start, class Distance, class T>
ECHELON_FN double fixed_point_scalar_row(const FixedPointView<T>& view, std::int64_t i, RowWorkspace<T>& work) {
  const FactorView<T>& to = view.rows;
  T* w = work.dense;
  const auto* below = static_cast<const Distance*>(to.lower_distance);
  const auto* above = static_cast<const Distance*>(to.upper_distance);
  const std::int64_t last = to.A.block_rows - 1;
  const std::int64_t lower_begin = to.lower_start[i], lower_end = to.lower_start[i + 1];
  const std::int64_t upper_begin = to.upper_start[last - i], upper_end = to.upper_start[last - i + 1];
  const T scale = load_scalar_row<Distance>(to, i, work);
  double sum = 0;
  if (!start) {
    for (std::int64_t p = lower_begin; p < lower_end; ++p) {
      const std::int64_t k = i - below[p];
      const T l = view.lower[p] * view.inverse_diagonal[k];
      const std::int64_t end = to.upper_start[last - k + 1];
      for (std::int64_t q = to.upper_start[last - k]; q < end; ++q) {
        const std::int64_t j = k + above[q];
        w[j] = fma(-l, view.upper[q], w[j]);
      }
    }
  }
  for (std::int64_t p = lower_begin; p < lower_end; ++p) {
    const T s = w[i - below[p]];
    sum = square_sum(view, start ? s : s - view.lower[p], sum);
    to.lower_values[p] = s;
  }
  for (std::int64_t p = upper_begin; p < upper_end; ++p) {
    const T s = w[i + above[p]];
    sum = square_sum(view, start ? s : s - view.upper[p], sum);
    to.upper_values[p] = s;
  }
  T pivot = w[i];
  sum = square_sum(view, start ? pivot : pivot - T(1) / view.inverse_diagonal[i], sum);
  if (!pivot_is_good(to.rules, pivot, scale)) pivot = repaired_pivot(to.rules, place(to, i), pivot, scale, work);
  to.inverse_diagonal[i] = T(1) / pivot;
  return sum;
}

template <bool start, int B, class T>
ECHELON_FN double fixed_point_block_row(const FixedPointView<T>& view, std::int64_t i, RowWorkspace<T>& work) {
  const FactorView<T>& to = view.rows;
  const int b = extent<B>(to.A.block);
  const int bb = b * b;
  const auto* below = static_cast<const std::int32_t*>(to.lower_distance);
  const auto* above = static_cast<const std::int32_t*>(to.upper_distance);
  const std::int64_t last = to.A.block_rows - 1;
  const std::int64_t lower_begin = to.lower_start[i], lower_end = to.lower_start[i + 1];
  const std::int64_t upper_begin = to.upper_start[last - i], upper_end = to.upper_start[last - i + 1];
  T* D = to.inverse_diagonal + i * bb;
  const T scale = load_block_row<B>(to, i, work);
  T** target = work.target;
  if (!start) {
    T fixed[B > 0 ? B * B : 1];
    T* l = B > 0 ? fixed : work.small;
    for (std::int64_t p = lower_begin; p < lower_end; ++p) {
      const std::int64_t k = i - below[p];
      block_product<B>(b, view.lower + p * bb, view.inverse_diagonal + k * bb, l);
      const std::int64_t end = to.upper_start[last - k + 1];
      for (std::int64_t q = to.upper_start[last - k]; q < end; ++q) {
        T* w = target[k + above[q]];
        if (w) subtract_block_product<B>(b, l, view.upper + q * bb, w);
      }
    }
  }
  clear_targets(to, i, work);
  double sum = 0;
  for (std::int64_t e = lower_begin * bb; e < lower_end * bb; ++e) {
    const T s = to.lower_values[e];
    sum = square_sum(view, start ? s : s - view.lower[e], sum);
  }
  for (std::int64_t e = upper_begin * bb; e < upper_end * bb; ++e) {
    const T s = to.upper_values[e];
    sum = square_sum(view, start ? s : s - view.upper[e], sum);
  }
  T* old = work.small;
  if (!start) {
    for (int e = 0; e < bb; ++e) old[e] = view.inverse_diagonal[i * bb + e];
    static_cast<void>(invert<B>(b, old, work.swaps));
  }
  for (int e = 0; e < bb; ++e) sum = square_sum(view, start ? D[e] : D[e] - old[e], sum);
  invert_pivot<B>(to.rules, place(to, i), b, D, scale, work);
  return sum;
}

/// L_ik = s_ik d_k⁻¹
template <class Distance, class T>
ECHELON_FN void finish_scalar_row(const FactorView<T>& view, std::int64_t i, FactorBounds& bounds) {
  const auto* distance = static_cast<const Distance*>(view.lower_distance);
  const std::int64_t s = view.A.block_rows - 1 - i;
  double below = 0, above = 0;
  for (std::int64_t p = view.lower_start[i]; p < view.lower_start[i + 1]; ++p) {
    const T l = view.lower_values[p] * view.inverse_diagonal[i - distance[p]];
    view.lower_values[p] = l;
    below += static_cast<double>(magnitude(l));
  }
  for (std::int64_t p = view.upper_start[s]; p < view.upper_start[s + 1]; ++p) {
    above += static_cast<double>(magnitude(view.upper_values[p]));
  }
  bounds.include(below, above, static_cast<double>(view.inverse_diagonal[i]));
}

template <int B, class T>
ECHELON_FN void scale_lower_row(const FactorView<T>& view, std::int64_t i, RowWorkspace<T>& work) {
  const int b = extent<B>(view.A.block);
  const int bb = b * b;
  const auto* below = static_cast<const std::int32_t*>(view.lower_distance);
  T fixed[B > 0 ? B * B : 1];
  T* l = B > 0 ? fixed : work.small;
  for (std::int64_t p = view.lower_start[i]; p < view.lower_start[i + 1]; ++p) {
    T* s = view.lower_values + p * bb;
    block_product<B>(b, s, view.inverse_diagonal + (i - below[p]) * bb, l);
    for (int e = 0; e < bb; ++e) s[e] = l[e];
  }
}

}  // namespace echelon
