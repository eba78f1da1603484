// SPDX-License-Identifier: BSD-3-Clause
#include "tests/reference/plan_check.hpp"

#include <algorithm>

namespace echelon::reference {
namespace {

template <class Needs>
std::string check_levels(const SweepPlan& plan, Needs&& needs) {
  std::vector<std::int64_t> level(static_cast<std::size_t>(plan.rows), -1);
  if (plan.level_start[plan.levels] != plan.rows) return "the levels do not hold every row";
  for (std::int64_t l = 0; l < plan.levels; ++l) {
    for (auto p = plan.level_start[l]; p < plan.level_start[l + 1]; ++p) {
      auto& own = level[static_cast<std::size_t>(plan.order[p])];
      if (own >= 0) return "row " + std::to_string(plan.order[p]) + " runs twice";
      own = l;
    }
  }
  for (std::int64_t s = 0; s < plan.rows; ++s) {
    for (const auto needed : needs(s)) {
      if (level[static_cast<std::size_t>(needed)] >= level[static_cast<std::size_t>(s)]) {
        return "row " + std::to_string(s) + " runs with or before row " + std::to_string(needed);
      }
    }
  }
  return {};
}

/// For each task the number of tasks of every thread that are finished for certain when it starts.
template <class Needs>
std::string check_point_to_point(const SweepPlan& plan, Needs&& needs) {
  const auto T = static_cast<std::size_t>(plan.threads);
  const auto tasks = static_cast<std::size_t>(plan.task_begin.size());
  std::vector<std::int64_t> task_of(static_cast<std::size_t>(plan.rows), -1);
  for (std::size_t t = 0; t < tasks; ++t) {
    const auto at = static_cast<std::int64_t>(t);
    for (auto s = plan.task_begin[at]; s < plan.task_end[at]; ++s) {
      if (task_of[static_cast<std::size_t>(s)] >= 0) return "row " + std::to_string(s) + " runs twice";
      task_of[static_cast<std::size_t>(s)] = at;
    }
  }
  if (std::find(task_of.begin(), task_of.end(), -1) != task_of.end()) return "a row never runs";

  std::vector<std::vector<std::int64_t>> certain(tasks, std::vector<std::int64_t>(T, 0));
  std::vector<std::int64_t> next(plan.thread_start.begin(), plan.thread_start.end() - 1);
  std::size_t done = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t t = 0; t < T; ++t) {
      const auto first = plan.thread_start[static_cast<std::int64_t>(t)];
      if (next[t] == plan.thread_start[static_cast<std::int64_t>(t) + 1]) continue;
      const auto at = next[t];
      auto known = at == first ? std::vector<std::int64_t>(T, 0) : certain[static_cast<std::size_t>(at - 1)];
      known[t] = at - first;
      bool ready = true;
      for (auto w = plan.wait_start[at]; w < plan.wait_start[at + 1] && ready; ++w) {
        const auto& wait = plan.waits[w];
        const auto other = static_cast<std::size_t>(wait.thread);
        const auto its_first = plan.thread_start[wait.thread];
        if (other == t) return "a thread waits for itself";
        ready = next[other] - its_first >= wait.tasks;
        if (!ready) break;
        const auto& theirs = certain[static_cast<std::size_t>(its_first + wait.tasks - 1)];
        for (std::size_t u = 0; u < T; ++u) known[u] = std::max(known[u], theirs[u]);
        known[other] = std::max<std::int64_t>(known[other], wait.tasks);
      }
      if (!ready) continue;
      for (auto s = plan.task_begin[at]; s < plan.task_end[at]; ++s) {
        for (const auto needed : needs(s)) {
          const auto task = task_of[static_cast<std::size_t>(needed)];
          if (task == at) continue;
          const auto owner = static_cast<std::size_t>(
              std::upper_bound(plan.thread_start.begin(), plan.thread_start.end(), task) - plan.thread_start.begin() - 1);
          if (task - plan.thread_start[static_cast<std::int64_t>(owner)] >= known[owner]) {
            return "row " + std::to_string(s) + " may run before row " + std::to_string(needed);
          }
        }
      }
      certain[static_cast<std::size_t>(at)] = known;
      ++next[t];
      ++done;
      moved = true;
    }
  }
  return done == tasks ? "" : "the threads wait for each other in a circle";
}

}  // namespace

std::string broken_promise(const SweepPlan& plan, const TrianglePattern& triangle) {
  if (plan.rows != triangle.rows) return "the plan is for another number of rows";
  const auto needs = [&](std::int64_t s) {
    std::vector<std::int64_t> needed;
    with_distances(triangle, [&](const auto* distance) {
      for (auto p = triangle.start[s]; p < triangle.start[s + 1]; ++p) needed.push_back(s - distance[p]);
    });
    return needed;
  };
  switch (plan.kind) {
    case SweepSchedule::sequential: return {};
    case SweepSchedule::levels: return check_levels(plan, needs);
    case SweepSchedule::point_to_point: return check_point_to_point(plan, needs);
    default: return "a plan has to be one of the three kinds";
  }
}

TrianglePattern triangle_of(const std::vector<std::vector<std::int32_t>>& distances, bool narrow) {
  TrianglePattern triangle;
  triangle.rows = static_cast<std::int64_t>(distances.size());
  triangle.narrow = narrow;
  triangle.start = Array<std::int64_t>(triangle.rows + 1);
  triangle.start[0] = 0;
  std::vector<std::int32_t> all;
  for (std::size_t s = 0; s < distances.size(); ++s) {
    all.insert(all.end(), distances[s].begin(), distances[s].end());
    triangle.start[static_cast<std::int64_t>(s) + 1] = static_cast<std::int64_t>(all.size());
  }
  if (narrow) {
    triangle.distance_16 = Array<std::uint16_t>(static_cast<std::int64_t>(all.size()));
    std::copy(all.begin(), all.end(), triangle.distance_16.begin());
  } else {
    triangle.distance = Array<std::int32_t>(std::span<const std::int32_t>(all));
  }
  return triangle;
}

}  // namespace echelon::reference
