// SPDX-License-Identifier: BSD-3-Clause
// Symmetric Gauss-Seidel in natural order on vectors in tile order, one unknown a point, any stencil, FP64, A = L + D + U,
//   M = (D + L) D⁻¹ (D + U) = (I + L D⁻¹)(D + U):   the sweeps of ILU (wavefront_sweep) on L D⁻¹, D⁻¹ and U.
// From zero x = M⁻¹ r, the bits of `sgs` on the host; from a guess x ← x + M⁻¹(r − A x) with the product of tile_matrix.
// Bytes a row, m entries: 8 m + 32 from zero, 16 m + 80 from a guess, 8 m + 16 a product. On a GPU or, for tests, on the host.
#pragma once

#include <cstdint>
#include <memory>

#include "echelon/base/array.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/grid_gpu/tile_matrix.hpp"

namespace echelon {

/// One call at a time: the object has a vector and border words of its own.
class TileGaussSeidel {
 public:
  using V = Vector<double>;
  /// Throws Error(bad_argument) for dof != 1, Error(structure) naming the first point whose diagonal is zero or not finite,
  /// Error(device) without such a device, will_not_fit without room on it. A is not needed afterwards.
  TileGaussSeidel(const StructMatrix<double>& A, Device device);
  TileGaussSeidel(TileGaussSeidel&&) noexcept;
  TileGaussSeidel& operator=(TileGaussSeidel&&) noexcept;
  ~TileGaussSeidel();

  /// New values, same grid and stencil (Error(structure) otherwise). A bad diagonal leaves the old values.
  void refresh(const StructMatrix<double>& A);

  /// A itself: the product, and natural vectors into its order and back.
  const TileMatrix& matrix() const;

  /// x ← M⁻¹ r; r may be x. Queued on a GPU, like all but `settle`.
  void from_zero(const V& r, V& x) const;
  /// x ← x + M⁻¹(r − A x)
  void from_guess(const V& r, V& x) const;
  /// Waits for the sweeps so far; throws Error(device) when one of them waited in vain for a neighbour.
  void settle() const;

  std::int64_t bytes() const;
  /// What each call must move: stored values, every vector a step reads or writes once for each step.
  struct Bytes {
    double zero, guess, multiply;
  };
  Bytes traffic() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace echelon
