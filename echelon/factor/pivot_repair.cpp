// SPDX-License-Identifier: BSD-3-Clause
// The cold side of the row mathematics: what is written down about a bad pivot, and what takes its place.
#include <algorithm>
#include <cmath>

#include "echelon/factor/ilu_numeric.hpp"

namespace echelon {
namespace {

template <class T>
std::int64_t user_scalar_row(const FactorView<T>& view, std::int64_t i) {
  return (view.order ? view.order[i] : i) * view.A.block;
}

template <class T>
bool input_row_nonfinite(const FactorView<T>& view, std::int64_t i) {
  const std::int64_t row = view.order ? view.order[i] : i;
  const std::int64_t size = std::int64_t{view.A.block} * view.A.block;
  for (std::int64_t e = view.A.row_start[row] * size; e < view.A.row_start[row + 1] * size; ++e) {
    if (!std::isfinite(view.A.values[e])) return true;
  }
  return false;
}

template <class T>
void note(const FactorView<T>& view, std::int64_t i, T pivot, T scale) {
  if (!std::isfinite(pivot) && input_row_nonfinite(view, i)) return;  // check_input_row has said so
  PivotNote about;
  about.row = user_scalar_row(view, i);
  about.value = pivot;
  about.row_norm = scale;
  about.kind = !std::isfinite(pivot)          ? PivotNote::Kind::overflow
               : pivot == 0                   ? PivotNote::Kind::zero
               : (view.positive && pivot < 0) ? PivotNote::Kind::negative
                                              : PivotNote::Kind::tiny;
  view.log->add(i, about);
}

/// What a bad pivot of a row with this scale becomes.
template <class T>
T substitute(const FactorView<T>& view, T scale) {
  if (!(scale > 0) || !std::isfinite(scale)) return view.zero_row_scale;
  const T size = view.boost ? static_cast<T>(boost_size * static_cast<double>(scale)) : scale;
  return size > 0 ? size : scale;
}

template <class T>
void note_change(T change, RowWorkspace<T>& work) {
  if (std::abs(static_cast<double>(change)) > work.change) work.change = std::abs(static_cast<double>(change));
}

/// Smallest pivot of elimination without pivoting: positive exactly when a symmetric block is positive definite.
template <class T>
T smallest_definite_pivot(int b, T* A) {
  T smallest = A[0];
  for (int p = 0; p < b; ++p) {
    const T pivot = A[p * b + p];
    if (!(pivot >= smallest)) smallest = pivot;
    if (!(pivot > 0)) return smallest;
    for (int c = p + 1; c < b; ++c) {
      const T factor = A[c * b + p] / pivot;
      for (int r = p + 1; r < b; ++r) A[c * b + r] = fma(-factor, A[p * b + r], A[c * b + r]);
    }
  }
  return smallest;
}

}  // namespace

template <class T>
void check_input_row(const FactorView<T>& view, std::int64_t i) {
  if (!input_row_nonfinite(view, i)) return;
  PivotNote about;
  about.row = user_scalar_row(view, i);
  about.value = about.row_norm = std::numeric_limits<double>::quiet_NaN();
  about.kind = PivotNote::Kind::nonfinite_input;
  view.log->add(i, about);
}

template <class T>
T repaired_pivot(const FactorView<T>& view, std::int64_t i, T pivot, T scale, RowWorkspace<T>& work) {
  note(view, i, pivot, scale);
  const T size = substitute(view, scale);
  const T used = pivot < 0 && !view.positive ? -size : size;
  if (view.boost) note_change(used - pivot, work);
  return used;
}

template <class T>
void check_block_pivot(const FactorView<T>& view, std::int64_t i, T* D, T smallest, T scale, RowWorkspace<T>& work) {
  const int b = view.A.block;
  T* kept = work.small + b * b;
  T* trial = work.small;
  if (view.positive) {
    std::copy(kept, kept + b * b, trial);
    const T definite = smallest_definite_pivot(b, trial);
    if (pivot_is_good(view, smallest, scale) && pivot_is_good(view, definite, scale)) return;
    if (std::isfinite(smallest)) smallest = definite;
  }
  note(view, i, smallest, scale);
  const T size = substitute(view, scale);
  if (view.boost) {
    std::copy(kept, kept + b * b, trial);
    for (int c = 0; c < b; ++c) trial[c * b + c] += trial[c * b + c] < 0 ? -size : size;
    if (pivot_is_good(view, invert<0>(b, trial, work.swaps), scale)) {
      std::copy(trial, trial + b * b, D);
      note_change(size, work);
      return;
    }
  }
  std::fill(D, D + b * b, T(0));
  for (int c = 0; c < b; ++c) {
    const T used = kept[c * b + c] < 0 && !view.positive ? -size : size;
    if (view.boost) note_change(used - kept[c * b + c], work);
    D[c * b + c] = T(1) / used;
  }
}

#define ECHELON_INSTANTIATE(T)                                                              \
  template void check_input_row<T>(const FactorView<T>&, std::int64_t);                     \
  template T repaired_pivot<T>(const FactorView<T>&, std::int64_t, T, T, RowWorkspace<T>&); \
  template void check_block_pivot<T>(const FactorView<T>&, std::int64_t, T*, T, T, RowWorkspace<T>&);
ECHELON_INSTANTIATE(double)
ECHELON_INSTANTIATE(float)
#undef ECHELON_INSTANTIATE

}  // namespace echelon
