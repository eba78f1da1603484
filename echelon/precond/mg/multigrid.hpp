// SPDX-License-Identifier: BSD-3-Clause
// Structured multigrid as a preconditioner, z = B r by one cycle from zero: coarsening by direction, interpolation weights
// from the matrix, Galerkin coarse matrices, smoothers of precond/mg/smoothers.hpp, a dense solve at the end. One unknown a
// point, any sides, one to three dimensions. For a symmetric matrix V and W cycles are symmetric. The same bits for every
// thread count, and with smoothers other than ILU for every instruction set. docs/method/multigrid.md
#pragma once

#include <memory>

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/precond/mg/mg_options.hpp"
#include "echelon/precond/preconditioner.hpp"

namespace echelon {

class Multigrid final : public Preconditioner<double> {
 public:
  Multigrid(Multigrid&&) noexcept;
  Multigrid& operator=(Multigrid&&) noexcept;
  ~Multigrid() override;

  /// Throws Error(bad_argument) where the report is not ok.
  void apply(const Vector<double>& r, Vector<double>& z) const override;
  const FactorReport& report() const override;
  /// New values on the same grid and stencil (Error(structure) otherwise), while nobody applies: the levels stay.
  [[nodiscard]] const FactorReport& refactor(const StructMatrix<double>& A);

  /// Of a level, the finest is 0: for tests and study.
  const StructMatrix<double>& matrix(int level) const;

  struct Impl;
  explicit Multigrid(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

/// Throws Error(bad_argument) for options out of range and several unknowns a point. A level that cannot be made, a zero
/// diagonal, a value that is no number: the report is not ok, and says the level and the point.
Multigrid multigrid(const StructMatrix<double>& A, const MgOptions& options = {});

}  // namespace echelon
