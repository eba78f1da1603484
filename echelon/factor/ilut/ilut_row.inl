// SPDX-License-Identifier: BSD-3-Clause
// One row of ILUT (Saad 1994), IKJ with a dual threshold. With w the row of A, τ_i = drop·‖a_i‖₂, k ascending over what
// stands left of the diagonal, fill included:
//   |w_k| ≤ τ_i: dropped, before it is divided, so that (LU − A)_ik changes by w_k and nothing else does;
//   otherwise L_ik = w_k D_k⁻¹, w_j ← w_j − L_ik U_kj for j in U(k), ascending.
// Then right of the diagonal |w_j| ≤ τ_i is dropped, of L and of U the lfil largest stay, and D_i⁻¹ is taken. The diagonal
// is never dropped. Blocks: | | is the Frobenius norm, ‖a_i‖ that of the block row.
// Pivoting (block 1): the largest w_j right of the diagonal takes its place when pivoting·|w_j| > |w_i|.
#pragma once

#include "echelon/factor/ilut/ilut_cut.inl"

namespace echelon {

template <class List>
ECHELON_FN void make_room(List& list, std::int64_t size) {
  if (static_cast<std::int64_t>(list.size()) < size) list.resize(static_cast<std::size_t>(2 * size));
}

/// Row k of U; null when it will never be there.
template <class T>
ECHELON_FN std::byte* finished_row(const IlutView<T>& view, std::int64_t k) {
  std::byte* row = view.upper[k].load(std::memory_order_acquire);
  return row ? row : wait_for_row(view.upper[k], *view.abandoned);
}

/// The scale of the pivot's test, and the first threshold in units of 1/unit.
template <class T>
struct RowMeasure {
  T scale;
  double unit, threshold;
};

template <int B, class T>
ECHELON_FN RowMeasure<T> measure_row(const IlutView<T>& view, std::int64_t i, IlutWorkspace<T>& work) {
  const int b = extent<B>(view.A.block);
  const std::int64_t row = view.order ? view.order[i] : i, bb = std::int64_t{b} * b;
  const std::int64_t begin = view.A.row_start[row] * bb, end = view.A.row_start[row + 1] * bb;
  T scale = 0;
  double squares = 0, sum = 0;
  for (std::int64_t e = begin; e < end; ++e) {
    const T size = magnitude(view.A.values[e]);
    scale = size > scale ? size : scale;
    if (b == 1) sum += static_cast<double>(size);
  }
  const double unit = power_of_two_near_inverse(static_cast<double>(scale));
  for (std::int64_t e = begin; e < end; ++e) {
    const double a = unit * static_cast<double>(view.A.values[e]);
    squares = fma(a, a, squares);
  }
  for (int r = 0; b > 1 && r < b; ++r) {
    double scalar_row = 0;
    for (std::int64_t e = begin + r; e < end; e += b) scalar_row += static_cast<double>(magnitude(view.A.values[e]));
    sum = scalar_row > sum || !(scalar_row == scalar_row) ? scalar_row : sum;
  }
  note_row_sum(view.rules, {i, row * b}, sum, work, [&] {
    for (std::int64_t e = begin; e < end; ++e) {
      if (!(magnitude(view.A.values[e]) <= std::numeric_limits<T>::max())) return true;
    }
    return false;
  });
  return {scale, unit, view.drop * __builtin_sqrt(squares)};
}

template <class T>
ECHELON_FN std::int64_t eliminated_column(const IlutView<T>& view, std::int64_t p) {
  return view.position ? view.position[view.A.column[p]] : view.A.column[p];
}

/// What an elimination will read of row k, if it is there.
template <class T>
ECHELON_FN void fetch_row(const IlutView<T>& view, std::int64_t k) {
  // As a number: one that is not there yet is null, and fetching from nowhere does nothing.
  const auto row = reinterpret_cast<std::uintptr_t>(view.upper[k].load(std::memory_order_relaxed));
  for (std::uintptr_t line = 0; line < 3; ++line) __builtin_prefetch(reinterpret_cast<const void*>(row + 64 * line));
}

/// w ← w − l·U(k). The columns of a row differ, so four may be loaded before the first is stored; those of the filling are
/// one that nobody reads.
template <class T>
ECHELON_FN void eliminate(const UpperRow<T>& U, T l, IlutWorkspace<T>& work) {
  T* w = work.dense;
  const std::int64_t filled = filled_up(U.count(), 1);
  work.operations += filled;
  for (std::int64_t q = 0; q < filled; q += 4) {
    const std::int32_t* j = U.column + q;
    const T* u = U.values + q;
    const T w0 = fma(-l, u[0], w[j[0]]), w1 = fma(-l, u[1], w[j[1]]);
    const T w2 = fma(-l, u[2], w[j[2]]), w3 = fma(-l, u[3], w[j[3]]);
    w[j[0]] = w0;
    w[j[1]] = w1;
    w[j[2]] = w2;
    w[j[3]] = w3;
  }
  const std::int64_t words = U.word_count();
  for (std::int64_t p = 0; p < words; ++p) work.members.insert(U.words[p]);
}

/// The same where positions may have changed since the row was stored.
template <class T>
ECHELON_FN void eliminate_pivoted(const IlutView<T>& view, const UpperRow<T>& U, T l, IlutWorkspace<T>& work) {
  const std::int64_t count = U.count();
  work.operations += count;
  for (std::int64_t q = 0; q < count; ++q) {
    const std::int32_t j = view.position[U.column[q]];
    work.dense[j] = fma(-l, U.values[q], work.dense[j]);
    work.members.insert(j);
  }
}

/// Σ|values|, in four sums.
template <class T>
ECHELON_FN double sum_of_sizes(const T* values, std::int64_t count) {
  double sums[4] = {};
  std::int64_t e = 0;
  for (; e + 4 <= count; e += 4) {
    for (int s = 0; s < 4; ++s) sums[s] += static_cast<double>(magnitude(values[e + s]));
  }
  for (; e < count; ++e) sums[0] += static_cast<double>(magnitude(values[e]));
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Candidates with ascending columns → the row of L; returns Σ|l|.
template <class T>
ECHELON_FN double store_lower(const IlutView<T>& view, std::int64_t i, std::int64_t count, IlutWorkspace<T>& work) {
  const std::int64_t kept = keep_largest(view.lfil, count, of_lower, work);
  T* values = reinterpret_cast<T*>(work.lower.take(kept * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t))));
  auto* columns = reinterpret_cast<std::int32_t*>(values + kept);
  for (std::int64_t e = 0; e < kept; ++e) {
    values[e] = work.values[e];
    columns[e] = work.columns[e];
  }
  if (kept > 0 && i - columns[0] > work.widest) work.widest = i - columns[0];
  view.rows[i].lower_values = values;
  view.rows[i].lower_count = static_cast<std::int32_t>(kept);
  return sum_of_sizes(values, kept);
}

/// The words of ascending columns; returns how many.
ECHELON_FN std::int64_t write_words(const std::int32_t* columns, std::int64_t count, ColumnWord* words) {
  ColumnWord word{0, -1};
  std::int64_t at = -1;
  for (std::int64_t e = 0; e < count; ++e) {
    const std::int64_t next = columns[e] >> 6;
    const std::uint64_t bit = std::uint64_t{1} << (columns[e] & 63);
    const bool same = next == word.word;
    word = {same ? word.bits | bit : bit, next};
    at += !same;
    words[at] = word;
  }
  return at + 1;
}

/// Candidates with ascending columns and the inverse of the pivot → the row of U, for all to read; returns Σ|u|.
template <bool pivoting, class T>
ECHELON_FN double store_upper(const IlutView<T>& view, std::int64_t i, std::int64_t count, T inverse,
                              IlutWorkspace<T>& work) {
  const std::int64_t kept = keep_largest(view.lfil, count, of_upper, work), filled = filled_up(kept, 1);
  const std::int64_t room = UpperRow<T>::bytes(kept, 1, pivoting ? 0 : kept);
  std::byte* at = work.upper.take(room);
  const UpperRow<T> U(at, kept, 1);
  *U.inverse = inverse;
  for (std::int64_t e = 0; e < kept; ++e) {
    U.values[e] = work.values[e];
    U.column[e] = pivoting ? view.column_at[work.columns[e]] : work.columns[e];
  }
  for (std::int64_t e = kept; e < filled; ++e) {
    U.values[e] = 0;
    U.column[e] = static_cast<std::int32_t>(view.A.block_rows);
  }
  const std::int64_t words = pivoting ? 0 : write_words(work.columns.data(), kept, U.words);
  U.lengths[0] = static_cast<std::int32_t>(kept);
  U.lengths[1] = static_cast<std::int32_t>(words);
  work.upper.give_back(room - UpperRow<T>::bytes(kept, 1, words));
  if (kept > 0 && work.columns[kept - 1] - i > work.widest) work.widest = work.columns[kept - 1] - i;
  view.rows[i].upper_count = static_cast<std::int32_t>(kept);
  view.upper[i].store(at, std::memory_order_release);
  return sum_of_sizes(U.values, kept);
}

/// Candidates right of the diagonal, ascending: the largest of them changes places with the diagonal when it is much larger.
template <class T>
ECHELON_FN T exchange_pivot(const IlutView<T>& view, std::int64_t i, T pivot, double threshold, std::int64_t& count,
                            IlutWorkspace<T>& work) {
  const auto size_of = [&](std::int64_t c) { return static_cast<double>(magnitude(work.values[c])); };
  std::int64_t at = 0;
  for (std::int64_t c = 1; c < count; ++c) {
    if (size_of(c) > size_of(at)) at = c;
  }
  const auto size = static_cast<double>(magnitude(pivot));
  if (count == 0 || !(view.pivoting * size_of(at) > size)) return pivot;
  const T taken = work.values[at];
  const std::int32_t j = work.columns[at], here = view.column_at[i], there = view.column_at[j];
  view.column_at[i] = there;
  view.column_at[j] = here;
  view.position[there] = static_cast<std::int32_t>(i);
  view.position[here] = j;
  ++work.swaps_made;
  work.values[at] = pivot;
  if (!(size > threshold)) {
    --count;
    for (; at < count; ++at) {
      work.values[at] = work.values[at + 1];
      work.columns[at] = work.columns[at + 1];
    }
  }
  return taken;
}

/// w ← the row of A with its shift; returns the first column. The diagonal is a member always: what is left of it ends
/// there.
template <class T>
ECHELON_FN std::int64_t scatter_row(const IlutView<T>& view, std::int64_t i, T scale, IlutWorkspace<T>& work) {
  T* w = work.dense;
  const std::int64_t row = view.order ? view.order[i] : i;
  std::int64_t first = i;
  work.members.insert(i);
  for (std::int64_t p = view.A.row_start[row]; p < view.A.row_start[row + 1]; ++p) {
    const std::int64_t j = eliminated_column(view, p);
    w[j] = view.A.values[p];
    work.members.insert(j);
    if (j < i) fetch_row(view, j);
    first = j < first ? j : first;
  }
  if (view.rules.shift > 0) w[i] = shifted(view.rules, w[i], scale, work);
  return first;
}

template <bool pivoting, class T>
ECHELON_FN bool ilut_scalar_row(const IlutView<T>& view, std::int64_t i, IlutWorkspace<T>& work) {
  T* w = work.dense;
  const std::int64_t row = view.order ? view.order[i] : i;
  const auto measure = measure_row<1>(view, i, work);
  const double threshold = measure.threshold / measure.unit;
  const std::int64_t first = scatter_row(view, i, measure.scale, work);

  std::int32_t* columns = work.columns.data();
  T* values = work.values.data();
  std::int64_t count = 0;
  for (std::int64_t k = work.members.take_first(first); k < i; k = work.members.take_first(k)) {
    const T x = w[k];
    w[k] = 0;
    if (!(static_cast<double>(magnitude(x)) > threshold)) continue;
    std::byte* at = finished_row(view, k);
    if (!at) return false;
    fetch_row(view, work.members.likely_next(k));
    const UpperRow<T> U(at, 1);
    const T l = x * *U.inverse;
    columns[count] = static_cast<std::int32_t>(k);
    values[count] = l;
    ++count;
    if constexpr (pivoting) {
      eliminate_pivoted(view, U, l, work);
    } else {
      eliminate(U, l, work);
    }
  }
  bool limited = count > view.lfil;
  const double below = store_lower(view, i, count, work);

  T pivot = w[i];
  w[i] = 0;
  count = 0;
  work.members.take_all(i, [&](std::int64_t j) {
    const T x = w[j];
    w[j] = 0;
    columns[count] = static_cast<std::int32_t>(j);
    values[count] = x;
    count += static_cast<double>(magnitude(x)) > threshold;
  });
  if constexpr (pivoting) pivot = exchange_pivot(view, i, pivot, threshold, count, work);
  limited = limited || count > view.lfil;
  work.limited_rows += limited;
  if (!pivot_is_good(view.rules, pivot, measure.scale)) {
    pivot = repaired_pivot(view.rules, {i, row}, pivot, measure.scale, work);
  }
  const T inverse = T(1) / pivot;
  const double above = store_upper<pivoting>(view, i, count, inverse, work);
  work.bounds.include(below, above, static_cast<double>(inverse));
  return true;
}

}  // namespace echelon
