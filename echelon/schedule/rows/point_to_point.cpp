// SPDX-License-Identifier: BSD-3-Clause
// Tasks of consecutive rows form an acyclic graph by themselves: what a row needs lies before it. Two ways to deal them:
//   by depth   tasks sorted by depth, each depth cut into contiguous parts of equal work
//   pipelined  tasks in the order of the rows; every group of tasks in which each needs the one before (a grid's lines,
//              or its planes) is cut into one part a thread, so that threads follow each other and rarely wait
// A wait names another thread and how far it must be; since progress only grows, a wait that an earlier task of the same
// thread already had is left out.
#include <algorithm>
#include <numeric>
#include <vector>

#include "echelon/base/work_watch.hpp"
#include "echelon/schedule/rows/sweep_plan.hpp"

namespace echelon {
namespace {

struct Tasks {
  std::vector<std::int32_t> begin;  // tasks + 1
  std::vector<std::int32_t> of;     // position → task
  std::vector<bool> fresh;          // its first row does not need the row before
  std::int32_t count() const { return static_cast<std::int32_t>(begin.size()) - 1; }
};

template <class Distance>
Tasks cut(const TrianglePattern& triangle, const Distance* distance, std::int32_t least, std::int32_t most) {
  const auto n = static_cast<std::int32_t>(triangle.rows);
  Tasks tasks;
  tasks.of.resize(static_cast<std::size_t>(n));
  for (std::int32_t s = 0; s < n; ++s) {
    const auto length = tasks.begin.empty() ? 0 : s - tasks.begin.back();
    // Distances are sorted one way or the other, so the shortest is at an end.
    const auto first = triangle.start[s], end = triangle.start[s + 1];
    const bool chained = end > first && (distance[first] == 1 || distance[end - 1] == 1);
    if (s == 0 || length >= most || (!chained && length >= least)) {
      tasks.begin.push_back(s);
      tasks.fresh.push_back(!chained);
    }
    tasks.of[static_cast<std::size_t>(s)] = static_cast<std::int32_t>(tasks.begin.size()) - 1;
  }
  tasks.begin.push_back(n);
  return tasks;
}

/// The tasks that each task needs, each once.
struct Dependencies {
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> needed;
};

template <class Distance>
Dependencies dependencies(const TrianglePattern& triangle, const Distance* distance, const Tasks& tasks) {
  Dependencies result;
  result.start.reserve(tasks.begin.size());
  std::vector<std::int32_t> seen_by(static_cast<std::size_t>(tasks.count()), -1);
  for (std::int32_t t = 0; t < tasks.count(); ++t) {
    result.start.push_back(static_cast<std::int64_t>(result.needed.size()));
    const auto first = tasks.begin[static_cast<std::size_t>(t)], end = tasks.begin[static_cast<std::size_t>(t) + 1];
    for (std::int64_t s = first; s < end; ++s) {
      keep_going(triangle.start[s + 1] - triangle.start[s]);
      for (auto p = triangle.start[s]; p < triangle.start[s + 1]; ++p) {
        const auto row = s - distance[p];
        if (row >= first) continue;
        const auto needed = tasks.of[static_cast<std::size_t>(row)];
        auto& seen = seen_by[static_cast<std::size_t>(needed)];
        if (seen != t) result.needed.push_back(needed);
        seen = t;
      }
    }
  }
  result.start.push_back(static_cast<std::int64_t>(result.needed.size()));
  return result;
}

std::int64_t work(const TrianglePattern& triangle, const Tasks& tasks, std::int32_t t) {
  const auto first = tasks.begin[static_cast<std::size_t>(t)], end = tasks.begin[static_cast<std::size_t>(t) + 1];
  return 4 * std::int64_t{end - first} + triangle.start[end] - triangle.start[first];
}

/// Task → thread, and the tasks in the order in which each thread does its own.
struct Deal {
  std::vector<std::int32_t> thread, sequence;
};

/// Cuts tasks sequence[first, end) into one contiguous part of equal work a thread.
void deal_part(const TrianglePattern& triangle, const Tasks& tasks, std::int64_t first, std::int64_t end, int threads,
               Deal& result) {
  std::int64_t total = 0, done = 0;
  for (auto q = first; q < end; ++q) total += work(triangle, tasks, result.sequence[static_cast<std::size_t>(q)]);
  for (auto q = first; q < end; ++q) {
    const auto t = result.sequence[static_cast<std::size_t>(q)];
    const auto own = work(triangle, tasks, t);
    // The thread in whose part of the work the middle of this task lies.
    result.thread[static_cast<std::size_t>(t)] = static_cast<std::int32_t>((2 * done + own) * threads / (2 * total));
    done += own;
  }
}

Deal deal_pipelined(const TrianglePattern& triangle, const Tasks& tasks, const std::vector<bool>& group_begins,
                    int threads) {
  const auto count = static_cast<std::size_t>(tasks.count());
  Deal result{std::vector<std::int32_t>(count), std::vector<std::int32_t>(count)};
  std::iota(result.sequence.begin(), result.sequence.end(), 0);
  for (std::size_t first = 0; first < count;) {
    auto end = first + 1;
    while (end < count && !group_begins[end]) ++end;
    deal_part(triangle, tasks, static_cast<std::int64_t>(first), static_cast<std::int64_t>(end), threads, result);
    first = end;
  }
  return result;
}

Deal deal_by_depth(const TrianglePattern& triangle, const Tasks& tasks, const std::vector<std::int32_t>& depth,
                   std::int64_t levels, int threads) {
  const auto count = static_cast<std::size_t>(tasks.count());
  std::vector<std::int64_t> level_start(static_cast<std::size_t>(levels) + 1, 0);
  for (const auto d : depth) ++level_start[static_cast<std::size_t>(d) + 1];
  for (std::size_t l = 0; l + 1 < level_start.size(); ++l) level_start[l + 1] += level_start[l];
  Deal result{std::vector<std::int32_t>(count), std::vector<std::int32_t>(count)};
  auto next = level_start;
  for (std::int32_t t = 0; t < tasks.count(); ++t) {
    const auto d = static_cast<std::size_t>(depth[static_cast<std::size_t>(t)]);
    result.sequence[static_cast<std::size_t>(next[d]++)] = t;
  }
  for (std::size_t l = 0; l + 1 < level_start.size(); ++l) {
    deal_part(triangle, tasks, level_start[l], level_start[l + 1], threads, result);
  }
  return result;
}

template <class Distance>
SweepPlan build(const TrianglePattern& triangle, const Distance* distance, int threads, const TaskShape& shape) {
  SweepPlan plan;
  plan.kind = SweepSchedule::point_to_point;
  plan.threads = threads;
  plan.rows = triangle.rows;
  const auto tasks = cut(triangle, distance, shape.least, shape.most);
  const auto count = static_cast<std::size_t>(tasks.count());
  std::vector<std::int32_t> depth(count, 0);
  std::vector<bool> alone(count, true);  // does not need the task before
  const auto needs = dependencies(triangle, distance, tasks);
  for (std::size_t t = 0; t < count; ++t) {
    for (auto d = needs.start[t]; d < needs.start[t + 1]; ++d) {
      const auto needed = static_cast<std::size_t>(needs.needed[static_cast<std::size_t>(d)]);
      depth[t] = std::max(depth[t], depth[needed] + 1);
      if (needed + 1 == t) alone[t] = false;
    }
  }
  plan.levels = count == 0 ? 0 : *std::max_element(depth.begin(), depth.end()) + 1;
  const auto dealt =
      shape.deal == TaskShape::Deal::by_depth
          ? deal_by_depth(triangle, tasks, depth, plan.levels, threads)
          : deal_pipelined(triangle, tasks, shape.deal == TaskShape::Deal::lines ? tasks.fresh : alone, threads);

  const auto T = static_cast<std::size_t>(threads);
  plan.thread_start = Array<std::int64_t>(threads + 1, std::int64_t{0});
  for (const auto thread : dealt.thread) ++plan.thread_start[thread + 1];
  for (int t = 0; t < threads; ++t) plan.thread_start[t + 1] += plan.thread_start[t];
  plan.task_begin = Array<std::int32_t>(tasks.count());
  plan.task_end = Array<std::int32_t>(tasks.count());
  std::vector<std::int32_t> place(count);    // rank of a task among those of its thread
  std::vector<std::int32_t> task_at(count);  // the same the other way round, by place in the plan
  std::vector<std::int64_t> next(plan.thread_start.begin(), plan.thread_start.end());
  for (const auto t : dealt.sequence) {
    const auto thread = dealt.thread[static_cast<std::size_t>(t)];
    const auto at = next[static_cast<std::size_t>(thread)]++;
    task_at[static_cast<std::size_t>(at)] = t;
    plan.task_begin[at] = tasks.begin[static_cast<std::size_t>(t)];
    plan.task_end[at] = tasks.begin[static_cast<std::size_t>(t) + 1];
    place[static_cast<std::size_t>(t)] = static_cast<std::int32_t>(at - plan.thread_start[thread]);
  }

  plan.wait_start = Array<std::int64_t>(tasks.count() + 1);
  std::vector<SweepPlan::Wait> waits;
  std::vector<std::int32_t> waited(T), want(T, 0);  // tasks of each thread that were, and must be, finished
  std::vector<std::int32_t> named;
  for (std::int32_t thread = 0; thread < threads; ++thread) {
    std::fill(waited.begin(), waited.end(), 0);
    for (auto at = plan.thread_start[thread]; at < plan.thread_start[thread + 1]; ++at) {
      plan.wait_start[at] = static_cast<std::int64_t>(waits.size());
      const auto t = static_cast<std::size_t>(task_at[static_cast<std::size_t>(at)]);
      for (auto d = needs.start[t]; d < needs.start[t + 1]; ++d) {
        const auto needed = static_cast<std::size_t>(needs.needed[static_cast<std::size_t>(d)]);
        const auto other = static_cast<std::size_t>(dealt.thread[needed]);
        if (dealt.thread[needed] == thread || place[needed] + 1 <= waited[other]) continue;
        if (want[other] == 0) named.push_back(dealt.thread[needed]);
        want[other] = std::max(want[other], place[needed] + 1);
      }
      for (const auto other : named) {
        auto& need = want[static_cast<std::size_t>(other)];
        waits.push_back({other, need});
        waited[static_cast<std::size_t>(other)] = need;
        need = 0;
      }
      named.clear();
    }
  }
  plan.wait_start[tasks.count()] = static_cast<std::int64_t>(waits.size());
  plan.waits = Array<SweepPlan::Wait>(std::span<const SweepPlan::Wait>(waits));
  return plan;
}

}  // namespace

SweepPlan point_to_point_plan(const TrianglePattern& triangle, int threads, const TaskShape& shape) {
  return with_distances(triangle, [&](const auto* distance) { return build(triangle, distance, threads, shape); });
}

}  // namespace echelon
