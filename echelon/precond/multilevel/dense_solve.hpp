// SPDX-License-Identifier: BSD-3-Clause
// The coarsest level: P Â Q = L U by complete pivoting, Â = S⁻¹ A S⁻¹ with powers of two in S, S² about the diagonal's
// magnitude. Where pivots end below 1e-12 of the first one the rest counts as zero: with Y and Z orthonormal bases of the
// null spaces of Âᵀ and Â, x = S⁻¹ (I − Z Z') Â⁻ (I − Y Y') S⁻¹ r is the solution on their complement, and symmetric when A
// is. FP64.
#pragma once

#include <cstdint>
#include <vector>

#include "echelon/base/lent_scratch.hpp"
#include "echelon/precond/multilevel/level.hpp"

namespace echelon {

/// The factors, apart from the precision of the vectors.
class DenseFactors {
 public:
  /// A of n rows, row after row. Returns what is wrong, a clause; empty when nothing is.
  std::string factor(std::int64_t n, const std::vector<double>& A);
  std::int64_t rows() const { return n_; }
  std::int64_t rank() const { return rank_; }
  /// x ← solution for the right side x; `work` has n numbers.
  void solve(double* x, double* work) const;
  std::int64_t bytes() const;

 private:
  void find_null_spaces();
  std::int64_t n_ = 0, rank_ = 0;
  std::vector<double> lu_, scale_, left_, right_;  // left_, right_: Y and Z, vector after vector
  std::vector<std::int32_t> row_, column_;         // position → row or column of A
};

template <class T>
class DenseSolve final : public CoarsestSolve<T> {
 public:
  /// The factors are not owned.
  explicit DenseSolve(const DenseFactors& factors);
  std::int64_t rows() const override { return factors_->rows(); }
  void solve(const Vector<T>& r, Vector<T>& x) const override;
  std::int64_t bytes() const override { return factors_->bytes(); }

 private:
  const DenseFactors* factors_;
  LentScratch<std::vector<double>> scratch_;
};

}  // namespace echelon
