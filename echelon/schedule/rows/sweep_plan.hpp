// SPDX-License-Identifier: BSD-3-Clause
// What of a triangular sweep may run together. Position s of a sweep needs positions s − distance; a plan orders the
// positions for a number of threads so that nothing runs before what it needs. The arithmetic of a row does not know the
// plan, so every plan gives the same bits.
//   levels          rows of equal depth together, a barrier between depths
//   point-to-point  tasks of consecutive rows, cut where a row does not need the one before (on a grid in natural order:
//                   grid lines), dealt to the threads; a task waits for the progress of single other threads
// Building is O(entries) in time and memory.
#pragma once

#include <cstdint>

#include "echelon/schedule/pattern.hpp"
#include "echelon/schedule/sweep_schedule.hpp"

namespace echelon {

struct SweepPlan {
  /// Before its task a thread waits until `thread` has finished `tasks` of its own.
  struct Wait {
    std::int32_t thread;
    std::int32_t tasks;
  };

  SweepSchedule kind = SweepSchedule::sequential;
  int threads = 1;
  std::int64_t rows = 0;
  std::int64_t levels = 1;

  Array<std::int32_t> order;        // levels: positions by depth, ascending within
  Array<std::int64_t> level_start;  // levels + 1

  Array<std::int64_t> thread_start;          // point-to-point: threads + 1, into the tasks
  Array<std::int32_t> task_begin, task_end;  // positions, in the order a thread does them
  Array<std::int64_t> wait_start;            // tasks + 1
  Array<Wait> waits;

  std::int64_t bytes() const {
    return order.bytes() + level_start.bytes() + thread_start.bytes() + task_begin.bytes() + task_end.bytes() +
           wait_start.bytes() + waits.bytes();
  }
};

const char* word(SweepSchedule kind);

SweepPlan level_plan(const TrianglePattern& triangle, int threads);
/// How rows become tasks, and tasks come to threads.
struct TaskShape {
  std::int32_t least, most;  // rows of a task: at least, where the matrix has them, and at most
  /// By depth; or pipelined, each chain of rows (lines) or each chain of tasks (planes) cut into one part a thread.
  enum class Deal { by_depth, lines, planes } deal;
};
SweepPlan point_to_point_plan(const TrianglePattern& triangle, int threads, const TaskShape& shape);

/// Nanoseconds by a fixed model of this sweep (not of this machine: the choice must be the same everywhere).
double modelled_time(const SweepPlan& plan, const TrianglePattern& triangle, int block);

/// The plan asked for; `automatic` takes what the model finds fastest, sequential when threads would not pay.
SweepPlan make_plan(const TrianglePattern& triangle, int block, SweepSchedule wanted, int threads);

}  // namespace echelon
