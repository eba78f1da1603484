// SPDX-License-Identifier: BSD-3-Clause
// One row of ILUT (Saad 1994), IKJ with a dual threshold. With w the row of A, τ_i = drop·‖a_i‖₂, k ascending over what
// stands left of the diagonal, fill included:
//   |w_k| ≤ τ_i: dropped, before it is divided, so that (LU − A)_ik changes by w_k and nothing else does;
//   otherwise L_ik = w_k D_k⁻¹, w_j ← w_j − L_ik U_kj for j in U(k), ascending.
// Then right of the diagonal |w_j| ≤ τ_i is dropped, of L and of U the lfil largest stay, and D_i⁻¹ is taken. The diagonal
// is never dropped. Blocks: | | is the Frobenius norm, ‖a_i‖ that of the block row.
// Pivoting (block 1): the largest w_j right of the diagonal takes its place when pivoting·|w_j| > |w_i|.
#pragma once

#include "echelon/factor/ilut_cut.inl"

namespace echelon {

template <class List>
ECHELON_FN void make_room(List& list, std::int64_t size) {
  if (static_cast<std::int64_t>(list.size()) < size) list.resize(static_cast<std::size_t>(2 * size));
}

/// False when row k will never be there.
template <class T>
ECHELON_FN bool wait_for_row(const IlutView<T>& view, std::int64_t k) {
  if (!view.done) return true;
  const auto& flag = view.done->flags[static_cast<std::size_t>(k)];
  if (flag.load(std::memory_order_acquire) != 0) return true;
  return view.done->wait_for(k);
}

template <class T>
ECHELON_FN void publish_row(const IlutView<T>& view, std::int64_t i) {
  if (view.done) view.done->flags[static_cast<std::size_t>(i)].store(1, std::memory_order_release);
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
  for (std::int64_t e = begin; e < end; ++e) {
    const T size = magnitude(view.A.values[e]);
    scale = size > scale ? size : scale;
  }
  const double unit = power_of_two_near_inverse(static_cast<double>(scale));
  double squares = 0, sum = 0;
  for (std::int64_t e = begin; e < end; ++e) {
    const double a = unit * static_cast<double>(view.A.values[e]);
    squares = fma(a, a, squares);
  }
  for (int r = 0; r < b; ++r) {
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

/// Of the bits: shorter than a comparison, which must mind NaN.
ECHELON_FN bool is_zero(double x) { return std::bit_cast<std::uint64_t>(x) << 1 == 0; }
ECHELON_FN bool is_zero(float x) { return std::bit_cast<std::uint32_t>(x) << 1 == 0; }

/// w ← w − l·U(k); columns that were zero before are noted, one that cancels and comes again twice.
template <bool pivoting, class T>
ECHELON_FN void eliminate(const IlutView<T>& view, std::int64_t i, std::int64_t k, T l, std::int64_t& appeared,
                          IlutWorkspace<T>& work) {
  const StoredRow<T> U = view.upper[k];
  T* w = work.dense;
  std::int32_t* fresh = work.fresh.data();
  std::int64_t count = 0;
  for (std::int64_t q = 0; q < U.count; ++q) {
    const std::int32_t j = pivoting ? view.position[U.column[q]] : U.column[q];
    const T before = w[j];
    w[j] = fma(-l, U.values[q], before);
    fresh[count] = j;
    count += is_zero(before);
  }
  make_room(work.appeared, appeared + count);
  std::int32_t* right = work.appeared.data();
  for (std::int64_t f = 0; f < count; ++f) {
    const std::int32_t j = fresh[f];
    right[appeared] = j;
    appeared += j > i;
    if (j < i) {
      work.members.insert(j);
      __builtin_prefetch(view.upper + j);
    }
  }
}

/// Candidates with ascending columns → the row of L.
template <class T>
ECHELON_FN void store_lower(const IlutView<T>& view, std::int64_t i, std::int64_t count, const SizeCut& cut,
                            IlutWorkspace<T>& work) {
  const std::int64_t kept = count < view.lfil ? count : view.lfil;
  const auto place = work.store.take(kept + 1, 1);  // one more: what is not kept is written and left behind
  const std::int32_t* columns = work.columns.data();
  const T* values = work.values.data();
  const double* sizes = work.sizes.data();
  std::int64_t to = 0;
  for (std::int64_t c = 0; c < count; ++c) {
    place.column[to] = columns[c];
    place.values[to] = values[c];
    to += cut.keeps(sizes[c], columns[c]);
  }
  view.lower[i] = {place.column, place.values, kept};
}

/// Candidates in any order → the row of U, sorted: few by their rank, many by the set's bits.
template <bool pivoting, class T>
ECHELON_FN void store_upper(const IlutView<T>& view, std::int64_t i, std::int64_t count, const SizeCut& cut,
                            IlutWorkspace<T>& work) {
  std::int32_t* columns = work.kept_columns.data();
  T* values = work.kept_values.data();
  std::int64_t kept = 0;
  for (std::int64_t c = 0; c < count; ++c) {
    columns[kept] = work.columns[c];
    values[kept] = work.values[c];
    kept += cut.keeps(work.sizes[c], work.columns[c]);
  }
  const auto place = work.store.take(kept, 1);
  const auto stored = [&](std::int64_t j) { return pivoting ? view.column_at[j] : static_cast<std::int32_t>(j); };
  if (kept <= few) {
    const std::int64_t padded = (kept + 15) / 16 * 16;
    for (std::int64_t e = kept; e < padded; ++e) columns[e] = std::numeric_limits<std::int32_t>::max();
    for (std::int64_t e = 0; e < kept; ++e) {
      const std::int32_t column = columns[e];
      std::int32_t rank = 0;
      for (std::int64_t f = 0; f < padded; ++f) rank += columns[f] < column;
      place.column[rank] = stored(column);
      place.values[rank] = values[e];
    }
  } else {
    T* w = work.dense;
    for (std::int64_t e = 0; e < kept; ++e) {
      w[columns[e]] = values[e];
      work.members.insert(columns[e]);
    }
    std::int64_t j = i;
    for (std::int64_t to = 0; to < kept; ++to) {
      j = work.members.take_first(j);
      place.column[to] = stored(j);
      place.values[to] = w[j];
      w[j] = 0;
    }
  }
  view.upper[i] = {place.column, place.values, kept};
}

/// Candidates right of the diagonal: `largest` of them changes places with the diagonal when it is much larger.
template <class T>
ECHELON_FN T exchange_pivot(const IlutView<T>& view, std::int64_t i, T pivot, double threshold, std::int64_t& count,
                            IlutWorkspace<T>& work) {
  std::int64_t at = 0;
  for (std::int64_t c = 1; c < count; ++c) {
    const bool same = work.sizes[c] == work.sizes[at];
    if (work.sizes[c] > work.sizes[at] || (same && work.columns[c] < work.columns[at])) at = c;
  }
  const auto size = static_cast<double>(magnitude(pivot));
  if (count == 0 || !(view.pivoting * work.sizes[at] > size)) return pivot;
  const T taken = work.values[at];
  const std::int32_t j = work.columns[at], here = view.column_at[i], there = view.column_at[j];
  view.column_at[i] = there;
  view.column_at[j] = here;
  view.position[there] = static_cast<std::int32_t>(i);
  view.position[here] = j;
  ++work.swaps_made;
  if (size > threshold) {
    work.values[at] = pivot;
    work.sizes[at] = size;
  } else {
    --count;
    work.values[at] = work.values[count];
    work.sizes[at] = work.sizes[count];
    work.columns[at] = work.columns[count];
  }
  return taken;
}

template <bool pivoting, class T>
ECHELON_FN bool ilut_scalar_row(const IlutView<T>& view, std::int64_t i, IlutWorkspace<T>& work) {
  T* w = work.dense;
  const std::int64_t row = view.order ? view.order[i] : i;
  const auto measure = measure_row<1>(view, i, work);
  const double threshold = measure.threshold / measure.unit;
  const std::int64_t begin = view.A.row_start[row], end = view.A.row_start[row + 1];
  make_room(work.appeared, end - begin);
  std::int64_t appeared = 0;
  for (std::int64_t p = begin; p < end; ++p) {
    const std::int64_t j = eliminated_column(view, p);
    w[j] = view.A.values[p];
    if (j < i) {
      work.members.insert(j);
      __builtin_prefetch(view.upper + j);
    }
    if (j > i) work.appeared[static_cast<std::size_t>(appeared++)] = static_cast<std::int32_t>(j);
  }
  if (view.rules.shift > 0) w[i] = shifted(view.rules, w[i], measure.scale, work);

  std::int64_t count = 0;
  for (std::int64_t k = work.members.take_first(0); k >= 0; k = work.members.take_first(k)) {
    const T x = w[k];
    w[k] = 0;
    if (!(static_cast<double>(magnitude(x)) > threshold)) continue;
    if (!wait_for_row(view, k)) return false;
    const T l = x * view.inverse_diagonal[k];
    work.columns[count] = static_cast<std::int32_t>(k);
    work.values[count] = l;
    work.sizes[count] = sortable(static_cast<double>(magnitude(l)));
    ++count;
    eliminate<pivoting>(view, i, k, l, appeared, work);
  }
  bool limited = count > view.lfil;
  store_lower(view, i, count, limited ? cut_at(view.lfil, count, work) : SizeCut{}, work);

  T pivot = w[i];
  w[i] = 0;
  const std::int32_t* right = work.appeared.data();
  count = 0;
  for (std::int64_t a = 0; a < appeared; ++a) {
    const std::int32_t j = right[a];
    const T x = w[j];
    const auto size = static_cast<double>(magnitude(x));
    w[j] = 0;
    work.columns[count] = j;
    work.values[count] = x;
    work.sizes[count] = size;
    count += size > threshold;
  }
  if constexpr (pivoting) pivot = exchange_pivot(view, i, pivot, threshold, count, work);
  const bool limited_above = count > view.lfil;
  store_upper<pivoting>(view, i, count, limited_above ? cut_at(view.lfil, count, work) : SizeCut{}, work);
  work.limited_rows += limited || limited_above;

  if (!pivot_is_good(view.rules, pivot, measure.scale)) {
    pivot = repaired_pivot(view.rules, {i, row}, pivot, measure.scale, work);
  }
  view.inverse_diagonal[i] = T(1) / pivot;
  return true;
}

}  // namespace echelon
