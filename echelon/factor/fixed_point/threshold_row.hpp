// SPDX-License-Identifier: BSD-3-Clause
// One row of a sweep that may grow the pattern, compiled for each SIMD target. Private to threshold_rounds.
#pragma once

#include "echelon/factor/fixed_point/threshold_rounds.hpp"

namespace echelon {

template <class T>
struct ThresholdView {
  BlockCsrView<T> A;
  const std::int64_t* start;
  const std::int32_t* column;
  const T* value;
  const std::int64_t* diagonal;
  const T* inverse_diagonal;
  bool grow;
};

/// One thread's own: lines of n. `mark` holds row + 1 where a column belongs to the row.
template <class T>
struct ThresholdWorkspace : PivotWorkspace<T> {
  T* dense = nullptr;
  std::int32_t* mark = nullptr;
  std::int32_t* column = nullptr;  // of the row, in no order when it grew
};

/// dense ← a_i − Σ_k s_ik d_k⁻¹ s_k on the row's columns, how many there are is given back.
template <class T>
using ThresholdRow = std::int64_t (*)(const ThresholdView<T>& view, std::int64_t i, ThresholdWorkspace<T>& work);
template <class T>
ThresholdRow<T> threshold_row();

}  // namespace echelon
