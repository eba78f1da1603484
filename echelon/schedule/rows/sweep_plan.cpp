// SPDX-License-Identifier: BSD-3-Clause
// Choosing a plan by a model: a row costs the bytes it streams, synchronisation costs what caches need to agree.
#include "echelon/schedule/rows/sweep_plan.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace echelon {
namespace {

// Nanoseconds on a present-day server core.
constexpr double row_cost = 3;
constexpr double scalar_cost = 1;     // a stored scalar: 8 to 12 bytes at a core's share of the bandwidth
constexpr double region_cost = 4000;  // waking the threads
constexpr double barrier_cost = 800;  // for two threads, and again for each doubling
constexpr double wait_cost = 150;     // a cache line travels between cores
constexpr double task_cost = 20;
constexpr double must_win = 0.85;  // of the sequential time
// A shorter sequential sweep is left alone: looking for a plan takes some ten sweeps, and could save less than half of one.
constexpr double worth_planning = 2e5;
constexpr std::int32_t unlimited = std::numeric_limits<std::int32_t>::max();
/// Tried in this order until one keeps the threads busy: the first have the fewest waits.
constexpr TaskShape task_shapes[] = {{16, unlimited, TaskShape::Deal::planes},
                                     {16, 64, TaskShape::Deal::lines},
                                     {16, unlimited, TaskShape::Deal::by_depth},
                                     {16, 256, TaskShape::Deal::by_depth},
                                     {16, 64, TaskShape::Deal::by_depth}};

double cost(const TrianglePattern& triangle, int block, std::int64_t first, std::int64_t end) {
  return row_cost * static_cast<double>(end - first) +
         scalar_cost * block * block * static_cast<double>(triangle.start[end] - triangle.start[first]);
}

double level_time(const SweepPlan& plan, const TrianglePattern& triangle, int block) {
  const double mean_row =
      cost(triangle, block, 0, triangle.rows) / static_cast<double>(std::max<std::int64_t>(1, triangle.rows));
  const double barrier = barrier_cost * std::bit_width(static_cast<unsigned>(plan.threads - 1));
  double time = region_cost;
  for (std::int64_t l = 0; l < plan.levels; ++l) {
    const auto rows = plan.level_start[l + 1] - plan.level_start[l];
    time += barrier + mean_row * static_cast<double>((rows + plan.threads - 1) / plan.threads);
  }
  return time;
}

/// Plays the plan: tasks of all threads by the time they can start.
double point_to_point_time(const SweepPlan& plan, const TrianglePattern& triangle, int block) {
  const auto T = static_cast<std::size_t>(plan.threads);
  std::vector<double> finish(static_cast<std::size_t>(plan.task_begin.size()), -1);
  std::vector<std::int64_t> next(plan.thread_start.begin(), plan.thread_start.end() - 1);
  std::vector<double> clock(T, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t t = 0; t < T; ++t) {
      for (; next[t] < plan.thread_start[static_cast<std::int64_t>(t) + 1]; ++next[t], moved = true) {
        double ready = clock[t];
        bool blocked = false;
        for (auto w = plan.wait_start[next[t]]; w < plan.wait_start[next[t] + 1]; ++w) {
          const auto& wait = plan.waits[w];
          const double other = finish[static_cast<std::size_t>(plan.thread_start[wait.thread] + wait.tasks - 1)];
          blocked = blocked || other < 0;
          ready = std::max(ready + wait_cost / 4, other + wait_cost);
        }
        if (blocked) break;
        clock[t] = ready + task_cost + cost(triangle, block, plan.task_begin[next[t]], plan.task_end[next[t]]);
        finish[static_cast<std::size_t>(next[t])] = clock[t];
      }
    }
  }
  return region_cost + *std::max_element(clock.begin(), clock.end());
}

SweepPlan sequential_plan(const TrianglePattern& triangle) {
  SweepPlan plan;
  plan.rows = triangle.rows;
  return plan;
}

SweepPlan best_point_to_point(const TrianglePattern& triangle, int block, int threads) {
  const double ideal = cost(triangle, block, 0, triangle.rows) / threads;
  SweepPlan best;
  double best_time = std::numeric_limits<double>::infinity();
  for (const auto& shape : task_shapes) {
    auto plan = point_to_point_plan(triangle, threads, shape);
    const double time = point_to_point_time(plan, triangle, block);
    if (time < best_time) {
      best = std::move(plan);
      best_time = time;
    }
    if (best_time <= 1.1 * ideal) break;
  }
  return best;
}

}  // namespace

const char* word(SweepSchedule kind) {
  switch (kind) {
    case SweepSchedule::automatic: return "automatic";
    case SweepSchedule::sequential: return "sequential";
    case SweepSchedule::levels: return "levels";
    case SweepSchedule::point_to_point: return "point-to-point";
  }
  return "automatic";
}

double modelled_time(const SweepPlan& plan, const TrianglePattern& triangle, int block) {
  switch (plan.kind) {
    case SweepSchedule::levels: return level_time(plan, triangle, block);
    case SweepSchedule::point_to_point: return point_to_point_time(plan, triangle, block);
    default: return cost(triangle, block, 0, triangle.rows);
  }
}

SweepPlan make_plan(const TrianglePattern& triangle, int block, SweepSchedule wanted, int threads) {
  if (threads <= 1 || wanted == SweepSchedule::sequential || triangle.rows == 0) return sequential_plan(triangle);
  if (wanted == SweepSchedule::levels) return level_plan(triangle, threads);
  if (wanted == SweepSchedule::point_to_point) return best_point_to_point(triangle, block, threads);
  const double bound = must_win * cost(triangle, block, 0, triangle.rows);
  if (bound <= worth_planning) return sequential_plan(triangle);
  auto plan = best_point_to_point(triangle, block, threads);
  if (point_to_point_time(plan, triangle, block) < bound) return plan;
  plan = level_plan(triangle, threads);
  if (level_time(plan, triangle, block) < bound) return plan;
  return sequential_plan(triangle);
}

}  // namespace echelon
