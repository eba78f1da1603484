// SPDX-License-Identifier: BSD-3-Clause
// What may be asked of structured multigrid (precond/mg/multigrid.hpp).
#pragma once

#include <cstdint>

#include "echelon/factor/ilu_options.hpp"
#include "echelon/precond/multilevel/cycle_shape.hpp"

namespace echelon {

enum class MgSmoother {
  automatic,  // level by level: precond/mg/smoother_choice.hpp
  gs,         // a sweep forward before, one backward after
  symgs,      // a sweep forward and one backward, both times
  ilu,        // ILU(0), exact sweeps
  dbsr,       // ILU(0) in block multicolour order
  jacobi,     // damped by 4/3 over a bound of the largest eigenvalue
  chebyshev,  // of degree 2 on D⁻¹A
  lines       // zebra lines along every direction that is coarsened
};

/// Of the levels' matrices, weights and vectors; the solver's own are FP64 and so is the set-up. automatic: FP32 for
/// symmetric matrices whose diagonal spans at most seven orders of magnitude. (GMRES with a preconditioner of FP32 restarts
/// near 1e-8.)
enum class MgPrecision { automatic, fp64, fp32 };

struct MgOptions {
  MgSmoother smoother = MgSmoother::automatic;
  CycleShape cycle = CycleShape::v;
  MgPrecision precision = MgPrecision::automatic;
  /// Smoothings before, and after.
  int sweeps = 1;
  /// Directions whose mean coupling is at least this part of the strongest are coarsened.
  double strong = 0.3;
  /// At most so many unknowns are solved directly.
  std::int64_t coarsest = 500;
  /// Of the smoother ilu and dbsr.
  IluOptions ilu = {};
};

}  // namespace echelon
