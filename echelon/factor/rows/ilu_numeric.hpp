// SPDX-License-Identifier: BSD-3-Clause
// Numeric incomplete factorization of a range of rows, compiled for each SIMD target and block size and chosen at run
// time. Rows may be done in any order that respects the lower triangle's dependencies; the results are the same bits.
#pragma once

#include <cstdint>
#include <string>

#include "echelon/factor/pivots/factor_bounds.hpp"
#include "echelon/factor/pivots/pivot_rules.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

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
  PivotRules rules;
  /// ω of SSOR, 0 < ω < 2: no elimination, D is A's own by ω, L_ik = a_ik D_k⁻¹ and U A's upper part. 0: ILU.
  double omega = 0;
};

/// One thread's own; `small` holds 3 b².
template <class T>
struct RowWorkspace : PivotWorkspace<T> {
  T* dense = nullptr;    // block 1: n scalars
  T** target = nullptr;  // blocks: n, null between rows
  FactorBounds bounds;   // of U's rows
};

template <class T>
using FactorRange = void (*)(const FactorView<T>& view, std::int64_t begin, std::int64_t end, RowWorkspace<T>& work);

/// Narrow kernels (16-bit distances) exist for block 1.
template <class T>
FactorRange<T> factor_kernel(int block, bool narrow);
/// "rows, b=3", for reports.
std::string factor_kernel_name(int block, bool narrow);

}  // namespace echelon
