// SPDX-License-Identifier: BSD-3-Clause
// A preconditioner of the equilibrated matrix R⁻¹ A C⁻¹ (factor/rows/ruiz_scaling.hpp) for the system as it is:
// z = C⁻¹ M⁻¹ R⁻¹ r. A symmetric A has R = C, so M stays symmetric and CG stays possible. Pivots of rows of very different
// size are then judged, dropped and repaired on one scale.
#pragma once

#include <functional>
#include <memory>

#include "echelon/base/lent_scratch.hpp"
#include "echelon/factor/rows/ruiz_scaling.hpp"
#include "echelon/precond/preconditioner.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon {

class ScaledPreconditioner final : public Preconditioner<double> {
 public:
  using Make = std::function<std::unique_ptr<Preconditioner<double>>(const BlockCsr<double>& scaled)>;
  /// `make` gets the scaled matrix, which is gone afterwards.
  ScaledPreconditioner(const BlockCsr<double>& A, const Make& make);
  void apply(const Vector<double>& r, Vector<double>& z) const override;
  /// The inner one's, with a remark on the scaling and how far it converged.
  const FactorReport& report() const override { return report_; }
  const RuizScaling& scaling() const { return scaling_; }

 private:
  RuizScaling scaling_;
  std::unique_ptr<Preconditioner<double>> inner_;
  FactorReport report_;
  LentScratch<Vector<double>> right_;
};

}  // namespace echelon
