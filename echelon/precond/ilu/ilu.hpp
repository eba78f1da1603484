// SPDX-License-Identifier: BSD-3-Clause
// Incomplete factorizations as preconditioners: z = U⁻¹ L⁻¹ r with L U ≈ A, exact triangular sweeps.
//   ILU(0), ILU(k): (LU)_ij = A_ij on the pattern of A grown by the level-of-fill rule.
//   IC(0), IC(k): the same factors of a symmetric A, kept only when every pivot (block) is positive (definite).
//   ILUT(lfil, drop): entries of a row not above drop·‖a_i‖₂ are dropped, and of the others at most the lfil largest of L
//   and the lfil largest of U kept beside the diagonal; ILUTP also exchanges columns, L U ≈ A Q.
// Symbolic and numeric work are apart; `refactor` takes new values of the same pattern and allocates nothing. Results
// are the same bits for every thread count and schedule. A bad pivot is repaired by the policy and reported, never hidden.
#pragma once

#include <memory>

#include "echelon/base/stored.hpp"
#include "echelon/factor/rows/triangles.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/operator.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/schedule/sweep_schedule.hpp"
#include "echelon/sweep/iterated/trisolve_options.hpp"

namespace echelon {

/// Colours: rows of one colour, which are not coupled, are eliminated together (schedule/orders/colouring.hpp): few levels,
/// and a weaker factorization.
enum class Ordering { natural, rcm, colours, random_colours };

/// "natural", "rcm", "colours", "random-colours"
const char* word(Ordering ordering);

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
  /// Factor R⁻¹ A C⁻¹, equilibrated, instead of A (precond/scaled_precond.hpp). Of preconditioners made by name.
  bool scale_matrix = false;
};

template <class T>
class Ilu final : public Preconditioner<T> {
 public:
  Ilu(Ilu&&) noexcept;
  Ilu& operator=(Ilu&&) noexcept;
  ~Ilu() override;

  void apply(const Vector<T>& r, Vector<T>& z) const override;
  const FactorReport& report() const override;
  std::unique_ptr<SharedTriangles<T>> shared_triangles(const Operator<T>& A) const override;
  /// New values, same pattern (checked, Error(structure) otherwise), while nobody applies. Allocates nothing, but for
  /// remarks; on grids with several unknowns a point it takes one vector and gives it back. ILUT: the size must be the same
  /// and the pattern need not; the factors' pattern is computed anew, and memory taken for it.
  [[nodiscard]] const FactorReport& refactor(const BlockCsr<T>& A);
  [[nodiscard]] const FactorReport& refactor(const StructMatrix<T>& A);

  /// The factors in the user's block numbering only when ordering is natural: L unit lower (strict part stored), U with
  /// its diagonal. For tests and study.
  BlockCsr<T> lower() const;
  BlockCsr<T> upper() const;
  /// New position → user's block row.
  std::span<const std::int32_t> order() const;
  /// New position → user's block column: order(), unless columns were exchanged. L U ≈ P A Q.
  std::span<const std::int32_t> column_order() const;
  /// In elimination order, as the sweeps read them; null for factors on a grid.
  const Triangles<T>* triangles() const;

  struct Impl;
  explicit Ilu(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

template <class T>
Ilu<T> ilu(const BlockCsr<T>& A, const IluOptions& options = {});
template <class T>
Ilu<T> ic(const BlockCsr<T>& A, const IluOptions& options = {});
/// Thresholds found by fixed-point sweeps, `factor_sweeps` rounds of them (precond/ilu/parilut.cpp); blocks of size 1. The
/// second for symmetric matrices: symmetric pattern and factors.
template <class T>
Ilu<T> parilut(const BlockCsr<T>& A, const IluOptions& options = {});
template <class T>
Ilu<T> parict(const BlockCsr<T>& A, const IluOptions& options = {});
/// ILUT, or with column_pivoting ILUTP.
template <class T>
Ilu<T> ilut(const BlockCsr<T>& A, const IluOptions& options = {});
/// On a structured grid, without indices; fill k is ILU(0) on the stencil grown by the level-of-fill rule. The schedule
/// `sequential` takes the plain point-by-point algorithm, the reference of the fast ones. Where only the diagonal changes
/// (star5, star7) the factors share A's values.
template <class T>
Ilu<T> ilu(const StructMatrix<T>& A, const IluOptions& options = {});
template <class T>
Ilu<T> ic(const StructMatrix<T>& A, const IluOptions& options = {});
/// Converted to block CSR: thresholds leave the grid.
template <class T>
Ilu<T> ilut(const StructMatrix<T>& A, const IluOptions& options = {});

}  // namespace echelon
