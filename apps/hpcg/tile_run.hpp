// SPDX-License-Identifier: BSD-3-Clause
// The optimised run on a GPU: HPCG's conjugate gradients and V-cycle on vectors in tile order, one process. Sweeps, product and
// injection are the library's (TileGaussSeidel, TileInjection), and so are the sums (CgVectors). The residual before
// restriction is a whole product; the second smoothing is x + M⁻¹(r − A x). Nothing but numbers passes between host and GPU
// in an iteration. On the host, which tests take, it is slow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/hpcg/geometry.hpp"
#include "apps/hpcg/optimised_run.hpp"
#include "echelon/krylov/vectors/cg_vectors.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/grid_gpu/injection.hpp"
#include "echelon/sweep/grid_gpu/tile_gauss_seidel.hpp"

namespace echelon::hpcg {

class TileRun final : public OptimisedRun {
 public:
  /// `matrices`: of the levels, the finest first, of which that one is kept on the host for its diagonal.
  TileRun(std::vector<StructMatrix<double>> matrices, Device device);

  V zeros() const override { return V(matrix().kept_size(), 0.0, device_); }
  V in_own_order(const V& natural) const override;
  double multiply(const V& x, V& y) override;
  void precondition(V& r, V& x) override;
  double dot(const V& u, const V& v) override { return work_.dot(u, v); }
  CgResult solve(const V& b, V& x, const CgRequest& request, CgSeconds& seconds) override;
  V diagonal() const override;
  void replace_diagonal(const V& natural) override;
  std::int64_t bytes() const override;
  double iteration_bytes() const override;
  double bandwidth(double bytes) const override;
  std::string gpu() const override;

 private:
  struct Level {
    TileGaussSeidel smoother;
    std::optional<TileInjection> injection;  // to the next one
    V Ax, coarse_r, coarse_x;
  };
  const TileMatrix& matrix() const { return levels_.front().smoother.matrix(); }
  void cycle(std::size_t level, const V& r, V& x);

  Device device_;
  StructMatrix<double> A_;
  std::vector<Level> levels_;
  CgVectors work_;
  V r_, z_, p_, Ap_;
};

}  // namespace echelon::hpcg
