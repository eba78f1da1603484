// SPDX-License-Identifier: BSD-3-Clause
// Factors of ILU(0) in diagonal block rows: L and U in the matrix' pattern, D⁻¹ by position; one attempt at a time, for the
// breakdown policy (factor/pivots/breakdown.hpp). Kept in FP32 under FP64 when asked: U times a power of two s near 1/‖A‖
// and D⁻¹ divided by it, so that all are of size 1 (exact); a sweep with L then takes s·r.
#pragma once

#include <memory>
#include <vector>

#include "echelon/base/stored.hpp"
#include "echelon/factor/dbsr/dbsr_ilu.hpp"
#include "echelon/matrix/dbsr/dbsr_matrix.hpp"

namespace echelon {

template <class T>
class DbsrFactors {
 public:
  /// Pattern and lists of products; the values come with `attempt`.
  DbsrFactors(std::shared_ptr<const BlockColouring> order, std::shared_ptr<const DbsrPattern> pattern);

  /// Factors A, of that pattern, by `rules`; how A was changed goes to their log. Allocates nothing, but after `narrow` the
  /// wide factors again.
  void attempt(const DbsrMatrix<T>& A, PivotRules rules);
  /// ‖A‖∞ and a bound of ‖(LU)⁻¹‖∞ of the last attempt; the latter infinite where rows say too little.
  double norm() const { return norm_; }
  double inverse_bound() const { return bounds_.of_inverse(); }
  /// Rounds the factors to FP32; returns how many finite values that cannot hold, and then keeps them as they are.
  std::int64_t narrow();

  /// What sweeps read.
  Stored stored() const { return narrow_lower_.empty() ? own_kind : Stored::fp32; }
  DbsrTriangleView lower() const;
  DbsrTriangleView upper() const;
  const void* inverse() const;
  T r_scale() const { return scale_; }
  std::int64_t bytes() const;
  std::int64_t operations() const { return plan_.operations(); }

 private:
  static constexpr Stored own_kind = sizeof(T) == 8 ? Stored::fp64 : Stored::fp32;
  void make_room();
  DbsrTriangleView triangle(const DbsrPattern::Triangle& t, const Array<T>& wide, const Array<float>& narrow) const;

  std::shared_ptr<const BlockColouring> order_;
  std::shared_ptr<const DbsrPattern> pattern_;
  DbsrPlan plan_;
  Array<T> lower_, upper_, inverse_;  // triangles with a block of zeros at either end
  Array<float> narrow_lower_, narrow_upper_, narrow_inverse_;
  Array<T> rows_;
  std::vector<DbsrFactorWorkspace<T>> workspaces_;
  FactorBounds bounds_;
  double norm_ = 0;
  T scale_ = 1;
};

}  // namespace echelon
