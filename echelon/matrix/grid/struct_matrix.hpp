// SPDX-License-Identifier: BSD-3-Clause
// A matrix on a structured grid: one b×b block (column-major) for every point and stencil entry. Where a value lives is
// asked of one layout object; users see natural order. Blocks whose neighbour lies outside the grid are stored as zero and
// never multiplied.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "echelon/base/array.hpp"
#include "echelon/matrix/operator.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/stencil/layout.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon {

template <class T>
class StructMatrix final : public Operator<T> {
 public:
  /// All zero. Throws Error(bad_argument) for sizes < 1, and will_not_fit before allocating what cannot be had.
  StructMatrix(Grid grid, Stencil stencil, int dof = 1);

  /// fill(i, j, k, entry, block): writes the b·b column-major values of one block; called only for neighbours inside,
  /// from several threads at once, each block once. What it throws is passed on.
  using Fill = std::function<void(std::int64_t i, std::int64_t j, std::int64_t k, int entry, std::span<T> block)>;
  void fill(const Fill& function);

  const Grid& grid() const { return grid_; }
  const Stencil& stencil() const { return stencil_; }
  const Layout& layout() const { return layout_; }
  int dof() const { return dof_; }
  std::int64_t rows() const override { return grid_.points() * dof_; }
  /// Scalars that belong to neighbours inside the grid.
  std::int64_t nonzeros() const;

  /// The block of (point, entry), b·b values, column-major.
  std::span<T> block(std::int64_t point, int entry);
  std::span<const T> block(std::int64_t point, int entry) const;
  std::span<T> values() { return own().span(); }
  std::span<const T> values() const { return values_->span(); }
  /// The values as they are now, kept without a copy: a later write to this matrix goes to values of its own. (A span that
  /// was taken for writing before must not be used after.)
  std::shared_ptr<const Array<T>> share_values() const { return values_; }

  void apply(const Vector<T>& x, Vector<T>& y) const override;
  void residual(const Vector<T>& b, const Vector<T>& x, Vector<T>& r) const override;
  void careful_residual(const Vector<T>& b, const Vector<T>& x, Vector<T>& r) const override;
  double norm_inf() const override;

 private:
  Grid grid_;
  Stencil stencil_;
  int dof_;
  Layout layout_;
  /// The values for writing; copied first when someone shares them.
  Array<T>& own();
  std::shared_ptr<Array<T>> values_;
};

/// Block CSR with the blocks of neighbours inside the grid (stored zeros are kept: the pattern is the stencil's).
template <class T>
BlockCsr<T> to_block_csr(const StructMatrix<T>& A);

/// From block CSR; throws Error(structure) naming the first entry that no stencil offset explains.
template <class T>
StructMatrix<T> to_struct(const BlockCsr<T>& A, Grid grid, const Stencil& stencil);

/// max |a_ij − a_ji| / max |a_ij|; infinity when the stencil is not symmetric; NaN when a value is.
template <class T>
double asymmetry(const StructMatrix<T>& A);

}  // namespace echelon
