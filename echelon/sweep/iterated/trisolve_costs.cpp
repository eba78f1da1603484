// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/iterated/trisolve_costs.hpp"

#include <algorithm>

namespace echelon {

double TriangleWork::bytes() const {
  const double b = block;
  return static_cast<double>(entries) * (8 * b * b + 4) + static_cast<double>(rows) * (8 * b * b + 24 * b + 8);
}

double exact_seconds(const TriangleWork& work, const TrisolveCosts& costs) {
  return costs.launch + std::max(static_cast<double>(work.levels) * costs.level, work.bytes() / costs.memory);
}

double launched_seconds(const TriangleWork& work, const TrisolveCosts& costs) {
  return work.sweeps * (costs.launch + work.bytes() / costs.memory);
}

/// Every entry also has its x read; rows that are held have nothing else.
double clustered_seconds(const TriangleWork& work, int ctas, ClusterForm form, const TrisolveCosts& costs) {
  const double x_bytes = 8.0 * work.block * static_cast<double>(work.entries);
  const double factor_bytes = form == ClusterForm::held ? 0 : work.bytes();
  const double factor_speed = form == ClusterForm::streamed ? costs.streamed : costs.resident;
  const double barrier = ctas == 1 ? costs.cta_barrier : costs.barrier;
  return costs.begin + work.sweeps * (barrier + (x_bytes / costs.shared + factor_bytes / factor_speed) / ctas);
}

}  // namespace echelon
