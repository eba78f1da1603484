// SPDX-License-Identifier: BSD-3-Clause
// Numeric incomplete factorization of a range of rows, compiled for each SIMD target and block size and chosen at run
// time. Rows may be done in any order that respects the lower triangle's dependencies; the results are the same bits.
#pragma once

#include <cstdint>
#include <limits>

#include "echelon/base/small_block.hpp"
#include "echelon/factor/breakdown.hpp"
#include "echelon/matrix/block_csr.hpp"

namespace echelon {

/// What a row needs: A in the user's numbering, the factors' patterns in elimination order, and the policy of the attempt.
template <class T>
struct FactorView {
  BlockCsrView<T> A;
  const std::int32_t* order;     // elimination order → user's block row; null when natural
  const std::int32_t* position;  // its inverse
  bool grown;                    // the factors' pattern is larger than A's
  const std::int64_t* lower_start;
  const std::int64_t* upper_start;  // by sweep position: row n−1 first
  const void* lower_distance;
  const void* upper_distance;
  T* lower_values;
  T* upper_values;
  T* inverse_diagonal;
  T zero_row_scale;  // what stands for the scale of a row of zeros: any entry of A, so that it scales with A
  double tolerance;
  double shift;
  bool boost;
  bool positive;
  PivotLog* log;
};

/// One thread's own. What it found is gathered after the threads have met.
template <class T>
struct RowWorkspace {
  T* dense = nullptr;    // block 1: n scalars
  T** target = nullptr;  // blocks: n, null between rows
  T* small = nullptr;    // blocks: 3 b²
  int* swaps = nullptr;  // blocks: b
  double norm = 0;       // largest row sum of |A|
  double change = 0;     // largest change of a diagonal entry
};

template <class T>
ECHELON_FN bool pivot_is_good(const FactorView<T>& view, T pivot, T scale) {
  const double size = static_cast<double>(magnitude(pivot));
  return size > view.tolerance * static_cast<double>(scale) && size <= static_cast<double>(std::numeric_limits<T>::max()) &&
         !(view.positive && pivot < 0);
}

/// Cold: row i of A holds NaN or Inf, or its sum overflows.
template <class T>
void check_input_row(const FactorView<T>& view, std::int64_t i);

template <class T>
ECHELON_FN void note_row_sum(const FactorView<T>& view, std::int64_t i, double sum, RowWorkspace<T>& work) {
  if (!(sum <= std::numeric_limits<double>::max())) {
    check_input_row(view, i);
  } else if (sum > work.norm) {
    work.norm = sum;
  }
}

/// a + shift·scale·sign(a)
template <class T>
ECHELON_FN T shifted(const FactorView<T>& view, T a, T scale, RowWorkspace<T>& work) {
  const double add = view.shift * static_cast<double>(scale);
  if (add > work.change) work.change = add;
  return a + static_cast<T>(a < 0 ? -add : add);
}

/// Cold: logs the pivot and returns what is used instead: ±boost·scale when boosting; otherwise ±scale, only so that the
/// rest of the log is about the matrix and not about Inf.
template <class T>
T repaired_pivot(const FactorView<T>& view, std::int64_t i, T pivot, T scale, RowWorkspace<T>& work);

/// Blocks: `D` is the inverse of the block kept in work.small + b², whose smallest pivot was `smallest`. Tests it (for IC
/// that the kept block is positive definite too), logs it when bad and then writes the inverse of what is used instead.
template <class T>
void check_block_pivot(const FactorView<T>& view, std::int64_t i, T* D, T smallest, T scale, RowWorkspace<T>& work);

template <class T>
using FactorRange = void (*)(const FactorView<T>& view, std::int64_t begin, std::int64_t end, RowWorkspace<T>& work);

/// Narrow kernels (16-bit distances) exist for block 1.
template <class T>
FactorRange<T> factor_kernel(int block, bool narrow);

}  // namespace echelon
