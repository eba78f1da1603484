// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients with a strategy's ILU(0), or with a V-cycle that smooths by it: HPCG's, levels of half the sides with
// the same stencil, injection at even points, a smoothing step before and after and one on the coarsest. A step from a guess
// is residual, L, U, update. Vectors have a form's own order; their padding is zero and adds nothing to sums.
#pragma once

#include <memory>
#include <vector>

#include "bench/program/dbsr/ilu_form.hpp"

namespace echelon::bench {

struct CgOutcome {
  std::int64_t iterations = 0;
  bool converged = false;
  double seconds = 0;
};

template <class T>
class FourLevels {
 public:
  /// The problem's matrices, the finest first; one is ILU(0) alone. They are kept by reference.
  FourLevels(const std::vector<StructMatrix<T>>& matrices, const Strategy& strategy);

  /// Numeric factorizations of all levels.
  void factor();
  /// CG from x = 0 until the updated residual is below rtol·‖b‖.
  CgOutcome solve(const Vector<T>& b, Vector<T>& x, double rtol, std::int64_t max_it);
  /// x ← x + M⁻¹ (b − A x) on the finest level: what figure 12 counts factorizations in.
  void smoothing_step(const Vector<T>& b, Vector<T>& x);
  const IluForm<T>& form() const { return *levels_.front().form; }
  IluForm<T>& form() { return *levels_.front().form; }

 private:
  struct Level {
    std::unique_ptr<IluForm<T>> form;
    Array<std::int32_t> fine_place;  // of each place of this level, on the one before; −1 in padding
    Vector<T> r, x, rest;
  };
  void cycle(std::size_t level, const Vector<T>& r, Vector<T>& x);
  void step(Level& level, const Vector<T>& b, Vector<T>& x);
  std::vector<Level> levels_;
};

}  // namespace echelon::bench
