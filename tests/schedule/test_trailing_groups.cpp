// SPDX-License-Identifier: BSD-3-Clause
// A body that trails a sweep: every group of lines swept once and trailed once, and never before all that it may read was
// swept, for every number of threads, run after run.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "echelon/base/threads.hpp"
#include "echelon/schedule/grid/trailing_groups.hpp"

namespace echelon {
namespace {

const std::vector<Offset> star7_lower{{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}};
const std::vector<Offset> far_lower{{1, 2, -2}, {0, -5, 0}, {-2, 0, 0}};

void expect_order(const Grid& grid, const std::vector<Offset>& earlier, const TrailReach& reach, int count) {
  set_threads(count);
  const LineGroups plan(grid, earlier, {4, 8}, count);
  set_threads(plan.threads());
  if (!plan.stripes()) return set_threads(0);
  GroupProgress progress(plan.groups());
  const std::int64_t cells = plan.groups() * grid.nz;
  for (int run = 1; run <= 3; ++run) {
    const auto swept = std::make_unique<std::atomic<int>[]>(static_cast<std::size_t>(cells));
    const auto trailed = std::make_unique<std::atomic<int>[]>(static_cast<std::size_t>(cells));
    std::atomic<int> early{0};
    const auto cell = [&](std::int64_t plane, std::int64_t group) {
      return static_cast<std::size_t>(plane * plan.groups() + group);
    };
    run_groups_with_trail(
        plan, progress, reach, [&](const LineWork& work, int) { ++swept[cell(work.plane, work.line / 4)]; },
        [&](const LineWork& work) {
          const std::int64_t group = work.line / 4;
          for (std::int64_t k = 0; k <= std::min(work.plane + reach.planes, grid.nz - 1); ++k) {
            for (std::int64_t g = std::max<std::int64_t>(0, group - reach.groups);
                 g <= std::min(plan.groups() - 1, group + reach.groups); ++g) {
              if (swept[cell(k, g)] != 1) ++early;
            }
          }
          ++trailed[cell(work.plane, group)];
        });
    EXPECT_EQ(early, 0);
    for (std::int64_t c = 0; c < cells; ++c) {
      EXPECT_EQ(swept[static_cast<std::size_t>(c)], 1);
      EXPECT_EQ(trailed[static_cast<std::size_t>(c)], 1);
    }
  }
  set_threads(0);
}

TEST(TrailingGroups, EverythingOnceAndNothingEarly) {
  for (const Grid& grid : {Grid{5, 1, 1}, Grid{9, 30, 1}, Grid{17, 23, 40}, Grid{8, 64, 16}, Grid{3, 4, 2}}) {
    for (const int count : {1, 2, 3, 5}) {
      expect_order(grid, star7_lower, {1, 1}, count);
      expect_order(grid, far_lower, {2, 2}, count);
      expect_order(grid, star7_lower, {0, 0}, count);
    }
  }
}

}  // namespace
}  // namespace echelon
