// SPDX-License-Identifier: BSD-3-Clause
// L⁻¹ r and U⁻¹ x: the sweeps of a factorization, by the kernels that fit its patterns and the plans of its threads.
#pragma once

#include <string>

#include "echelon/factor/rows/triangles.hpp"
#include "echelon/schedule/rows/run_plan.hpp"
#include "echelon/sweep/rows/triangular_sweep.hpp"

namespace echelon {

template <class T>
class TriangularSolve {
 public:
  TriangularSolve() = default;
  /// Looks at the patterns only. `threads` is the most that a plan will use.
  TriangularSolve(const Triangles<T>& factors, int threads);

  /// What a call works with: one call at a time uses it.
  struct Scratch {
    SweepProgress progress{0};
    Array<T> rows;  // generic blocks: a row a thread
    std::int64_t bytes() const { return rows.bytes(); }
  };
  /// Gives it the size of this solve; changes nothing when it has it.
  void fit(Scratch& scratch) const;

  /// x = L⁻¹ r; `r` may be `x`. Nothing is allocated.
  void lower(const Triangles<T>& factors, const SweepPlan& plan, Scratch& scratch, const T* r, T* x) const;
  /// x ← U⁻¹ x.
  void upper(const Triangles<T>& factors, const SweepPlan& plan, Scratch& scratch, T* x) const;

  bool rows_go_together() const { return !lower_together_.empty() || !upper_together_.empty(); }
  /// "b=1", "generic b=9", …, as reports name it.
  std::string kernel_name(int block) const;
  std::int64_t bytes() const { return lower_together_.bytes() + upper_together_.bytes(); }

 private:
  struct Side {
    const TrianglePattern& triangle;
    const Array<T>& values;
    const Array<std::uint8_t>& together;
    typename SweepKernels<T>::Range kernel;
  };
  void run(const Side& side, const Triangles<T>& factors, const SweepPlan& plan, Scratch& scratch, const T* r, T* x) const;

  int threads_ = 1, block_ = 1;
  Array<std::uint8_t> lower_together_, upper_together_;  // empty: rows one by one
  SweepKernels<T> kernels_;
};

}  // namespace echelon
