// SPDX-License-Identifier: BSD-3-Clause
// A matrix and a factorization with the same triangles (shared_triangles.hpp) on a GPU: the sweeps apart, each only queued,
// and the two diagonals, so that a solver fuses its vector work with what stands between the sweeps. Vectors are in the
// matrix' own order.
#pragma once

#include "echelon/base/array.hpp"

namespace echelon {

template <class T>
class QueuedTriangles {
 public:
  using V = Vector<T>;
  virtual ~QueuedTriangles() = default;

  /// x = L̃⁻¹ r; they may be one vector.
  virtual void lower(const V& r, V& x) = 0;
  /// x = Ũ⁻¹ r; they may be one vector.
  virtual void upper(const V& r, V& x) = 0;
  /// r = L̃ g, another vector.
  virtual void lower_product(const V& g, V& r) = 0;
  /// D⁻¹ and D_A; where the order has padding 1 and 2, so that 2D − D_A is zero there.
  virtual void diagonals(V& inverse, V& of_matrix) = 0;
};

}  // namespace echelon
