// SPDX-License-Identifier: BSD-3-Clause
// Symmetric Gauss-Seidel in block multicolour order on diagonal block rows, A = L + D + U; vectors in positions. From x = 0
// one SYMGS reads A once: forward (D + L) x_f = r keeps w = D x_f, backward (D + U) x = w. From a guess one and a half
// times: w = r − L x_f. The residual after a start from zero is r − w − L x. The calls are those of the exact sweeps on
// grids.
#pragma once

#include "echelon/base/array.hpp"
#include "echelon/matrix/dbsr/dbsr_matrix.hpp"
#include "echelon/sweep/dbsr/dbsr_sweep.hpp"

namespace echelon {

template <class T>
class DbsrGaussSeidel {
 public:
  /// Throws Error(bad_argument) naming the point whose diagonal is missing, 0 or not finite.
  DbsrGaussSeidel(const StructMatrix<T>& A, std::shared_ptr<const BlockColouring> order);
  DbsrGaussSeidel(const BlockCsr<T>& A, std::shared_ptr<const BlockColouring> order);
  /// New values of the same pattern.
  void refresh(const StructMatrix<T>& A);
  void refresh(const BlockCsr<T>& A);

  /// One SYMGS from x = 0; `half` receives D x_f.
  void from_zero(const Vector<T>& r, Vector<T>& half, Vector<T>& x) const;
  /// One SYMGS from the given x; `half` receives r − L x_f.
  void from_guess(const Vector<T>& r, Vector<T>& half, Vector<T>& x) const;
  /// After from_zero(r, half, x): half becomes r − A x. Reads L only.
  void residual_after_zero(const Vector<T>& r, Vector<T>& half, const Vector<T>& x) const;
  /// y = A x
  void multiply(const Vector<T>& x, Vector<T>& y) const { A_.multiply(x, y); }

  const DbsrMatrix<T>& matrix() const { return A_; }
  /// Of what the sweeps read.
  std::int64_t bytes() const { return A_.bytes() + inverse_.bytes(); }

 private:
  void invert();
  void check(const Vector<T>& r, const Vector<T>& half, const Vector<T>& x) const;
  DbsrSweepView<T> view(const Vector<T>& r, Vector<T>& half, T* x) const;
  void run(ColourOrder direction, typename DbsrSweepKernels<T>::Rows kernel, const DbsrSweepView<T>& view) const;
  DbsrMatrix<T> A_;
  Array<T> inverse_;
};

}  // namespace echelon
