// SPDX-License-Identifier: BSD-3-Clause
// A row of ILUT in b×b blocks: the mathematics of ilut_row.inl with the Frobenius norm for | |. The row's blocks lie in
// order of appearance, and `slot` says where a column has its own, since n blocks a thread would be far too many.
#pragma once

#include "echelon/factor/ilut/ilut_row.inl"

namespace echelon {

/// ‖unit·W‖_F
template <int B, class T>
ECHELON_FN double block_norm(int b, const T* W, double unit) {
  const int n = extent<B>(b) * extent<B>(b);
  double squares = 0;
  for (int e = 0; e < n; ++e) {
    const double a = unit * static_cast<double>(W[e]);
    squares = fma(a, a, squares);
  }
  return __builtin_sqrt(squares);
}

/// The block of column j, zero when it is new.
template <int B, class T>
ECHELON_FN T* block_of(const IlutView<T>& view, std::int64_t i, std::int32_t j, std::int64_t& appeared,
                       IlutWorkspace<T>& work) {
  const std::int64_t bb = std::int64_t{extent<B>(view.A.block)} * extent<B>(view.A.block);
  std::int64_t slot = work.slot[j];
  if (slot < 0) {
    slot = appeared++;
    make_room(work.appeared, appeared);
    make_room(work.blocks, appeared * bb);
    work.slot[j] = static_cast<std::int32_t>(slot);
    work.appeared[static_cast<std::size_t>(slot)] = j;
    if (j < i) work.members.insert(j);
    T* block = work.blocks.data() + slot * bb;
    for (std::int64_t e = 0; e < bb; ++e) block[e] = 0;
  }
  return work.blocks.data() + slot * bb;
}

/// `kept` members of the set, ascending from `from` → their columns and blocks.
template <int B, class T>
ECHELON_FN void take_blocks(int b, std::int64_t from, std::int64_t kept, std::int32_t* columns, T* values,
                            IlutWorkspace<T>& work) {
  const std::int64_t bb = std::int64_t{extent<B>(b)} * extent<B>(b);
  std::int64_t j = from;
  for (std::int64_t to = 0; to < kept; ++to) {
    j = work.members.take_first(j);
    columns[to] = static_cast<std::int32_t>(j);
    const T* block = work.blocks.data() + work.slot[j] * bb;
    for (std::int64_t e = 0; e < bb; ++e) values[to * bb + e] = block[e];
  }
}

/// The candidates → the members that stay; true when they were too many.
template <class T>
ECHELON_FN bool choose_members(const IlutView<T>& view, std::int64_t count, int side, IlutWorkspace<T>& work) {
  const bool limited = count > view.lfil;
  const SizeCut cut = limited ? cut_at(view.lfil, count, side, work) : SizeCut{};
  for (std::int64_t c = 0; c < count; ++c) {
    if (cut.keeps(work.sizes[c], work.columns[c])) work.members.insert(work.columns[c]);
  }
  return limited;
}

template <class T>
ECHELON_FN void add_candidate(std::int32_t column, double size, std::int64_t& count, IlutWorkspace<T>& work) {
  work.columns[count] = column;
  work.sizes[count] = sortable(size);
  ++count;
}

template <int B, class T>
ECHELON_FN bool ilut_block_row(const IlutView<T>& view, std::int64_t i, IlutWorkspace<T>& work) {
  const int b = extent<B>(view.A.block);
  const std::int64_t bb = std::int64_t{b} * b;
  constexpr std::int64_t scalar_bytes = sizeof(T), index_bytes = sizeof(std::int32_t);
  const std::int64_t row = view.order ? view.order[i] : i;
  const auto measure = measure_row<B>(view, i, work);
  std::int64_t appeared = 0;
  T* diagonal = block_of<B>(view, i, static_cast<std::int32_t>(i), appeared, work);  // slot 0
  for (std::int64_t p = view.A.row_start[row]; p < view.A.row_start[row + 1]; ++p) {
    T* to = block_of<B>(view, i, static_cast<std::int32_t>(eliminated_column(view, p)), appeared, work);
    for (std::int64_t e = 0; e < bb; ++e) to[e] = view.A.values[p * bb + e];
  }
  diagonal = work.blocks.data();
  if (view.rules.shift > 0) {
    for (int c = 0; c < b; ++c) diagonal[c * b + c] = shifted(view.rules, diagonal[c * b + c], measure.scale, work);
  }

  T fixed[B > 0 ? B * B : 1];
  T* l = B > 0 ? fixed : work.small;
  std::int64_t count = 0;
  for (std::int64_t k = work.members.take_first(0); k >= 0; k = work.members.take_first(k)) {
    T* w = work.blocks.data() + work.slot[k] * bb;
    if (!(block_norm<B>(b, w, measure.unit) > measure.threshold)) continue;
    std::byte* at = finished_row(view, k);
    if (!at) return false;
    const UpperRow<T> U(at, bb);
    block_product<B>(b, w, U.inverse, l);
    for (std::int64_t e = 0; e < bb; ++e) w[e] = l[e];
    add_candidate(static_cast<std::int32_t>(k), block_norm<B>(b, l, 1), count, work);
    const std::int64_t entries = U.count();
    work.operations += entries * bb * b;
    for (std::int64_t q = 0; q < entries; ++q) {
      subtract_block_product<B>(b, l, U.values + q * bb, block_of<B>(view, i, U.column[q], appeared, work));
    }
  }
  bool limited = choose_members(view, count, of_lower, work);
  std::int64_t kept = count < view.lfil ? count : view.lfil;
  T* values = reinterpret_cast<T*>(work.lower.take(kept * (bb * scalar_bytes + index_bytes)));
  auto* columns = reinterpret_cast<std::int32_t*>(values + kept * bb);
  take_blocks<B>(b, 0, kept, columns, values, work);
  view.rows[i].lower_values = values;
  view.rows[i].lower_count = static_cast<std::int32_t>(kept);

  count = 0;
  for (std::int64_t a = 0; a < appeared; ++a) {
    const std::int32_t j = work.appeared[static_cast<std::size_t>(a)];
    if (j <= i) continue;
    const double size = block_norm<B>(b, work.blocks.data() + a * bb, measure.unit);
    if (size > measure.threshold) add_candidate(j, size, count, work);
  }
  limited = choose_members(view, count, of_upper, work) || limited;
  work.limited_rows += limited;
  kept = count < view.lfil ? count : view.lfil;
  std::byte* at = work.upper.take(UpperRow<T>::bytes(kept, bb, 0));
  const UpperRow<T> U(at, kept, bb);
  view.rows[i].upper_count = static_cast<std::int32_t>(kept);
  U.lengths[0] = static_cast<std::int32_t>(kept);
  U.lengths[1] = 0;
  take_blocks<B>(b, i, kept, U.column, U.values, work);
  for (std::int64_t e = 0; e < bb; ++e) U.inverse[e] = work.blocks[static_cast<std::size_t>(e)];
  for (std::int64_t a = 0; a < appeared; ++a) work.slot[work.appeared[static_cast<std::size_t>(a)]] = -1;
  invert_pivot<B>(view.rules, {i, row * b}, b, U.inverse, measure.scale, work);
  view.upper[i].store(at, std::memory_order_release);
  return true;
}

}  // namespace echelon
