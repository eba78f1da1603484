// SPDX-License-Identifier: BSD-3-Clause
// One row of a sweep of an iterated triangular solve, host and device; x is the last iterate, y the next:
//   compact      y_i = (1 − ω) x_i + ω D_i⁻¹ (r_i − Σ_j T_ij x_j)
//   non-compact  y_i = x_i + ω D_i⁻¹ (r_i − Σ_j T_ij x_j − D_i x_i)
//   Neumann      y_i = −D_i⁻¹ Σ_j T_ij x_j, total_i = total_i + y_i
//   block        as compact with ω = 1, but x_j is y_j for the rows j of the same block of rows that came before
// over the off-diagonal blocks of the row, the farthest column first: the chain of the exact sweep (row.inl).
// Bytes a row: those of the exact sweep, 8 b more to read, and 8 b² for D in the non-compact form.
#pragma once

#include "echelon/sweep/rows/row.inl"

namespace echelon {

template <class T>
struct IterationView {
  std::int64_t rows;
  int block;
  const std::int64_t* start;  // by sweep position
  const void* distance;
  const T* values;
  const T* inverse_diagonal;  // null: the identity
  const T* diagonal;          // null: the identity. Non-compact form only
  const T* r;
  const T* from;
  T* to;
  T* total = nullptr;  // Neumann only
  T damping = 1;
  std::int64_t rows_a_block = 1;
};

/// sum ← sum − Σ T_ij x_j over the entries [first, last) of the row's chain, counted from its farthest column.
template <bool lower, int B, class Distance, class T>
ECHELON_FN void subtract_entries(const IterationView<T>& view, std::int64_t s, std::int64_t first, std::int64_t last,
                                 const T* x, T* sum) {
  const int b = extent<B>(view.block);
  const std::int64_t i = lower ? s : view.rows - 1 - s;
  const Distance* distance = static_cast<const Distance*>(view.distance);
  const std::int64_t begin = lower ? view.start[s] + first : view.start[s + 1] - 1 - first;
  if constexpr (B == 1) {
    sum[0] = scalar_chain<lower>(last - first, distance + begin, view.values + begin, x + i, sum[0]);
  } else {
    for (std::int64_t e = 0; e < last - first; ++e) {
      const std::int64_t p = lower ? begin + e : begin - e;
      const std::int64_t j = lower ? i - distance[p] : i + distance[p];
      subtract_product<B>(b, view.values + p * b * b, x + j * b, sum);
    }
  }
}

/// z ← D_i⁻¹ sum; they must not overlap.
template <int B, class T>
ECHELON_FN void divide_by_diagonal(const IterationView<T>& view, std::int64_t i, const T* sum, T* z) {
  const int b = extent<B>(view.block);
  if (view.inverse_diagonal) {
    product<B>(b, view.inverse_diagonal + i * b * b, sum, z);
  } else {
    for (int c = 0; c < b; ++c) z[c] = sum[c];
  }
}

/// The first sweep, from x = 0. `scratch` holds 2 b scalars when B = 0, here and below.
template <bool lower, int B, class T>
ECHELON_FN void first_row(const IterationView<T>& view, std::int64_t s, T* scratch) {
  const int b = extent<B>(view.block);
  const std::int64_t i = lower ? s : view.rows - 1 - s;
  T fixed[B > 0 ? B : 1];
  T* z = B > 0 ? fixed : scratch;
  divide_by_diagonal<B>(view, i, view.r + i * b, z);
  for (int c = 0; c < b; ++c) view.to[i * b + c] = view.damping * z[c];
  if (view.total) {
    for (int c = 0; c < b; ++c) view.total[i * b + c] = z[c];
  }
}

enum class IterationKind { compact, noncompact, neumann };

/// A scalar of the next iterate from z = D⁻¹(…) and the last one.
template <class T>
ECHELON_FN T next_scalar(IterationKind kind, T damping, T z, T old) {
  if (kind == IterationKind::noncompact) return fma(damping, z, old);
  if (kind == IterationKind::neumann || damping == 1) return z;
  return fma(damping, z - old, old);
}

template <IterationKind kind, bool lower, int B, class Distance, class T>
ECHELON_FN void iterated_row(const IterationView<T>& view, std::int64_t s, T* scratch) {
  const int b = extent<B>(view.block);
  const std::int64_t i = lower ? s : view.rows - 1 - s;
  T fixed[B > 0 ? 2 * B : 1];
  T *sum = B > 0 ? fixed : scratch, *z = sum + b;
  for (int c = 0; c < b; ++c) sum[c] = kind == IterationKind::neumann ? T(0) : view.r[i * b + c];
  subtract_entries<lower, B, Distance>(view, s, 0, view.start[s + 1] - view.start[s], view.from, sum);
  if constexpr (kind == IterationKind::noncompact) {
    if (view.diagonal) {
      subtract_product<B>(b, view.diagonal + i * b * b, view.from + i * b, sum);
    } else {
      for (int c = 0; c < b; ++c) sum[c] = sum[c] - view.from[i * b + c];
    }
  }
  divide_by_diagonal<B>(view, i, sum, z);
  for (int c = 0; c < b; ++c) {
    view.to[i * b + c] = next_scalar(kind, view.damping, z[c], view.from[i * b + c]);
    if constexpr (kind == IterationKind::neumann) view.total[i * b + c] = view.total[i * b + c] + z[c];
  }
}

/// Position s of a sweep of block Jacobi; positions of a block of rows must come in order.
template <bool lower, int B, class Distance, class T>
ECHELON_FN void block_row(const IterationView<T>& view, std::int64_t s, T* scratch) {
  const int b = extent<B>(view.block);
  const std::int64_t i = lower ? s : view.rows - 1 - s, within = s % view.rows_a_block;
  const std::int64_t entries = view.start[s + 1] - view.start[s];
  const Distance* distance = static_cast<const Distance*>(view.distance);
  std::int64_t outside = 0;
  while (outside < entries && distance[lower ? view.start[s] + outside : view.start[s + 1] - 1 - outside] > within) {
    ++outside;
  }
  T fixed[B > 0 ? B : 1];
  T* sum = B > 0 ? fixed : scratch;
  for (int c = 0; c < b; ++c) sum[c] = view.r[i * b + c];
  subtract_entries<lower, B, Distance>(view, s, 0, outside, view.from, sum);
  subtract_entries<lower, B, Distance>(view, s, outside, entries, view.to, sum);
  divide_by_diagonal<B>(view, i, sum, view.to + i * b);
}

}  // namespace echelon
