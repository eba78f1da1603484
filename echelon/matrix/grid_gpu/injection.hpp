// SPDX-License-Identifier: BSD-3-Clause
// Between the vectors of a grid and of the grid of its even points, both in tile order, one unknown a point: the residual
// injected, and a correction added where it was taken (injection_row.inl). On a GPU or, for tests, on the host.
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"
#include "echelon/stencil/tile_order.hpp"

namespace echelon {

class TileInjection {
 public:
  using V = Vector<double>;
  /// The coarse sides are half the fine ones, rounded up. Throws Error(bad_argument) for others, for blocks and for orders
  /// that are in different places, will_not_fit for vectors that 31 bits cannot count. Nothing is kept of the orders.
  TileInjection(const TileOrder& fine, const TileOrder& coarse);

  /// coarse ← r − Ax at the even points, zero in padding; queued on a GPU, like `add`.
  void restrict_residual(const V& r, const V& Ax, V& coarse) const;
  /// fine ← fine + coarse at the even points.
  void add(const V& coarse, V& fine) const;
  std::int64_t bytes() const { return fine_place_.bytes(); }

 private:
  void check(const char* what, const V& v, std::int64_t size) const;

  std::int64_t fine_length_;
  Array<std::int32_t> fine_place_;
};

}  // namespace echelon
