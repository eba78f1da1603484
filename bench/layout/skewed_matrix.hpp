// SPDX-License-Identifier: BSD-3-Clause
// A matrix on a structured grid kept as a wavefront kernel reads it: some stencil entries (L, D and U, or all) in a skewed
// or tile-contiguous layout that follows the sweep of one triangle. Filled by conversion or assembled in place.
#pragma once

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/stencil/layout_view.hpp"

namespace echelon {

/// The lower sweep's order or the upper one's (mirrored), and which kind of layout follows it.
struct LayoutChoice {
  LayoutKind kind = LayoutKind::tile_contiguous;
  Triangle triangle = Triangle::lower;
  TileShape shape;
};

template <class T>
class SkewedMatrix {
 public:
  /// Values are set by `fill` or `assign`. Throws Error(bad_argument) for a choice of user order, entries outside the
  /// stencil or sizes < 1, and will_not_fit before allocating what cannot be had.
  SkewedMatrix(Grid grid, Stencil stencil, int dof, EntryRange entries, const LayoutChoice& choice);

  /// Assembles without going through user order: as StructMatrix::fill, for the entries held.
  using Fill = typename StructMatrix<T>::Fill;
  void fill(const Fill& function);

  /// The held entries of A, rounded when T is shorter; and back into A, whose other entries stay. Same grid, stencil, dof.
  template <class User>
  void assign(const StructMatrix<User>& A);
  template <class User>
  void copy_to(StructMatrix<User>& A) const;

  const Layout& layout() const { return layout_; }
  const Stencil& stencil() const { return stencil_; }
  int dof() const { return layout_.stored().rows; }
  std::span<T> values() { return values_.span(); }
  std::span<const T> values() const { return values_.span(); }
  const Array<T>& array() const { return values_; }

 private:
  template <class User>
  void check_same(const StructMatrix<User>& A) const;

  Stencil stencil_;
  Layout layout_;
  Array<T> values_;
};

}  // namespace echelon
