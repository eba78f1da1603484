// SPDX-License-Identifier: BSD-3-Clause
// A plan covers every row once and breaks no dependency, for random and structured triangles and any number of threads.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdlib>

#include "echelon/schedule/rows/run_plan.hpp"
#include "tests/reference/plan_check.hpp"

namespace echelon {
namespace {

// RapidCheck reads this once, before its first check; a user's own setting stays.
[[maybe_unused]] const int thousands = setenv("RC_PARAMS", "max_success=3000", 0);

using Distances = std::vector<std::vector<std::int32_t>>;

Distances random_distances(int rows, int most) {
  Distances all(static_cast<std::size_t>(rows));
  for (int s = 1; s < rows; ++s) {
    const int count = *rc::gen::inRange(0, most + 1);
    for (int e = 0; e < count; ++e) {
      // Near neighbours are likely, as in matrices, so that rows form chains.
      const int reach = *rc::gen::element(1, 2, 8, rows);
      all[static_cast<std::size_t>(s)].push_back(*rc::gen::inRange(1, std::min(reach, s) + 1));
    }
    std::sort(all[static_cast<std::size_t>(s)].begin(), all[static_cast<std::size_t>(s)].end());
  }
  return all;
}

Distances grid_lines(int nx, int ny, int nz) {
  Distances all;
  for (int k = 0; k < nz; ++k) {
    for (int j = 0; j < ny; ++j) {
      for (int i = 0; i < nx; ++i) {
        auto& row = all.emplace_back();
        if (k > 0) row.push_back(nx * ny);
        if (j > 0) row.push_back(nx);
        if (i > 0) row.push_back(1);
      }
    }
  }
  return all;
}

TEST(SweepPlan, RandomTriangles) {
  EXPECT_TRUE(rc::check("every row once, after what it needs", [] {
    const int rows = *rc::gen::inRange(0, 60);
    const auto triangle = reference::triangle_of(random_distances(rows, 4), *rc::gen::arbitrary<bool>());
    const int threads = *rc::gen::inRange(1, 9);
    const int least = *rc::gen::inRange(1, 20), most = *rc::gen::inRange(1, 40);
    const auto deal = *rc::gen::element(TaskShape::Deal::by_depth, TaskShape::Deal::lines, TaskShape::Deal::planes);
    RC_ASSERT(reference::broken_promise(level_plan(triangle, threads), triangle) == "");
    RC_ASSERT(reference::broken_promise(point_to_point_plan(triangle, threads, {least, most, deal}), triangle) == "");
    for (const auto kind :
         {SweepSchedule::automatic, SweepSchedule::sequential, SweepSchedule::levels, SweepSchedule::point_to_point}) {
      RC_ASSERT(reference::broken_promise(make_plan(triangle, 1, kind, threads), triangle) == "");
    }
  }));
}

TEST(SweepPlan, TheCheckSeesABrokenPlan) {
  const auto triangle = reference::triangle_of({{}, {1}, {1}, {1}}, false);
  auto levels = level_plan(triangle, 2);
  std::swap(levels.order[0], levels.order[1]);
  EXPECT_NE(reference::broken_promise(levels, triangle), "");
  const auto needs = reference::triangle_of(grid_lines(4, 4, 1), false);
  auto tasks = point_to_point_plan(needs, 2, {1, 2, TaskShape::Deal::by_depth});
  ASSERT_GT(tasks.waits.size(), 0);
  for (auto& wait : tasks.waits) --wait.tasks;
  EXPECT_NE(reference::broken_promise(tasks, needs), "");
}

TEST(SweepPlan, LevelsOfAChainAndOfIndependentRows) {
  EXPECT_EQ(level_plan(reference::triangle_of({{}, {1}, {1}, {1}}, false), 2).levels, 4);
  EXPECT_EQ(level_plan(reference::triangle_of({{}, {}, {}, {}}, false), 2).levels, 1);
}

TEST(SweepPlan, TasksOfAGridAreItsLines) {
  const auto plan = point_to_point_plan(reference::triangle_of(grid_lines(20, 5, 7), false), 3,
                                        {16, 1'000'000, TaskShape::Deal::by_depth});
  EXPECT_EQ(plan.task_begin.size(), 35);
  EXPECT_EQ(plan.levels, 5 + 7 - 1);
  for (std::int64_t t = 0; t < plan.task_begin.size(); ++t) {
    EXPECT_EQ(plan.task_begin[t] % 20, 0);
    EXPECT_EQ(plan.task_end[t] - plan.task_begin[t], 20);
  }
}

TEST(SweepPlan, AtMostOneWaitForEachOtherThread) {
  const auto plan = point_to_point_plan(reference::triangle_of(grid_lines(16, 30, 30), false), 4,
                                        {16, 1'000'000, TaskShape::Deal::by_depth});
  for (std::int64_t t = 0; t < plan.task_begin.size(); ++t) EXPECT_LE(plan.wait_start[t + 1] - plan.wait_start[t], 3);
}

TEST(SweepPlan, PipelinedThreadsOwnTheirPartOfEveryPlane) {
  const auto triangle = reference::triangle_of(grid_lines(20, 6, 5), false);
  const auto plan = point_to_point_plan(triangle, 2, {16, 1'000'000, TaskShape::Deal::planes});
  EXPECT_EQ(reference::broken_promise(plan, triangle), "");
  ASSERT_EQ(plan.thread_start[1], 15);
  for (std::int64_t t = 0; t < 15; ++t) EXPECT_LT(plan.task_begin[t] / 20 % 6, 3) << "the first thread has lines 0 to 2";
  for (std::int64_t t = 0; t < 15; ++t) EXPECT_EQ(plan.wait_start[t + 1], 0) << "and nobody to wait for";
}

TEST(SweepPlan, AutomaticIsSequentialWhenThreadsDoNotPay) {
  Distances chain(200'000, {1});
  chain[0].clear();
  EXPECT_EQ(make_plan(reference::triangle_of(chain, true), 1, SweepSchedule::automatic, 4).kind, SweepSchedule::sequential);
  const auto small = reference::triangle_of(grid_lines(8, 8, 8), true);
  EXPECT_EQ(make_plan(small, 1, SweepSchedule::automatic, 4).kind, SweepSchedule::sequential);
  const auto large = reference::triangle_of(grid_lines(48, 48, 48), true);
  EXPECT_EQ(make_plan(large, 1, SweepSchedule::automatic, 1).kind, SweepSchedule::sequential);
  EXPECT_EQ(make_plan(large, 1, SweepSchedule::automatic, 4).kind, SweepSchedule::point_to_point);
}

TEST(SweepPlan, TwoDimensionalGridsAreCutAcrossTheirLines) {
  const auto triangle = reference::triangle_of(grid_lines(1000, 400, 1), true);
  const auto plan = make_plan(triangle, 1, SweepSchedule::automatic, 2);
  ASSERT_EQ(plan.kind, SweepSchedule::point_to_point);
  EXPECT_LT(modelled_time(plan, triangle, 1),
            0.7 * modelled_time(make_plan(triangle, 1, SweepSchedule::sequential, 1), triangle, 1));
  EXPECT_EQ(reference::broken_promise(plan, triangle), "");
}

TEST(SweepPlan, FewerThreadsThanPlannedStillDoEverything) {
  const auto triangle = reference::triangle_of(grid_lines(16, 6, 6), false);
  for (const auto kind : {SweepSchedule::levels, SweepSchedule::point_to_point}) {
    const auto plan = make_plan(triangle, 1, kind, 3);
    SweepProgress progress(3);
    std::vector<int> runs(static_cast<std::size_t>(triangle.rows), 0);
    // Inside another region the run time gives one thread.
#pragma omp parallel num_threads(2)
    {
#pragma omp single
      run_plan(plan, progress, [&](std::int64_t begin, std::int64_t end, int) {
        for (auto s = begin; s < end; ++s) ++runs[static_cast<std::size_t>(s)];
      });
    }
    EXPECT_EQ(runs, std::vector<int>(static_cast<std::size_t>(triangle.rows), 1));
  }
}

}  // namespace
}  // namespace echelon
