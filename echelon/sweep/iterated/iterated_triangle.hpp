// SPDX-License-Identifier: BSD-3-Clause
// x ≈ T⁻¹ r by a fixed number of sweeps from a zero guess: the kind, the scaling and the measures of one triangle. Threads
// share the rows of every sweep; the bits do not depend on how many there are.
#pragma once

#include "echelon/factor/rows/ruiz_scaling.hpp"
#include "echelon/factor/trisolve_options.hpp"
#include "echelon/report/factor_report.hpp"
#include "echelon/sweep/iterated/iterated_sweep.hpp"

namespace echelon {

template <class T>
class IteratedTriangle {
 public:
  /// What a call works with: one call at a time uses it.
  struct Scratch {
    Array<T> iterates[2], right, total, rows;
    std::int64_t bytes() const {
      return iterates[0].bytes() + iterates[1].bytes() + right.bytes() + total.bytes() + rows.bytes();
    }
  };

  /// `triangle` must stay as it is while this is used; new values on the same pattern need a new call, which allocates
  /// nothing new. Measures, scales when asked, and lets the guard look: the note has it all, `objection()` its verdict.
  /// `scratch` gets its size.
  void prepare(const TriangleView<T>& triangle, const TrisolveOptions& options, bool scale, Scratch& scratch);
  /// Gives it the size that a call needs; changes nothing when it has it.
  void fit(Scratch& scratch) const;

  /// Why the iteration should not run, a clause; empty: it may.
  const std::string& objection() const { return objection_; }
  const TriangleNote& note() const { return note_; }
  /// The iterate after `note().sweeps` sweeps, in memory of the scratch. `r` must not be in it.
  const T* run(const T* r, Scratch& scratch) const;
  /// x_i = column scale⁻¹ times the iterate; for r in the caller's scale `run` already divided by the row scale.
  void finish(const T* iterate, T* x) const;

  /// Without any scratch.
  std::int64_t bytes() const { return values_.bytes() + inverse_diagonal_.bytes() + diagonal_.bytes(); }
  /// The triangle the sweeps read: the scaled one when it was scaled.
  TriangleView<T> swept() const;
  const T* diagonal() const { return diagonal_.empty() ? nullptr : diagonal_.data(); }
  const RuizScaling& scaling() const { return scaling_; }
  const TrisolveOptions& options() const { return options_; }
  bool is_scaled() const { return scaled_; }

 private:
  void scale(const Array<T>& diagonal);
  void look(bool single_precision, Scratch& scratch);
  double probe(std::uint64_t seed, double& largest, Scratch& scratch);
  IterationView<T> view(const T* r, T* total) const;

  TriangleView<T> triangle_{};
  TrisolveOptions options_;
  bool scaled_ = false;
  RuizScaling scaling_;
  Array<T> values_, inverse_diagonal_, diagonal_;
  IterationKernels<T> kernels_;
  int team_ = 1;
  TriangleNote note_;
  std::string objection_;
};

}  // namespace echelon
