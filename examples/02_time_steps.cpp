// SPDX-License-Identifier: BSD-3-Clause
// The pattern of a time-stepping code: the same pattern every step, new values, so symbolic work is done once and
// `refactor` allocates nothing. Here: convection that turns stronger from step to step.
#include <cstdio>

#include "echelon/echelon.hpp"

namespace ec = echelon;

int main() {
  const ec::Grid grid{32, 32, 32};
  const auto matrix = [&](double peclet) {
    return ec::to_block_csr(ec::problems::convection_diffusion(grid, ec::stencils::star7(), {.peclet = peclet}));
  };

  auto A = matrix(1);
  auto M = ec::ilu(A, {.fill = 1, .ordering = ec::Ordering::rcm});
  ec::Vector<double> b(A.rows(), 1.0), x(A.rows(), 0.0);
  for (int step = 0; step < 5; ++step) {
    A = matrix(1 + 20.0 * step);
    if (const auto& made = M.refactor(A); !made.ok) {
      std::printf("step %d: %s\n", step, made.message.c_str());
      return 1;
    }
    const ec::Report report = ec::gmres(A, b, x, M, {.rtol = 1e-10, .restart = 30});  // x: the last step's answer
    std::printf("step %d: %s after %lld iterations\n", step, ec::word(report.reason),
                static_cast<long long>(report.iterations));
    if (!report.converged) return 1;
  }
}
