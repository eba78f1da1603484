// SPDX-License-Identifier: BSD-3-Clause
// QueuedTriangles of a matrix in tile order and its ILU(0). Private to device_ilu.
#pragma once

#include "echelon/matrix/grid_gpu/tile_matrix.hpp"
#include "echelon/sweep/grid_gpu/wavefront_sweep.hpp"
#include "echelon/sweep/queued_triangles.hpp"

namespace echelon {

class TileTriangles final : public QueuedTriangles<double> {
 public:
  /// `factors` stand in A's order: L̃, D⁻¹ and U. What is given must outlive this.
  TileTriangles(const TileMatrix& A, const double* factors, WavefrontSweep<double>& sweep)
      : A_(A), factors_(factors), sweep_(sweep) {}

  void lower(const V& r, V& x) override { sweep_.lower(factors_, r.data(), x.data()); }
  void upper(const V& r, V& x) override { sweep_.upper(factors_, r.data(), x.data()); }
  void lower_product(const V& g, V& r) override { A_.unit_lower_product(factors_, g, r); }
  void diagonals(V& inverse, V& of_matrix) override {
    A_.diagonal(factors_, 1, inverse);
    A_.diagonal(A_.values(), 2, of_matrix);
  }

 private:
  const TileMatrix& A_;
  const double* factors_;
  WavefrontSweep<double>& sweep_;
};

}  // namespace echelon
