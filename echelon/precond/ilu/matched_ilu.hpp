// SPDX-License-Identifier: BSD-3-Clause
// ILU or ILUT of B = P R A C, with the row permutation P and the scales R, C of the maximum product matching: the diagonal
// of B is ±1 up to a factor two and no entry is larger, so matrices with a weak, zero or missing diagonal factor without
// repairs. The system itself stays as it is: z = C (LU)⁻¹ P R r approximates A⁻¹ r.
#pragma once

#include "echelon/base/lent_scratch.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/preconditioner.hpp"
#include "echelon/schedule/orders/weighted_matching.hpp"

namespace echelon {

/// B = P R A C and how it was made.
struct MatchedMatrix {
  WeightedMatching matching;
  BlockCsr<double> matrix;
};
/// Block size 1. Throws Error(structure) when A is structurally singular.
MatchedMatrix matched_matrix(const BlockCsr<double>& A);
/// B's report in the words of A: its order, and the rows of its pivots.
FactorReport report_of_matched(FactorReport report, const WeightedMatching& matching);

class MatchedIlu final : public Preconditioner<double> {
 public:
  using Factor = Ilu<double> (*)(const BlockCsr<double>& B, const IluOptions& options);
  /// As matched_matrix. `factor` is ilu or ilut.
  MatchedIlu(const BlockCsr<double>& A, const IluOptions& options, Factor factor = ilu<double>);
  void apply(const Vector<double>& r, Vector<double>& z) const override;
  /// Rows of bad pivots are A's.
  const FactorReport& report() const override { return report_; }

 private:
  MatchedIlu(MatchedMatrix matched, const IluOptions& options, Factor factor);

  WeightedMatching matching_;
  Ilu<double> ilu_;
  FactorReport report_;
  LentScratch<Vector<double>> scaled_;
};

}  // namespace echelon
