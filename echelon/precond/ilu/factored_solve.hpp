// SPDX-License-Identifier: BSD-3-Clause
// z = Q U⁻¹ L⁻¹ P r with factors of P A Q that are there: their sweeps, the plans of their threads, and the orders in which
// the user's rows and columns were eliminated. What every factorization of a block CSR matrix ends in.
#pragma once

#include <span>

#include "echelon/base/lent_scratch.hpp"
#include "echelon/factor/pivots/factor_bounds.hpp"
#include "echelon/factor/rows/triangles.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/schedule/rows/run_plan.hpp"
#include "echelon/sweep/iterated/iterated_triangles.hpp"
#include "echelon/sweep/rows/triangular_solve.hpp"

namespace echelon {

template <class T>
class FactoredSolve {
 public:
  Triangles<T> factors;  // values may change under a plan, patterns not

  /// Looks at the patterns only; to be called again when they change.
  void plan(SweepSchedule schedule, int team);

  /// Elimination position → user's block row, and column; empty means natural order. They must outlive the calls.
  struct Orders {
    std::span<const std::int32_t> rows, columns;
  };
  /// Sizes are checked. Several threads may call at once; one caller allocates nothing.
  void apply(const Vector<T>& r, Vector<T>& z, const Orders& orders) const;
  /// After new values: whether `apply` iterates, or sweeps exactly because that was asked for, is faster, or the guard
  /// foresees that the iteration diverges. The report gets the note and, for the last, a remark. Not to be moved afterwards.
  void choose(const TrisolveOptions& options, FactorReport& report);
  /// ‖(LU)⁻¹e‖∞ by exact sweeps, Inf when it is not finite.
  double inverse_growth();
  /// ‖(LU)⁻¹e‖∞·norm: a bound where `bounds`, which has |D⁻¹||U|e, and L⁻¹e say enough, otherwise by the upper sweep.
  double growth(FactorBounds bounds, double norm);

  const SweepPlan& lower_plan() const { return lower_plan_; }
  /// For a factorization by the lower plan: set-up, nobody applies meanwhile.
  SweepProgress& progress() { return scratch_.own().sweeps.progress; }
  /// The strict lower triangle; the upper one with its diagonal. In elimination order.
  BlockCsr<T> lower() const;
  BlockCsr<T> upper() const;

  /// Kernel, schedule, levels, fill ratio and the bytes of what is here.
  void describe(std::int64_t blocks_of_A, FactorReport& report) const;

 private:
  struct Scratch {
    typename TriangularSolve<T>::Scratch sweeps;
    Array<T> vector;  // the permuted right-hand side, and the growth estimate
  };
  void fit(Scratch& scratch) const;
  void sweep(const T* r, T* x, Scratch& scratch) const;
  void exact_sweep(const T* r, T* x, Scratch& scratch) const;
  double largest_in_scratch() const;
  double largest_scaled() const;

  SweepPlan lower_plan_, upper_plan_;
  TriangularSolve<T> sweeps_;
  bool iterates_ = false;
  mutable std::int64_t counted_bytes_ = 0;  // of the iteration, in the report
  IteratedTriangles<T> iteration_;
  LentScratch<Scratch> scratch_;
};

}  // namespace echelon
