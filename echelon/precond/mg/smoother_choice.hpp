// SPDX-License-Identifier: BSD-3-Clause
// --mg-smoother auto, level by level, from the level's matrix alone: Gauss-Seidel costs two thirds of ILU(0), and does well
// where nearly all points couple alike along all directions; where not, ILU(0) takes half the iterations, and stays when
// couplings turn or jump.
#pragma once

#include "echelon/precond/mg/coupling.hpp"
#include "echelon/precond/mg/mg_options.hpp"

namespace echelon {

/// Never automatic.
inline MgSmoother smoother_for(const StructMatrix<double>& A, MgSmoother wished) {
  constexpr double most_uneven_points = 0.01;
  if (wished != MgSmoother::automatic) return wished;
  return uneven_points(A) <= most_uneven_points ? MgSmoother::gs : MgSmoother::ilu;
}

}  // namespace echelon
