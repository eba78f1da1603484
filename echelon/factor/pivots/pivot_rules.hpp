// SPDX-License-Identifier: BSD-3-Clause
// The pivot's part of a row's mathematics, the same for every factorization and matrix format. A pivot is good when
// tolerance·max_j |a_ij| < |u_ii| < ∞ (and u_ii > 0 for IC); the shift adds shift·max_j |a_ij| to the diagonal, away from
// zero. Tests are inlined in the rows; what follows a bad pivot is cold and lives in pivot_rules.cpp.
#pragma once

#include <cstdint>
#include <limits>

#include "echelon/base/small_block.hpp"
#include "echelon/factor/pivots/breakdown.hpp"

namespace echelon {

/// One attempt's rules, as the rows take them.
struct PivotRules {
  double tolerance = 0;
  double shift = 0;
  bool boost = false;
  bool positive = false;
  double zero_row_scale = 1;  // stands for the scale of a row of zeros: an entry of A, so that it scales with A
  PivotLog* log = nullptr;
};

/// Where a row stands in the elimination, and its first scalar row in the user's numbering.
struct PivotPlace {
  std::int64_t position, row;
};

/// One thread's own. What it found is gathered after the threads have met.
template <class T>
struct PivotWorkspace {
  T* small = nullptr;          // blocks: 2 b²
  int* swaps = nullptr;        // blocks: b
  double norm = 0;             // largest row sum of |A|
  double change = 0;           // largest change of a diagonal entry
  bool row_nonfinite = false;  // the current row of A holds NaN or Inf: its pivot says nothing more
};

/// Cold: notes that the row of A holds NaN or Inf.
void log_nonfinite_row(const PivotRules& rules, PivotPlace place);

/// `has_nonfinite` looks through the row of A; asked only when its sum is not finite, since finite values may overflow too.
template <class T, class Scan>
ECHELON_FN void note_row_sum(const PivotRules& rules, PivotPlace place, double sum, PivotWorkspace<T>& work,
                             const Scan& has_nonfinite) {
  work.row_nonfinite = false;
  if (!(sum <= std::numeric_limits<double>::max())) {
    work.row_nonfinite = has_nonfinite();
    if (work.row_nonfinite) log_nonfinite_row(rules, place);
  } else if (sum > work.norm) {
    work.norm = sum;
  }
}

template <class T>
ECHELON_FN bool pivot_is_good(const PivotRules& rules, T pivot, T scale) {
  const double size = static_cast<double>(magnitude(pivot));
  return size > rules.tolerance * static_cast<double>(scale) && size <= static_cast<double>(std::numeric_limits<T>::max()) &&
         !(rules.positive && pivot < 0);
}

/// a + shift·scale·sign(a)
template <class T>
ECHELON_FN T shifted(const PivotRules& rules, T a, T scale, PivotWorkspace<T>& work) {
  const double add = rules.shift * static_cast<double>(scale);
  if (add > work.change) work.change = add;
  return a + static_cast<T>(a < 0 ? -add : add);
}

/// Cold: logs the pivot and returns what is used instead: ±boost·scale when boosting; otherwise ±scale, only so that the
/// rest of the log is about the matrix and not about Inf.
template <class T>
T repaired_pivot(const PivotRules& rules, PivotPlace place, T pivot, T scale, PivotWorkspace<T>& work);

/// Blocks: `D` is the inverse of the block kept in work.small + b², whose smallest pivot was `smallest`. Tests it (for IC
/// that the kept block is positive definite too), logs it when bad and then writes the inverse of what is used instead.
template <class T>
void check_block_pivot(const PivotRules& rules, PivotPlace place, int b, T* D, T smallest, T scale, PivotWorkspace<T>& work);

/// D ← D⁻¹, or the inverse of what takes its place.
template <int B, class T>
ECHELON_FN void invert_pivot(const PivotRules& rules, PivotPlace place, int b, T* D, T scale, PivotWorkspace<T>& work) {
  const int n = extent<B>(b);
  if (n == 1) {
    T pivot = D[0];
    if (!pivot_is_good(rules, pivot, scale)) pivot = repaired_pivot(rules, place, pivot, scale, work);
    D[0] = T(1) / pivot;
    return;
  }
  T* kept = work.small + n * n;
  for (int e = 0; e < n * n; ++e) kept[e] = D[e];
  const T smallest = invert<B>(b, D, work.swaps);
  if (!pivot_is_good(rules, smallest, scale) || rules.positive) check_block_pivot(rules, place, b, D, smallest, scale, work);
}

}  // namespace echelon
