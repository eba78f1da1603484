// SPDX-License-Identifier: BSD-3-Clause
// Which lines of a structured grid run together, for sweeps in natural order. `lines` neighbouring lines along x form a
// group; a group is walked in steps of `width` points, each line `lag` steps behind the one before it, so that several
// independent recurrences are in flight. A group belongs to one thread, which does its groups plane by plane; it waits for
// groups of other threads by their progress (steps done). With many planes a thread has a stripe of groups; with few it has
// batches of neighbouring groups, dealt in turn, and walks a batch piece of lines by piece of lines.
// Every dependency lies in an earlier plane, or in the same plane in an earlier group or an earlier step, so the waiting is
// acyclic for every number of threads.
// Coordinates are those of the sweep: an upper sweep mirrors all three axes first, and is then a lower one.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "echelon/base/threads.hpp"
#include "echelon/schedule/grid/group_progress.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon {

/// Part of a group: lines [line, line + lines) of plane `plane`, steps [begin, end).
struct LineWork {
  std::int64_t plane, line;
  int lines;
  std::int64_t begin, end;
};

class LineGroups {
 public:
  struct Shape {
    int lines = 1;      // of a group
    int width = 8;      // points of a step
    int least_lag = 0;  // a line of a group is so many steps behind the one before it, or more where it must
  };
  /// Progress of another thread's group that must be seen first: plane + z, and `ahead` more steps than the own ones.
  struct Wait {
    std::int32_t group;
    int z;
    std::int64_t ahead;
  };
  /// Steps [begin, end) of a group, done without a look at the others.
  struct Turn {
    std::int64_t group, begin, end;
  };

  LineGroups() = default;
  /// `earlier`: the offsets a point depends on, in sweep coordinates (all before the centre).
  LineGroups(const Grid& grid, std::span<const Offset> earlier, Shape shape, int threads);

  int threads() const { return threads_; }
  int lag() const { return lag_; }
  std::int64_t groups() const { return groups_; }
  /// Steps of one group in one plane.
  std::int64_t steps() const { return steps_; }
  /// In stripes: a thread's groups are [first_group, end_group), each a single turn.
  bool stripes() const { return batch_ == 0; }
  std::int64_t first_group(int thread) const { return share(groups_, thread, threads_).first; }
  std::int64_t end_group(int thread) const { return share(groups_, thread, threads_).second; }
  /// What a thread does in a plane, in this order.
  std::span<const Turn> turns(int thread) const;
  std::span<const Wait> waits(std::int64_t group) const;
  std::int64_t progress_needed(const Wait& wait, std::int64_t plane, std::int64_t end) const;
  LineWork work(std::int64_t plane, std::int64_t group, std::int64_t begin, std::int64_t end) const;
  std::int64_t planes() const { return grid_.nz; }
  std::int64_t bytes() const;

 private:
  int owner(std::int64_t group) const;
  /// Steps that a group of a batch runs behind the one before it.
  std::int64_t skew(std::span<const Offset> earlier) const;
  void make_turns(std::span<const Offset> earlier);
  void make_waits(std::span<const Offset> earlier);

  Grid grid_;
  Shape shape_;
  int threads_ = 1, lag_ = 0;
  std::int64_t groups_ = 0, steps_ = 0;
  std::int64_t batch_ = 0;  // groups of a batch; 0: stripes
  std::vector<std::int64_t> turn_start_;
  std::vector<Turn> turns_;
  std::vector<std::int64_t> wait_start_;
  std::vector<Wait> waits_;
};

template <class Body>
void run_own_groups(const LineGroups& plan, GroupProgress& progress, std::int64_t base, int thread, const Body& body) {
  for (std::int64_t k = 0; k < plan.planes(); ++k) {
    for (const auto& [group, begin, end] : plan.turns(thread)) {
      for (const auto& wait : plan.waits(group)) {
        progress.wait_for(wait.group, base + plan.progress_needed(wait, k, end));
      }
      body(plan.work(k, group, begin, end), thread);
      progress.publish(group, base + k * plan.steps() + end);
    }
  }
}

/// body(work, thread) for all work, each once, never before what it needs. `progress` has one counter a group and is used
/// by one run at a time; counters only grow, so a run starts where the last one left them.
template <class Body>
void run_groups(const LineGroups& plan, GroupProgress& progress, const Body& body) {
  const auto all = [&] {
    for (std::int64_t k = 0; k < plan.planes(); ++k) {
      for (std::int64_t g = 0; g < plan.groups(); ++g) body(plan.work(k, g, 0, plan.steps()), 0);
    }
  };
  if (plan.threads() == 1 || threads() < plan.threads()) return all();
  const std::int64_t base = progress.base();
  bool together = false;
#pragma omp parallel num_threads(threads())
  {
    const int thread = omp_get_thread_num();
    const bool enough_came = omp_get_num_threads() >= plan.threads();
    if (thread == 0) together = enough_came;
    if (!enough_came) {
      if (thread == 0) all();
    } else if (thread < plan.threads()) {
      run_own_groups(plan, progress, base, thread, body);
    }
  }
  if (together) progress.advance(plan.planes() * plan.steps());
}

}  // namespace echelon
