// SPDX-License-Identifier: BSD-3-Clause
// A sweep by groups of lines with a second body that follows it a few planes behind, while they are in cache: trail(work) of
// a group may read what the sweep made in planes up to its own + `planes`, in groups at most `groups` away. A thread trails
// its own groups, one plane later than it could alone, so that it seldom waits for its neighbours. It waits only for planes
// that they sweep without waiting for it, so the waiting stays acyclic.
#pragma once

#include "echelon/schedule/grid/line_groups.hpp"

namespace echelon {

struct TrailReach {
  std::int64_t planes, groups;
};

template <class Sweep, class Trail>
void run_groups_alone(const LineGroups& plan, const TrailReach& reach, const Sweep& sweep, const Trail& trail) {
  const auto trail_plane = [&](std::int64_t k) {
    for (std::int64_t g = 0; g < plan.groups(); ++g) trail(plan.work(k, g, 0, plan.steps()));
  };
  for (std::int64_t k = 0; k < plan.planes(); ++k) {
    for (std::int64_t g = 0; g < plan.groups(); ++g) sweep(plan.work(k, g, 0, plan.steps()), 0);
    if (k >= reach.planes) trail_plane(k - reach.planes);
  }
  for (std::int64_t k = std::max<std::int64_t>(0, plan.planes() - reach.planes); k < plan.planes(); ++k) trail_plane(k);
}

/// One thread's part. Its groups must be a stripe.
template <class Sweep, class Trail>
void run_own_groups_with_trail(const LineGroups& plan, GroupProgress& progress, const TrailReach& reach, int thread,
                               const Sweep& sweep, const Trail& trail) {
  const std::int64_t base = progress.base(), planes = plan.planes(), steps = plan.steps();
  const std::int64_t first = plan.first_group(thread), end = plan.end_group(thread), behind = reach.planes + 1;
  const auto wait_for_neighbours = [&](std::int64_t planes_done) {
    const std::int64_t from = std::max<std::int64_t>(0, first - reach.groups);
    const std::int64_t to = std::min(plan.groups(), end + reach.groups);
    for (std::int64_t g = from; g < to; ++g) {
      if (g < first || g >= end) progress.wait_for(g, base + planes_done * steps);
    }
  };
  const auto trail_plane = [&](std::int64_t k) {
    for (std::int64_t g = first; g < end; ++g) trail(plan.work(k, g, 0, steps));
  };
  for (std::int64_t k = 0; k < planes; ++k) {
    for (std::int64_t g = first; g < end; ++g) {
      for (const auto& wait : plan.waits(g)) progress.wait_for(wait.group, base + plan.progress_needed(wait, k, steps));
      sweep(plan.work(k, g, 0, steps), thread);
      progress.publish(g, base + (k + 1) * steps);
    }
    if (k < behind) continue;
    wait_for_neighbours(k);
    trail_plane(k - behind);
  }
  wait_for_neighbours(planes);
  for (std::int64_t k = std::max<std::int64_t>(0, planes - behind); k < planes; ++k) trail_plane(k);
}

/// sweep(work, thread) as in run_groups, and trail(work) for every group, each once. The plan's threads must have stripes.
template <class Sweep, class Trail>
void run_groups_with_trail(const LineGroups& plan, GroupProgress& progress, const TrailReach& reach, const Sweep& sweep,
                           const Trail& trail) {
  if (plan.threads() == 1 || threads() < plan.threads()) return run_groups_alone(plan, reach, sweep, trail);
  bool together = false;
#pragma omp parallel num_threads(threads())
  {
    const int thread = omp_get_thread_num();
    const bool enough_came = omp_get_num_threads() >= plan.threads();
    if (thread == 0) together = enough_came;
    if (enough_came) {
      if (thread < plan.threads()) run_own_groups_with_trail(plan, progress, reach, thread, sweep, trail);
    } else if (thread == 0) {
      run_groups_alone(plan, reach, sweep, trail);
    }
  }
  if (together) progress.advance(plan.planes() * plan.steps());
}

}  // namespace echelon
