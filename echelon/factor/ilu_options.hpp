// SPDX-License-Identifier: BSD-3-Clause
// What may be asked of an incomplete factorization, whatever its storage and place (precond/ilu/ilu.hpp says what each is).
#pragma once

#include <cstdint>

#include "echelon/base/stored.hpp"
#include "echelon/factor/trisolve_options.hpp"
#include "echelon/schedule/ordering.hpp"
#include "echelon/schedule/sweep_schedule.hpp"

namespace echelon {

/// What to do about a zero, tiny or (for IC) non-positive pivot.
enum class ShiftPolicy {
  none,       // stop and say where
  automatic,  // ILU: replace the pivot, and when that grows wild, the shift ladder; IC: the ladder
  value       // factor A + value·diag(row scale) from the start; a bad pivot then stops
};

/// Fixed-point sweeps of ParILU where nobody says how many.
inline constexpr int default_sweeps = 5;

struct IluOptions {
  int fill = 0;
  Ordering ordering = Ordering::natural;
  ShiftPolicy shift = ShiftPolicy::automatic;
  double shift_value = 0;
  /// A pivot is bad when |u_ii| ≤ tolerance·max_j |a_ij| (blocks: a pivot of the block's own elimination).
  double pivot_tolerance = 1e-13;
  /// The automatic ladder starts here and doubles, at most 20 times; where a factorization is much work it takes at most 4
  /// steps of 8, from the shift that ILU(0) needs (factor/pivots/shift_search.hpp).
  double first_shift = 1e-3;
  /// ILUT: what is not above drop·‖a_i‖₂ goes (measured before L's division by the pivot; blocks: Frobenius norms).
  double drop = 1e-3;
  /// ILUT: at most so many entries (blocks) a row in L, and as many in U; the diagonal does not count. Of equal ones those
  /// with the smaller columns stay.
  std::int64_t lfil = 20;
  /// ILUTP: the largest entry of U's row becomes the pivot when column_pivoting times it is above the diagonal; 0: never,
  /// 0.5 … 0.01 are usual. Blocks of size 1.
  double column_pivoting = 0;
  SweepSchedule schedule = SweepSchedule::automatic;
  /// 0: exact elimination. Otherwise ParILU, ParIC: so many synchronous fixed-point sweeps
  /// (factor/fixed_point/fixed_point.hpp), through block CSR. Sweeps that lead away from A are a breakdown, for the shift
  /// policy to deal with.
  int factor_sweeps = 0;
  /// ParILUT, ParICT: entries of L with its diagonal over those of A's lower triangle with its, at most, and so for U.
  double fill_limit = 2;
  /// On structured grids: how the factors are kept, once computed in the matrix' precision. Sweeps compute in that of the
  /// vectors and read half or a quarter of the bytes.
  Stored precision = Stored::fp64;
  /// Of factors of block CSR matrices (those on a structured grid are made from block CSR when it is not exact).
  TrisolveOptions trisolve = {};
  /// Of a set-up whose work its pattern foretells (ILU(k) with fill) or that can be counted on the way (ILUT): above so many
  /// elementary operations (factor/work_budget.hpp) it throws TooCostly. 0: as much as it takes.
  std::int64_t most_operations = 0;
  /// ω of SSOR, 0 < ω < 2: nothing is eliminated, M = (D/ω + L) (D/ω)⁻¹ (D/ω + U) / (2 − ω) with A = L + D + U; 1 is
  /// symmetric Gauss-Seidel. 0: ILU. Without fill and fixed-point sweeps; of `sgs` (precond/ilu/ilu.hpp).
  double omega = 0;
  /// Factor R⁻¹ A C⁻¹, equilibrated, instead of A (precond/scaled_precond.hpp). Of preconditioners made by name.
  bool scale_matrix = false;
};

/// Throws Error(bad_argument) naming the option that is out of range.
void check_options(const IluOptions& options);
/// Throws Error(bad_argument) when ω is given to a factorization, called `name`, that eliminates.
void require_elimination(const IluOptions& options, const char* name);

/// What IC takes as symmetric: asymmetry at most this.
template <class T>
inline constexpr double symmetry_tolerance = sizeof(T) == 8 ? 1e-10 : 1e-5;

}  // namespace echelon
