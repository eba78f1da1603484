// SPDX-License-Identifier: BSD-3-Clause
// The cold side of the row mathematics: what is written down about a bad pivot, and what takes its place.
#include "echelon/factor/pivot_rules.hpp"

#include <algorithm>
#include <cmath>

namespace echelon {
namespace {

template <class T>
void note(const PivotRules& rules, PivotPlace place, T pivot, T scale, const PivotWorkspace<T>& work) {
  if (!std::isfinite(pivot) && work.row_nonfinite) return;  // log_nonfinite_row has said so
  PivotNote about;
  about.row = place.row;
  about.value = pivot;
  about.row_norm = scale;
  about.kind = !std::isfinite(pivot)           ? PivotNote::Kind::overflow
               : pivot == 0                    ? PivotNote::Kind::zero
               : (rules.positive && pivot < 0) ? PivotNote::Kind::negative
                                               : PivotNote::Kind::tiny;
  rules.log->add(place.position, about);
}

/// What a bad pivot of a row with this scale becomes.
template <class T>
T substitute(const PivotRules& rules, T scale) {
  if (!(scale > 0) || !std::isfinite(scale)) return static_cast<T>(rules.zero_row_scale);
  const T size = rules.boost ? static_cast<T>(boost_size * static_cast<double>(scale)) : scale;
  return size > 0 ? size : scale;
}

template <class T>
void note_change(T change, PivotWorkspace<T>& work) {
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

void log_nonfinite_row(const PivotRules& rules, PivotPlace place) {
  PivotNote about;
  about.row = place.row;
  about.value = about.row_norm = std::numeric_limits<double>::quiet_NaN();
  about.kind = PivotNote::Kind::nonfinite_input;
  rules.log->add(place.position, about);
}

template <class T>
T repaired_pivot(const PivotRules& rules, PivotPlace place, T pivot, T scale, PivotWorkspace<T>& work) {
  note(rules, place, pivot, scale, work);
  const T size = substitute(rules, scale);
  const T used = pivot < 0 && !rules.positive ? -size : size;
  if (rules.boost) note_change(used - pivot, work);
  return used;
}

template <class T>
void check_block_pivot(const PivotRules& rules, PivotPlace place, int b, T* D, T smallest, T scale,
                       PivotWorkspace<T>& work) {
  T* kept = work.small + b * b;
  T* trial = work.small;
  if (rules.positive) {
    std::copy(kept, kept + b * b, trial);
    const T definite = smallest_definite_pivot(b, trial);
    if (pivot_is_good(rules, smallest, scale) && pivot_is_good(rules, definite, scale)) return;
    if (std::isfinite(smallest)) smallest = definite;
  }
  note(rules, place, smallest, scale, work);
  const T size = substitute(rules, scale);
  if (rules.boost) {
    std::copy(kept, kept + b * b, trial);
    for (int c = 0; c < b; ++c) trial[c * b + c] += trial[c * b + c] < 0 ? -size : size;
    if (pivot_is_good(rules, invert<0>(b, trial, work.swaps), scale)) {
      std::copy(trial, trial + b * b, D);
      note_change(size, work);
      return;
    }
  }
  std::fill(D, D + b * b, T(0));
  for (int c = 0; c < b; ++c) {
    const T used = kept[c * b + c] < 0 && !rules.positive ? -size : size;
    if (rules.boost) note_change(used - kept[c * b + c], work);
    D[c * b + c] = T(1) / used;
  }
}

#define ECHELON_INSTANTIATE(T)                                                           \
  template T repaired_pivot<T>(const PivotRules&, PivotPlace, T, T, PivotWorkspace<T>&); \
  template void check_block_pivot<T>(const PivotRules&, PivotPlace, int, T*, T, T, PivotWorkspace<T>&);
ECHELON_INSTANTIATE(double)
ECHELON_INSTANTIATE(float)
#undef ECHELON_INSTANTIATE

}  // namespace echelon
