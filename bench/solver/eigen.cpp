// SPDX-License-Identifier: BSD-3-Clause
// Eigen's conjugate gradients with its incomplete Cholesky, natural order, one thread.
#include <optional>

#include "bench/measure/contender_main.hpp"
#include "bench/measure/eigen_system.hpp"
#include "echelon/base/timer.hpp"

namespace {

using namespace echelon::bench;
using Cholesky = Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::NaturalOrdering<int>>;
using Solver = Eigen::ConjugateGradient<EigenMatrix, Eigen::Lower | Eigen::Upper, Cholesky>;

ContenderLine measure(const BenchCase& one) {
  if (one.solver != "cg") return ContenderLine::nothing(eigen_name(), "it has no right-preconditioned GMRES");
  ContenderLine line;
  line.contender = eigen_name();
  line.method = "CG IncompleteCholesky";
  line.same_method = false;
  require_room(one, 6, "Eigen");
  echelon::Vector<double> x;
  {
    const auto A = to_eigen(row_slab(one.make(), owned_points(one.grid, 0, 1)));
    const auto b = to_eigen(one.right_hand_side());
    Solver solver;
    solver.setTolerance(one.rtol);
    solver.setMaxIterations(10000);
    echelon::Timer timer;
    solver.compute(A);
    line.setup_seconds = timer.seconds();
    const EigenVector solution = solver.solve(b);
    line.seconds = timer.seconds();
    line.iterations = solver.iterations();
    x = from_eigen(solution);
  }
  line.answer = fingerprint(x);
  line.relative_residual = true_residual(one, x);
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  Eigen::setNbThreads(1);
  return contender_main("solver", argc, argv, measure, true);
}
