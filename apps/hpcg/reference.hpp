// SPDX-License-Identifier: BSD-3-Clause
// HPCG's reference: conjugate gradients with a V-cycle over four levels (one symmetric Gauss-Seidel before, one after, one
// on the coarsest; injection of even points), as plain loops over compressed rows. Its residual after 50 iterations is what
// an optimised run has to reach. Only the sums are of fixed order, so that it repeats.
#pragma once

#include <vector>

#include "apps/hpcg/cg_run.hpp"
#include "apps/hpcg/csr_level.hpp"
#include "apps/hpcg/vector_work.hpp"
#include "echelon/comm/communicator.hpp"

namespace echelon::hpcg {

class Reference {
 public:
  Reference(const std::vector<Geometry>& levels, const Communicator& communicator);

  /// Rows of the finest level.
  std::int64_t rows() const { return levels_.front().A.rows(); }
  /// Matrix and vectors of each level, the finest first.
  std::vector<double> level_bytes() const;

  /// y ← A x on the finest level; x has room for values of other processes, which this brings.
  void multiply(Vector<double>& x, Vector<double>& y);
  /// x ← M⁻¹ r
  void precondition(const Vector<double>& r, Vector<double>& x) { cycle(0, r, x); }
  std::int64_t columns() const { return levels_.front().A.columns(); }

  /// From x = 0; x has rows() numbers.
  CgResult solve(const Vector<double>& b, Vector<double>& x, const CgRequest& request, CgSeconds& seconds);

 private:
  struct Level {
    Level(const Geometry& geometry, const Communicator& communicator);
    Geometry geometry;
    BoxHalo halo;
    CsrLevel A;
    Vector<double> Ax, coarse_r, coarse_x;  // but on the coarsest
  };
  static void exchange(Level& level, Vector<double>& x);
  void cycle(std::size_t level, const Vector<double>& r, Vector<double>& x);
  void smooth(Level& level, const Vector<double>& r, Vector<double>& x);

  const Communicator& communicator_;
  std::vector<Level> levels_;
  VectorWork work_;
};

}  // namespace echelon::hpcg
