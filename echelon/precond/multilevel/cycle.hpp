// SPDX-License-Identifier: BSD-3-Clause
// One cycle over levels, x = B r from x = 0 (Trottenberg, Oosterlee, Schüller, Multigrid, 2001, section 2.4):
//   V: down, solve, up        W: every coarse problem by two cycles        F: by an F-cycle and a V-cycle
// With smoothers whose second half is the transpose of the first, V and W are symmetric for a symmetric matrix; F is not.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "echelon/base/lent_scratch.hpp"
#include "echelon/precond/multilevel/cycle_shape.hpp"
#include "echelon/precond/multilevel/level.hpp"

namespace echelon {

template <class T>
class Cycle {
 public:
  using V = Vector<T>;
  Cycle() = default;
  /// Levels from the finest to the last but one; at least the coarsest solve is there.
  Cycle(std::vector<std::unique_ptr<Level<T>>> levels, std::unique_ptr<CoarsestSolve<T>> coarsest, CycleShape shape);
  Cycle(Cycle&&) noexcept = default;
  Cycle& operator=(Cycle&&) noexcept = default;

  std::int64_t rows() const;
  /// x = B r, different vectors.
  void apply(const V& r, V& x) const;
  /// Of one caller's vectors.
  std::int64_t bytes() const;

 private:
  /// Of a level: r and x where it is not the finest, and what smoothers work with.
  struct Work {
    V r, x, rest, spare;
  };
  using Scratch = std::vector<Work>;
  void fit(Scratch& scratch) const;
  /// On level `level`: from x = 0, or from the x given.
  void run(std::size_t level, const V& r, V& x, Scratch& scratch, CycleShape shape, bool from_zero) const;
  /// The coarse problem below `level` once more, from what its x is.
  void solve_below(std::size_t level, Scratch& scratch, CycleShape shape) const;

  std::vector<std::unique_ptr<Level<T>>> levels_;
  std::unique_ptr<CoarsestSolve<T>> coarsest_;
  CycleShape shape_ = CycleShape::v;
  LentScratch<Scratch> scratch_;
};

}  // namespace echelon
