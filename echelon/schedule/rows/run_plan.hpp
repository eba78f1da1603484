// SPDX-License-Identifier: BSD-3-Clause
// Carries out a sweep plan: body(begin, end, thread) for ranges of positions, each once, never before what it needs.
// A task's writes are published by a release store of its thread's progress and seen through the acquire load of a wait.
// When the run time gives fewer threads than the plan was made for (nested regions, limits), the first does everything in
// order.
#pragma once

#include <omp.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "echelon/base/threads.hpp"
#include "echelon/schedule/rows/sweep_plan.hpp"
#include "echelon/schedule/spin_wait.hpp"

namespace echelon {

/// Progress of each thread, a cache line apart, and how many came to the meetings between levels. Made once with the plan;
/// `run_plan` allocates nothing.
class SweepProgress {
 public:
  explicit SweepProgress(int threads = 1)
      : lines_(std::make_unique<Line[]>(static_cast<std::size_t>(threads) + 1)), threads_(threads) {}
  int threads() const { return threads_; }
  void reset() {
    for (int t = 0; t <= threads_; ++t) lines_[static_cast<std::size_t>(t)].tasks.store(0, std::memory_order_relaxed);
  }
  void publish(int thread, std::int32_t tasks) {
    lines_[static_cast<std::size_t>(thread)].tasks.store(tasks, std::memory_order_release);
  }
  void wait_for(const SweepPlan::Wait& wait) const {
    wait_until_at_least(lines_[static_cast<std::size_t>(wait.thread)].tasks, std::int64_t{wait.tasks});
  }
  /// Waits until `all` have come, that is once for each of the plan's threads and meeting so far. The run time's own
  /// barrier spins for as long as the environment says, whatever else the machine has to do.
  void meet(std::int64_t all) {
    auto& came = lines_[static_cast<std::size_t>(threads_)].tasks;
    came.fetch_add(1, std::memory_order_acq_rel);
    wait_until_at_least(came, all);
  }

 private:
  struct alignas(64) Line {
    std::atomic<std::int64_t> tasks{0};
  };
  std::unique_ptr<Line[]> lines_;
  int threads_;
};

template <class Body>
void run_levels(const SweepPlan& plan, SweepProgress& progress, int thread, const Body& body) {
  for (std::int64_t l = 0; l < plan.levels; ++l) {
    if (l > 0) progress.meet(l * plan.threads);
    const auto first = plan.level_start[l];
    const auto [begin, end] = share(plan.level_start[l + 1] - first, thread, plan.threads);
    for (auto p = begin; p < end;) {
      auto q = p + 1;
      while (q < end && plan.order[first + q] == plan.order[first + q - 1] + 1) ++q;
      const std::int64_t position = plan.order[first + p];
      body(position, position + (q - p), thread);
      p = q;
    }
  }
}

template <class Body>
void run_tasks(const SweepPlan& plan, SweepProgress& progress, int thread, const Body& body) {
  const auto first = plan.thread_start[thread];
  for (auto t = first; t < plan.thread_start[thread + 1]; ++t) {
    for (auto w = plan.wait_start[t]; w < plan.wait_start[t + 1]; ++w) progress.wait_for(plan.waits[w]);
    body(plan.task_begin[t], plan.task_end[t], thread);
    progress.publish(thread, static_cast<std::int32_t>(t - first) + 1);
  }
}

template <class Body>
void run_plan(const SweepPlan& plan, SweepProgress& progress, const Body& body) {
  if (plan.kind == SweepSchedule::sequential || threads() < plan.threads) {
    body(std::int64_t{0}, plan.rows, 0);
    return;
  }
  progress.reset();
#pragma omp parallel num_threads(threads())
  {
    const int thread = omp_get_thread_num();
    if (omp_get_num_threads() < plan.threads) {
      if (thread == 0) body(std::int64_t{0}, plan.rows, 0);
    } else if (thread >= plan.threads) {
      // The team is as large as that of every other region (threads.hpp); this plan needs fewer.
    } else if (plan.kind == SweepSchedule::levels) {
      run_levels(plan, progress, thread, body);
    } else {
      run_tasks(plan, progress, thread, body);
    }
  }
}

}  // namespace echelon
