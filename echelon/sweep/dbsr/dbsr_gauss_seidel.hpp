// SPDX-License-Identifier: BSD-3-Clause
// Symmetric Gauss-Seidel in block multicolour order on diagonal block rows, A = L + D + U; vectors in positions. From x = 0
// one SYMGS reads A once: forward (D + L) x_f = r keeps w = D x_f, backward (D + U) x = w. From a guess one and a half
// times: w = r − L x_f. The residual after a start from zero is r − w − L x. The calls are those of the exact sweeps on
// grids.
#pragma once

#include <span>

#include "echelon/base/array.hpp"
#include "echelon/matrix/dbsr/dbsr_matrix.hpp"
#include "echelon/sweep/dbsr/dbsr_sweep.hpp"

namespace echelon {

/// Where the residual goes when only some points' is wanted, as those of a coarser grid: the block rows that have one, and
/// each position's place in the result. With blocks of even sides the even points of a grid are whole block rows.
class DbsrInjection {
 public:
  /// fine[c]: the position whose residual place c receives; -1: none, the place is left alone. Throws Error(bad_argument)
  /// for a position that the order does not have or that two places want.
  DbsrInjection(const BlockColouring& order, std::span<const std::int32_t> fine);

  /// Ascending.
  std::span<const std::int32_t> block_rows() const { return rows_.span(); }
  /// Of the lanes of block_rows()[n], bsize each from n·bsize on: the place, or -1.
  std::span<const std::int32_t> places() const { return places_.span(); }
  /// Places in the result, and positions of the order that it was made for.
  std::int64_t size() const { return size_; }
  std::int64_t positions() const { return positions_; }
  std::int64_t bytes() const { return rows_.bytes() + places_.bytes(); }

 private:
  std::int64_t size_, positions_;
  Array<std::int32_t> rows_, places_;
};

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
  /// The same in `to`'s block rows only, whose residuals go to `coarse`; there half becomes r − A x, elsewhere it stays.
  void coarse_residual_after_zero(const Vector<T>& r, Vector<T>& half, const Vector<T>& x, const DbsrInjection& to,
                                  Vector<T>& coarse) const;
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
