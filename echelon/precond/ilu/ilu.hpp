// SPDX-License-Identifier: BSD-3-Clause
// Incomplete factorizations as preconditioners: z = U⁻¹ L⁻¹ r with L U ≈ A, exact triangular sweeps.
//   ILU(0), ILU(k): (LU)_ij = A_ij on the pattern of A grown by the level-of-fill rule.
//   SGS, SSOR(ω): M = (D/ω + L) (D/ω)⁻¹ (D/ω + U) / (2 − ω) of A = L + D + U; nothing is eliminated, ω = 1 is SGS.
//   IC(0), IC(k): the same factors of a symmetric A, kept only when every pivot (block) is positive (definite).
//   ILUT(lfil, drop): entries of a row not above drop·‖a_i‖₂ are dropped, and of the others at most the lfil largest of L
//   and the lfil largest of U kept beside the diagonal; ILUTP also exchanges columns, L U ≈ A Q.
// Symbolic and numeric work are apart; `refactor` takes new values of the same pattern and allocates nothing. Results
// are the same bits for every thread count and schedule. A bad pivot is repaired by the policy and reported, never hidden.
#pragma once

#include <memory>

#include "echelon/factor/ilu_options.hpp"
#include "echelon/factor/rows/triangles.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/preconditioner.hpp"

namespace echelon {

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
/// Symmetric Gauss-Seidel and SSOR, 0 < ω < 2, as M⁻¹ from a zero guess. A diagonal (block) that cannot be inverted goes by
/// the policy of pivots; `fill` must be 0.
template <class T>
Ilu<T> sgs(const BlockCsr<T>& A, double omega = 1, IluOptions options = {});
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
/// Shares A's values; with ω = 1 the bits are those of block CSR.
template <class T>
Ilu<T> sgs(const StructMatrix<T>& A, double omega = 1, IluOptions options = {});
/// Converted to block CSR: thresholds leave the grid.
template <class T>
Ilu<T> ilut(const StructMatrix<T>& A, const IluOptions& options = {});

}  // namespace echelon
