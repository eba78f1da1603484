// SPDX-License-Identifier: BSD-3-Clause
// A matrix that is never stored, and a preconditioner of one's own: each is one function.
#include <cstdio>

#include "echelon/echelon.hpp"

namespace ec = echelon;

int main() {
  const std::int64_t n = 2000;
  const auto diagonal = [n](std::int64_t i) { return 2.0 + static_cast<double>(i) / static_cast<double>(n); };
  // d_i on the diagonal, −1 beside it
  const ec::FunctionOperator<double> A(n, [&](const ec::Vector<double>& x, ec::Vector<double>& y) {
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] = diagonal(i) * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0);
    }
  });
  const ec::FunctionPreconditioner<double> M([&](const ec::Vector<double>& r, ec::Vector<double>& z) {
    for (std::int64_t i = 0; i < n; ++i) z[i] = r[i] / diagonal(i);
  });

  ec::Vector<double> b(n, 1.0), x(n, 0.0);
  const ec::Report report = ec::cg(A, b, x, M, {.rtol = 1e-10});
  std::printf("%s after %lld iterations, ‖b−Ax‖/‖b‖ = %.2e\n", ec::word(report.reason),
              static_cast<long long>(report.iterations), report.relative_residual);
  return report.converged ? 0 : 1;
}
