// SPDX-License-Identifier: BSD-3-Clause
// ILU(0) in diagonal block rows, bsize rows at a time, colour by colour (algorithm 4 of X. Yang et al., 2024, repaired). For
// lane l of a block row, its blocks q over L, D and U in ascending columns, k_p the rows that block p of L leads to:
//   w_q = a_q − Σ_p L_p U_r  over p ascending, r the block of U(k_p) whose column is q's;   L_q = mask(w_q) · D⁻¹[k_q],
//   D⁻¹ = 1/w,   U_q = mask(w_q).
// A shifted p meets two block rows, each in its part of the lanes: it counts as two factors with zeros elsewhere. Products
// that meet no entry are fill in padding and go with the mask; D⁻¹ is 0 in padding, so nothing there is divided. Which
// products a block has is found once (DbsrPlan).
// Bits: those of the sequential elimination of the permuted matrix. Bytes a stored block: 16·bsize.
#pragma once

#include <cstdint>
#include <vector>

#include "echelon/base/array.hpp"
#include "echelon/factor/pivots/factor_bounds.hpp"
#include "echelon/factor/pivots/pivot_rules.hpp"
#include "echelon/matrix/dbsr/dbsr_matrix.hpp"

namespace echelon {

/// The products of every block row: for each of its blocks q a count and as many pairs (factor, r). Factors are the blocks
/// of L in order, a shifted one twice; r counts in U of the block row that the factor meets. Rows that look the same share a
/// list.
class DbsrPlan {
 public:
  DbsrPlan() = default;
  /// Throws Error(bad_argument) for a block row of more than 32767 blocks.
  DbsrPlan(const BlockColouring& order, const DbsrPattern& pattern);
  const std::uint16_t* words() const { return words_.data(); }
  const std::int32_t* start() const { return start_.data(); }  // by block row
  /// The most blocks a block row has, its diagonal one of them.
  std::int64_t longest_row() const { return longest_row_; }
  /// Multiply-adds of one factorization, by lanes.
  std::int64_t operations() const { return operations_; }
  std::int64_t bytes() const { return words_.bytes() + start_.bytes(); }

 private:
  Array<std::uint16_t> words_;
  Array<std::int32_t> start_;
  std::int64_t longest_row_ = 0, operations_ = 0;
};

template <class T>
struct DbsrFactorView {
  DbsrView<T> A;
  const std::uint64_t *lower_lanes, *upper_lanes;
  const std::int32_t* point;
  const std::uint16_t* plan;
  const std::int32_t* plan_start;
  T *lower, *upper, *inverse;
  PivotRules rules;
};

/// One thread's own, gathered after the threads have met.
template <class T>
struct DbsrFactorWorkspace : PivotWorkspace<T> {
  T* factors = nullptr;       // 2 · longest_row · bsize
  std::vector<const T*> met;  // where U of the block row begins that a factor meets, moved to its lanes
  FactorBounds bounds;
};

/// Block rows [begin, end), of one colour and of whole groups.
template <class T>
using DbsrFactorKernel = void (*)(const DbsrFactorView<T>& view, std::int64_t begin, std::int64_t end,
                                  DbsrFactorWorkspace<T>& own);
/// bsize 1, 2, 4 … 64.
template <class T>
DbsrFactorKernel<T> dbsr_factor_kernel(int bsize);

}  // namespace echelon
