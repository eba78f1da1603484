// SPDX-License-Identifier: BSD-3-Clause
// x = U⁻¹ (L⁻¹ r): both sweeps of a factorization, by the kernels that fit its patterns and the plans of its threads.
#pragma once

#include <string>

#include "echelon/factor/triangles.hpp"
#include "echelon/schedule/run_plan.hpp"
#include "echelon/sweep/triangular_sweep.hpp"

namespace echelon {

template <class T>
class TriangularSolve {
 public:
  TriangularSolve() = default;
  /// Looks at the patterns only. `threads` is the most that a plan will use.
  TriangularSolve(const Triangles<T>& factors, int threads);

  /// `r` may be `x`. One call at a time; nothing is allocated.
  void run(const Triangles<T>& factors, const SweepPlan& lower_plan, const SweepPlan& upper_plan, Progress& progress,
           const T* r, T* x) const;

  bool rows_go_together() const { return !lower_together_.empty() || !upper_together_.empty(); }
  /// "b=1", "generic b=9", …, as reports name it.
  std::string kernel_name(int block) const;
  std::int64_t bytes() const { return lower_together_.bytes() + upper_together_.bytes() + scratch_.bytes(); }

 private:
  Array<std::uint8_t> lower_together_, upper_together_;  // empty: rows one by one
  SweepKernels<T> kernels_;
  mutable Array<T> scratch_;  // generic blocks: a row a thread
};

}  // namespace echelon
