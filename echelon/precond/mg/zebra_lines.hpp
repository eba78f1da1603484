// SPDX-License-Identifier: BSD-3-Clause
// Line Gauss-Seidel: T d = r − A x on lines along a direction, T the line's own neighbouring entries (LU without
// pivoting), x ← x + d. Lines whose two other places are both even, or not, make four colours, one after the other;
// residuals of a colour are taken before any of its lines changes, so that the order of lines means nothing. Directions z,
// y, x before, and all in the reverse order after.
#pragma once

#include <memory>
#include <vector>

#include "echelon/precond/mg/smoothers.hpp"

namespace echelon {

/// Throws Error(structure) naming the point whose pivot is zero or not finite.
template <class T>
std::unique_ptr<GridSmoother<T>> make_zebra_lines(const StructMatrix<double>& A, const std::vector<Axis>& axes, int sweeps);

}  // namespace echelon
