// SPDX-License-Identifier: BSD-3-Clause
// A 3-D Poisson problem on a structured grid, solved by conjugate gradients with an incomplete factorization.
#include <cstdio>

#include "echelon/echelon.hpp"

namespace ec = echelon;

int main() {
  const ec::Grid grid{48, 48, 48};
  const auto A = ec::problems::poisson(grid, ec::stencils::star7());
  ec::Vector<double> b(A.rows(), 1.0), x(A.rows(), 0.0);

  const auto M = ec::ilu(A, {.fill = 0});
  const ec::Report report = ec::cg(A, b, x, M, {.rtol = 1e-8});

  std::printf("%s after %lld iterations, ‖b−Ax‖/‖b‖ = %.2e, u(centre) = %.5f\n", ec::word(report.reason),
              static_cast<long long>(report.iterations), report.relative_residual, x[grid.index(24, 24, 24)]);
  return report.converged ? 0 : 1;
}
