// SPDX-License-Identifier: BSD-3-Clause
// The cold side of the row mathematics, on host and device: what is written down about a bad pivot, and what takes its
// place. `log` is whatever has add(position, note).
#pragma once

#include <limits>

#include "echelon/factor/pivots/pivot_rules.hpp"

namespace echelon::repair {

template <class T>
ECHELON_FN bool is_finite(T x) {
  return magnitude(x) <= std::numeric_limits<T>::max();
}

template <class T>
ECHELON_FN void copy_block(int scalars, const T* from, T* to) {
  for (int s = 0; s < scalars; ++s) to[s] = from[s];
}

template <class Log, class T>
ECHELON_FN void note(const PivotRules& rules, Log& log, PivotPlace place, T pivot, T scale, const PivotWorkspace<T>& work) {
  if (!is_finite(pivot) && work.row_nonfinite) return;  // nonfinite_row has said so
  PivotNote about;
  about.row = place.row;
  about.value = pivot;
  about.row_norm = scale;
  about.kind = !is_finite(pivot)               ? PivotNote::Kind::overflow
               : pivot == 0                    ? PivotNote::Kind::zero
               : (rules.positive && pivot < 0) ? PivotNote::Kind::negative
                                               : PivotNote::Kind::tiny;
  log.add(place.position, about);
}

template <class Log>
ECHELON_FN void note_nonfinite_row(Log& log, PivotPlace place) {
  PivotNote about;
  about.row = place.row;
  about.value = about.row_norm = std::numeric_limits<double>::quiet_NaN();
  about.kind = PivotNote::Kind::nonfinite_input;
  log.add(place.position, about);
}

/// What a bad pivot of a row with this scale becomes.
template <class T>
ECHELON_FN T substitute(const PivotRules& rules, T scale) {
  if (!(scale > 0) || !is_finite(scale)) return static_cast<T>(rules.zero_row_scale);
  const T size = rules.boost ? static_cast<T>(boost_size * static_cast<double>(scale)) : scale;
  return size > 0 ? size : scale;
}

template <class T>
ECHELON_FN void note_change(T change, PivotWorkspace<T>& work) {
  const double size = magnitude(static_cast<double>(change));
  if (size > work.change) work.change = size;
}

/// Smallest pivot of elimination without pivoting: positive exactly when a symmetric block is positive definite.
template <class T>
ECHELON_FN T smallest_definite_pivot(int b, T* A) {
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

/// As repaired_pivot of pivot_rules.hpp.
template <class Log, class T>
ECHELON_FN T pivot(const PivotRules& rules, Log& log, PivotPlace place, T met, T scale, PivotWorkspace<T>& work) {
  note(rules, log, place, met, scale, work);
  const T size = substitute(rules, scale);
  const T used = met < 0 && !rules.positive ? -size : size;
  if (rules.boost) note_change(used - met, work);
  return used;
}

/// As check_block_pivot of pivot_rules.hpp.
template <class Log, class T>
ECHELON_FN void block_pivot(const PivotRules& rules, Log& log, PivotPlace place, int b, T* D, T smallest, T scale,
                            PivotWorkspace<T>& work) {
  T* kept = work.small + b * b;
  T* trial = work.small;
  if (rules.positive) {
    copy_block(b * b, kept, trial);
    const T definite = smallest_definite_pivot(b, trial);
    if (pivot_is_good(rules, smallest, scale) && pivot_is_good(rules, definite, scale)) return;
    if (is_finite(smallest)) smallest = definite;
  }
  note(rules, log, place, smallest, scale, work);
  const T size = substitute(rules, scale);
  if (rules.boost) {
    copy_block(b * b, kept, trial);
    for (int c = 0; c < b; ++c) trial[c * b + c] += trial[c * b + c] < 0 ? -size : size;
    if (pivot_is_good(rules, invert<0>(b, trial, work.swaps), scale)) {
      copy_block(b * b, trial, D);
      note_change(size, work);
      return;
    }
  }
  for (int s = 0; s < b * b; ++s) D[s] = 0;
  for (int c = 0; c < b; ++c) {
    const T used = kept[c * b + c] < 0 && !rules.positive ? -size : size;
    if (rules.boost) note_change(used - kept[c * b + c], work);
    D[c * b + c] = T(1) / used;
  }
}

}  // namespace echelon::repair
