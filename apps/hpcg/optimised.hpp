// SPDX-License-Identifier: BSD-3-Clause
// The optimised run: HPCG's conjugate gradients and V-cycle with the kernels of a Smoother. Gauss-Seidel of all processes
// takes the others' values as they were before it began: r is corrected by them, and the kernels are local. x takes its step
// when the next direction is made, which reads that direction once; r's step and r·r are one pass, and so are A p and p·A p.
#pragma once

#include <memory>
#include <vector>

#include "apps/hpcg/geometry.hpp"
#include "apps/hpcg/halo_matrix.hpp"
#include "apps/hpcg/optimised_run.hpp"
#include "apps/hpcg/smoother.hpp"
#include "apps/hpcg/vector_work.hpp"
#include "echelon/comm/communicator.hpp"

namespace echelon::hpcg {

struct OptimisedOptions {
  MakeSmoother make;
  bool separate = false;  // the residual before restriction by a whole product
};

class Optimised final : public OptimisedRun {
 public:
  /// `matrices`: of the levels' boxes, the finest first; kept.
  Optimised(const std::vector<Geometry>& levels, std::vector<StructMatrix<double>> matrices, const OptimisedOptions& options,
            const Communicator& communicator);

  /// Of vectors, on the finest level.
  std::int64_t length() const { return levels_.front().smoother->length(); }
  V zeros() const override { return V(length(), 0.0); }
  V in_own_order(const V& natural) const override;
  double multiply(const V& x, V& y) override;
  void precondition(V& r, V& x) override { cycle(0, r, x); }
  double dot(const V& u, const V& v) override;
  CgResult solve(const V& b, V& x, const CgRequest& request, CgSeconds& seconds) override;
  V diagonal() const override;
  void replace_diagonal(const V& natural) override;
  std::int64_t bytes() const override;
  double iteration_bytes() const override;
  double bandwidth(double bytes) const override { return measure_triad(static_cast<std::int64_t>(bytes)); }

 private:
  struct Level {
    Level(const Geometry& geometry, StructMatrix<double> matrix, const OptimisedOptions& options,
          const Communicator& communicator);
    Geometry geometry;
    StructMatrix<double> A;
    std::unique_ptr<Smoother> smoother;
    BoxHalo halo;
    HaloMatrix outside;
    Array<std::int32_t> fine_places;  // of the coarser level's points; empty where both orders are natural
    V coarse_r, coarse_x, Ax;
  };
  void cycle(std::size_t level, V& r, V& x);
  /// visit(coarse place, fine place), from several threads.
  template <class Visit>
  static void for_injected(const Level& level, const Visit& visit);
  void restrict_residual(Level& level, const V& r, const V& x);
  void prolong(Level& level, V& x);
  double local_multiply(Level& level, const V& x, V& y);

  const Communicator& communicator_;
  bool separate_;
  std::vector<Level> levels_;
  VectorWork work_;
  V r_, z_, p_, Ap_;
};

}  // namespace echelon::hpcg
