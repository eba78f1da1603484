// SPDX-License-Identifier: BSD-3-Clause
// What happens when a factorization meets a zero pivot: nothing is hidden. With ShiftPolicy::none it stops and says where;
// by default it is repaired, and the report says how often and where.
#include <cstdio>
#include <vector>

#include "echelon/echelon.hpp"

namespace ec = echelon;

int main() {
  // The last row is zero: singular, whatever a preconditioner does.
  const std::vector<ec::Triplet<double>> entries{{0, 0, 4}, {0, 1, -1}, {1, 0, -1}, {1, 1, 4},
                                                 {0, 2, 1}, {2, 0, 1},  {2, 2, 0},  {3, 3, 0}};
  const auto A = ec::from_triplets<double>(4, 4, entries);

  const auto strict = ec::ilu(A, {.shift = ec::ShiftPolicy::none});
  std::printf("policy none: ok = %d, %s\n", strict.report().ok, strict.report().message.c_str());

  const auto repaired = ec::ilu(A);
  std::printf("policy automatic: ok = %d, %lld pivot(s) replaced, the first in row %lld\n", repaired.report().ok,
              static_cast<long long>(repaired.report().perturbed_pivots),
              static_cast<long long>(repaired.report().bad_pivots.front().row));

  // b = 1 is outside the range of A, so no solver may say `converged`.
  ec::Vector<double> b(4, 1.0), x(4, 0.0);
  const ec::Report report = ec::gmres(A, b, x, repaired);
  std::printf("gmres: converged = %d, reason %s\n", report.converged, ec::word(report.reason));
  return !strict.report().ok && repaired.report().ok && !report.converged ? 0 : 1;
}
