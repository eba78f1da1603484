// SPDX-License-Identifier: BSD-3-Clause
// ILU by thresholds and fixed-point sweeps, ParILUT (H. Anzt, E. Chow, J. Dongarra, SIAM J. Sci. Comput. 40, 2018), in the
// variables of factor/fixed_point/fixed_point.hpp: S holds L·D, D and U. A round, from S = A:
//   1. the pattern grows by every place that L·U fills, and one sweep on it gives the old places their update and the new
//      ones the residual (A − LU)_ij;
//   2. of each triangle only the largest |s_ij| |d_min(i,j)|^−½ (the entries of L D^½ and D^−½ U) stay, as many as the limit
//      allows; which one is the last is found exactly, and ties go or stay together, whichever is nearer to the limit;
//   3. one more sweep on what is left.
// Synchronous and exact, so the bits do not depend on threads. Symmetric: the lower triangle is the mirror of the upper one,
// to the bit. Scalars.
#pragma once

#include <vector>

#include "echelon/factor/fixed_point/fixed_point.hpp"
#include "echelon/factor/rows/symbolic.hpp"

namespace echelon {

/// Rows of S with their diagonal, columns ascending.
template <class T>
struct SweptRows {
  Array<std::int64_t> start;
  Array<std::int32_t> column;
  Array<T> value;
  Array<std::int64_t> diagonal;  // where it is in `column` and `value`
  Array<T> inverse_diagonal;

  std::int64_t rows() const { return start.size() - 1; }
  std::int64_t bytes() const {
    return start.bytes() + column.bytes() + value.bytes() + diagonal.bytes() + inverse_diagonal.bytes();
  }
};

/// For reports: host and GPU have one kernel each, for scalars.
inline constexpr const char* threshold_rounds_name = "rounds of fixed-point sweeps, b=1";

struct ThresholdLimits {
  std::int64_t lower = 0, upper = 0;  // entries beside the diagonal, at most
  int rounds = 0;
  bool symmetric = false;
};

struct ThresholdOutcome : FixedPointOutcome {
  double lower_threshold = 0, upper_threshold = 0;  // the smallest kept by the last selection
};

/// Bad pivots of the last sweep go to the log of the rules. `user_row` names rows in notes: null for natural order.
template <class T>
ThresholdOutcome threshold_rounds(const BlockCsrView<T>& A, const PivotRules& rules, const std::int32_t* user_row,
                                  const ThresholdLimits& limits, SweptRows<T>& S);

}  // namespace echelon
