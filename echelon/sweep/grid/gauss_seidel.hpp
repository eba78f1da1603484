// SPDX-License-Identifier: BSD-3-Clause
// Exact symmetric Gauss-Seidel in natural order on a stencil, one unknown a point, A = L + D + U, each triangle read once:
//   from zero   (D+L) x_f = r,  then (D+U) x = D x_f             from a guess   (D+L) x_f = r − U x₀,  then (D+U) x = r − L
//   x_f r − A x = r − D x_f − L x after the first: L alone.          In exact arithmetic both are the textbook's two sweeps.
// A is copied into two streams, [line][pack of points][entry]: L with D⁻¹, U with D; a pack has 64 bytes of points. A row's
// sums go from the farthest entry to the nearest by fma; the neighbours of the point's own line come last, in order. The
// bits are those of tests/reference/plain_gauss_seidel.hpp for every thread count and SIMD width.
#pragma once

#include <cstdint>
#include <memory>

#include "echelon/base/array.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"

namespace echelon {

/// Vectors have one number a point in natural order, on the host; those of one call are different vectors, else it throws.
/// Several threads may call const members at once.
template <class T>
class GaussSeidel {
 public:
  /// Throws Error(bad_argument) for dof != 1, and Error(structure) naming the first point whose diagonal is zero or not
  /// finite. A is not needed afterwards. S is T, or double, whose values are rounded.
  template <class S>
  explicit GaussSeidel(const StructMatrix<S>& A);
  GaussSeidel(GaussSeidel&&) noexcept;
  GaussSeidel& operator=(GaussSeidel&&) noexcept;
  ~GaussSeidel();

  /// New values on the same grid and stencil; allocates nothing. After a throw the old values stand.
  template <class S>
  void refresh(const StructMatrix<S>& A);

  std::int64_t rows() const;
  const Grid& grid() const;

  /// One symmetric step from x = 0; `half` receives D x_f.
  void from_zero(const Vector<T>& r, Vector<T>& half, Vector<T>& x) const;
  /// One symmetric step from the given x; `half` receives r − L x_f.
  void from_guess(const Vector<T>& r, Vector<T>& half, Vector<T>& x) const;
  /// After from_zero(r, half, x): out = r − half − L x, which is r − A x.
  void residual_after_zero(const Vector<T>& r, const Vector<T>& half, const Vector<T>& x, Vector<T>& out) const;
  /// The same at the points whose i, j and k are all even, in natural order of the grid of ceil(n/2) points a side.
  void coarse_residual_after_zero(const Vector<T>& r, const Vector<T>& half, const Vector<T>& x, Vector<T>& coarse) const;

  /// One sweep alone: (D+L) x = r.
  void forward(const Vector<T>& r, Vector<T>& x) const;
  /// After forward(r, x): out = −U x, which is r − A x.
  void residual_after_forward(const Vector<T>& x, Vector<T>& out) const;
  /// One sweep alone from the given x: (D+U) x_new = r − L x.
  void backward(const Vector<T>& r, Vector<T>& x) const;

  /// y = A x, with the bits of StructMatrix::apply.
  void multiply(const Vector<T>& x, Vector<T>& y) const;
  /// The same; gives x·y, summed in FP64 in the library's fixed order (base/reduction_tree.hpp).
  double multiply_dotted(const Vector<T>& x, Vector<T>& y) const;

  /// Of the storage, padding included.
  std::int64_t bytes() const;

  /// What each call must move at least: matrix values of neighbours inside the grid, every vector it is given once, and its
  /// half way vector twice.
  struct Bytes {
    double zero, guess, residual, coarse_residual, multiply;
  };
  Bytes traffic() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace echelon
