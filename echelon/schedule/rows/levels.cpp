// SPDX-License-Identifier: BSD-3-Clause
// Level sets: depth(s) = 1 + max depth(s − distance), positions sorted by depth with a counting sort.
#include <algorithm>

#include "echelon/base/work_watch.hpp"
#include "echelon/schedule/rows/sweep_plan.hpp"

namespace echelon {

SweepPlan level_plan(const TrianglePattern& triangle, int threads) {
  SweepPlan plan;
  plan.kind = SweepSchedule::levels;
  plan.threads = threads;
  plan.rows = triangle.rows;
  const auto n = triangle.rows;
  Array<std::int32_t> depth(n);
  std::int32_t deepest = -1;
  with_distances(triangle, [&](const auto* distance) {
    for (std::int64_t s = 0; s < n; ++s) {
      std::int32_t own = 0;
      keep_going(triangle.start[s + 1] - triangle.start[s]);
      for (auto p = triangle.start[s]; p < triangle.start[s + 1]; ++p) own = std::max(own, depth[s - distance[p]] + 1);
      depth[s] = own;
      deepest = std::max(deepest, own);
    }
  });
  plan.levels = deepest + 1;
  plan.level_start = Array<std::int64_t>(plan.levels + 1, std::int64_t{0});
  for (const auto d : depth) ++plan.level_start[d + 1];
  for (std::int64_t l = 0; l < plan.levels; ++l) plan.level_start[l + 1] += plan.level_start[l];
  Array<std::int64_t> next(plan.level_start.span());
  plan.order = Array<std::int32_t>(n);
  for (std::int64_t s = 0; s < n; ++s) plan.order[next[depth[s]]++] = static_cast<std::int32_t>(s);
  return plan;
}

}  // namespace echelon
