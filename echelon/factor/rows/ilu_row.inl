// SPDX-License-Identifier: BSD-3-Clause
// One row of the incomplete factorization (IKJ), for a pattern that holds the diagonal. With w the row of A (zero where A
// has no entry), for k ascending over its lower part:
//   L_ik = w_k D_k⁻¹,   w_j ← w_j − L_ik U_kj for j in U(k) ∩ pattern(i), ascending;   then D_i⁻¹, U_i = upper part of w.
// Scalars: w is a dense line of n, updated without asking for the pattern; what falls outside is never read, since every
// row first writes all of its own pattern. Blocks: w lives in the factors, and `target` says where column j is.
// With `omega` no row changes another: L_ik = w_k D_k⁻¹, U_i = upper part of w, D_i = w_i / ω.
#pragma once

#include <cstdint>
#include <limits>

#include "echelon/base/small_block.hpp"
#include "echelon/factor/rows/ilu_numeric.hpp"

namespace echelon {

template <class T>
ECHELON_FN std::int64_t user_row(const FactorView<T>& view, std::int64_t i) {
  return view.order ? view.order[i] : i;
}

template <class T>
ECHELON_FN std::int64_t eliminated_column(const FactorView<T>& view, std::int64_t p) {
  return view.position ? view.position[view.A.column[p]] : view.A.column[p];
}

template <class T>
ECHELON_FN PivotPlace place(const FactorView<T>& view, std::int64_t i) {
  return {i, user_row(view, i) * view.A.block};
}

template <class T>
ECHELON_FN void note_sum(const FactorView<T>& view, std::int64_t i, double sum, RowWorkspace<T>& work) {
  note_row_sum(view.rules, place(view, i), sum, work, [&] {
    const std::int64_t row = user_row(view, i), bb = std::int64_t{view.A.block} * view.A.block;
    for (std::int64_t e = view.A.row_start[row] * bb; e < view.A.row_start[row + 1] * bb; ++e) {
      if (!(magnitude(view.A.values[e]) <= std::numeric_limits<T>::max())) return true;
    }
    return false;
  });
}

/// w ← the row of A, shifted, zero where the pattern has more; gives max_j |a_ij|.
template <class Distance, class T>
ECHELON_FN T load_scalar_row(const FactorView<T>& view, std::int64_t i, RowWorkspace<T>& work) {
  T* w = work.dense;
  const auto* below = static_cast<const Distance*>(view.lower_distance);
  const auto* above = static_cast<const Distance*>(view.upper_distance);
  const std::int64_t last = view.A.block_rows - 1;
  const std::int64_t lower_begin = view.lower_start[i], lower_end = view.lower_start[i + 1];
  const std::int64_t upper_begin = view.upper_start[last - i], upper_end = view.upper_start[last - i + 1];
  if (view.grown) {
    for (std::int64_t p = lower_begin; p < lower_end; ++p) w[i - below[p]] = 0;
    w[i] = 0;
    for (std::int64_t p = upper_begin; p < upper_end; ++p) w[i + above[p]] = 0;
  }
  const std::int64_t row = user_row(view, i);
  T scale = 0;
  double sum = 0;
  for (std::int64_t p = view.A.row_start[row]; p < view.A.row_start[row + 1]; ++p) {
    const T a = view.A.values[p];
    w[eliminated_column(view, p)] = a;
    const T size = magnitude(a);
    scale = size > scale ? size : scale;
    sum += size;
  }
  note_sum(view, i, sum, work);
  if (view.rules.shift > 0) w[i] = shifted(view.rules, w[i], scale, work);
  return scale;
}

template <class Distance, class T>
ECHELON_FN void factor_scalar_row(const FactorView<T>& view, std::int64_t i, RowWorkspace<T>& work) {
  T* w = work.dense;
  const auto* below = static_cast<const Distance*>(view.lower_distance);
  const auto* above = static_cast<const Distance*>(view.upper_distance);
  const std::int64_t last = view.A.block_rows - 1;
  const std::int64_t lower_begin = view.lower_start[i], lower_end = view.lower_start[i + 1];
  const std::int64_t upper_begin = view.upper_start[last - i], upper_end = view.upper_start[last - i + 1];
  const T scale = load_scalar_row<Distance>(view, i, work);
  for (std::int64_t p = lower_begin; p < lower_end; ++p) {
    const std::int64_t k = i - below[p];
    const T l = w[k] * view.inverse_diagonal[k];
    view.lower_values[p] = l;
    if (view.omega > 0) continue;
    const std::int64_t end = view.upper_start[last - k + 1];
    for (std::int64_t q = view.upper_start[last - k]; q < end; ++q) {
      const std::int64_t j = k + above[q];
      w[j] = fma(-l, view.upper_values[q], w[j]);
    }
  }
  double sum = 0;
  for (std::int64_t p = upper_begin; p < upper_end; ++p) {
    const T u = w[i + above[p]];
    view.upper_values[p] = u;
    sum += magnitude(u);
  }
  T pivot = w[i];
  if (!pivot_is_good(view.rules, pivot, scale)) pivot = repaired_pivot(view.rules, place(view, i), pivot, scale, work);
  const T inverse = (view.omega > 0 ? static_cast<T>(view.omega) : T(1)) / pivot;
  view.inverse_diagonal[i] = inverse;
  work.bounds.include_upper(sum * magnitude(inverse));
}

/// The row of A, shifted, into the places of the factors, zero where the pattern has more; `target` says where they are.
/// Gives max |a| of the row.
template <int B, class T>
ECHELON_FN T load_block_row(const FactorView<T>& view, std::int64_t i, RowWorkspace<T>& work) {
  const int b = extent<B>(view.A.block);
  const int bb = b * b;
  const auto* below = static_cast<const std::int32_t*>(view.lower_distance);
  const auto* above = static_cast<const std::int32_t*>(view.upper_distance);
  const std::int64_t last = view.A.block_rows - 1;
  const std::int64_t lower_begin = view.lower_start[i], lower_end = view.lower_start[i + 1];
  const std::int64_t upper_begin = view.upper_start[last - i], upper_end = view.upper_start[last - i + 1];
  T* D = view.inverse_diagonal + i * bb;
  T** target = work.target;
  for (std::int64_t p = lower_begin; p < lower_end; ++p) target[i - below[p]] = view.lower_values + p * bb;
  target[i] = D;
  for (std::int64_t p = upper_begin; p < upper_end; ++p) target[i + above[p]] = view.upper_values + p * bb;
  if (view.grown) {
    for (std::int64_t e = lower_begin * bb; e < lower_end * bb; ++e) view.lower_values[e] = 0;
    for (int e = 0; e < bb; ++e) D[e] = 0;
    for (std::int64_t e = upper_begin * bb; e < upper_end * bb; ++e) view.upper_values[e] = 0;
  }
  const std::int64_t row = user_row(view, i);
  T scale = 0;
  double sum = 0;
  for (std::int64_t p = view.A.row_start[row]; p < view.A.row_start[row + 1]; ++p) {
    const T* a = view.A.values + p * bb;
    T* to = target[eliminated_column(view, p)];
    for (int e = 0; e < bb; ++e) {
      to[e] = a[e];
      const T size = magnitude(a[e]);
      scale = size > scale ? size : scale;
    }
  }
  for (int r = 0; r < b; ++r) {
    double scalar_row = 0;
    for (std::int64_t e = view.A.row_start[row] * bb + r; e < view.A.row_start[row + 1] * bb; e += b) {
      scalar_row += magnitude(view.A.values[e]);
    }
    sum = scalar_row > sum || !(scalar_row == scalar_row) ? scalar_row : sum;
  }
  note_sum(view, i, sum, work);
  if (view.rules.shift > 0) {
    for (int c = 0; c < b; ++c) D[c * b + c] = shifted(view.rules, D[c * b + c], scale, work);
  }
  return scale;
}

template <class T>
ECHELON_FN void clear_targets(const FactorView<T>& view, std::int64_t i, RowWorkspace<T>& work) {
  const auto* below = static_cast<const std::int32_t*>(view.lower_distance);
  const auto* above = static_cast<const std::int32_t*>(view.upper_distance);
  const std::int64_t last = view.A.block_rows - 1;
  for (std::int64_t p = view.lower_start[i]; p < view.lower_start[i + 1]; ++p) work.target[i - below[p]] = nullptr;
  work.target[i] = nullptr;
  for (std::int64_t p = view.upper_start[last - i]; p < view.upper_start[last - i + 1]; ++p) {
    work.target[i + above[p]] = nullptr;
  }
}

/// Of a finished row: |D⁻¹||U|e, whose sums run along the scalar rows of U.
template <int B, class T>
ECHELON_FN void bound_block_row(const FactorView<T>& view, std::int64_t i, RowWorkspace<T>& work) {
  const int b = extent<B>(view.A.block);
  const int bb = b * b;
  const std::int64_t last = view.A.block_rows - 1;
  T fixed[B > 0 ? B : 1];
  T* sum = B > 0 ? fixed : work.small;
  for (int r = 0; r < b; ++r) sum[r] = 0;
  for (std::int64_t e = view.upper_start[last - i] * bb; e < view.upper_start[last - i + 1] * bb; e += b) {
    for (int r = 0; r < b; ++r) sum[r] += magnitude(view.upper_values[e + r]);
  }
  const T* D = view.inverse_diagonal + i * bb;
  for (int r = 0; r < b; ++r) work.bounds.include_upper(absolute_product(b, D + r, sum));
}

template <int B, class T>
ECHELON_FN void factor_block_row(const FactorView<T>& view, std::int64_t i, RowWorkspace<T>& work) {
  const int b = extent<B>(view.A.block);
  const int bb = b * b;
  const auto* below = static_cast<const std::int32_t*>(view.lower_distance);
  const auto* above = static_cast<const std::int32_t*>(view.upper_distance);
  const std::int64_t last = view.A.block_rows - 1;
  const std::int64_t lower_begin = view.lower_start[i], lower_end = view.lower_start[i + 1];
  T* D = view.inverse_diagonal + i * bb;
  const T scale = load_block_row<B>(view, i, work);
  T** target = work.target;

  T fixed[B > 0 ? B * B : 1];
  T* l = B > 0 ? fixed : work.small;
  for (std::int64_t p = lower_begin; p < lower_end; ++p) {
    const std::int64_t k = i - below[p];
    T* w = view.lower_values + p * bb;
    block_product<B>(b, w, view.inverse_diagonal + k * bb, l);
    for (int e = 0; e < bb; ++e) w[e] = l[e];
    if (view.omega > 0) continue;
    const std::int64_t end = view.upper_start[last - k + 1];
    for (std::int64_t q = view.upper_start[last - k]; q < end; ++q) {
      T* to = target[k + above[q]];
      if (to) subtract_block_product<B>(b, l, view.upper_values + q * bb, to);
    }
  }
  clear_targets(view, i, work);
  invert_pivot<B>(view.rules, place(view, i), b, D, scale, work);
  for (int e = 0; e < bb && view.omega > 0; ++e) D[e] *= static_cast<T>(view.omega);
  bound_block_row<B>(view, i, work);
}

}  // namespace echelon
