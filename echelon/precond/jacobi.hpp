// SPDX-License-Identifier: BSD-3-Clause
// z = D⁻¹ r with D the (block) diagonal of A, blocks inverted with pivoting; and the identity.
// A zero, tiny or singular diagonal block is replaced by its row scale times the identity, and counted.
#pragma once

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/preconditioner.hpp"

namespace echelon {

template <class T>
class Jacobi final : public Preconditioner<T> {
 public:
  explicit Jacobi(const BlockCsr<T>& A);
  explicit Jacobi(const StructMatrix<T>& A);
  void apply(const Vector<T>& r, Vector<T>& z) const override;
  const FactorReport& report() const override { return report_; }

 private:
  int block_ = 1;
  Array<T> inverse_;
  FactorReport report_;
};

template <class T>
class Identity final : public Preconditioner<T> {
 public:
  void apply(const Vector<T>& r, Vector<T>& z) const override { z.copy_from(r); }
  const FactorReport& report() const override { return report_; }

 private:
  FactorReport report_;
};

}  // namespace echelon
