// SPDX-License-Identifier: BSD-3-Clause
// The order in which the warps of a GPU take the rows of a triangle: by a ticket, and a row waits only for rows of earlier
// tickets, so that a sweep ends however few warps are resident. By depth the rows that wait least come first; in the
// sweep's own order neighbours stand together and no depth need be known.
#pragma once

#include <cstdint>

#include "echelon/schedule/sweep_schedule.hpp"

namespace echelon {

/// Whether tickets go by depth. `sequential` keeps the sweep's own order; `automatic` does while few rows are `chained`
/// (wait for the one just before them): a warp takes rows that stand together, and those of a chain go one by one. On an
/// H200 the own order is up to 1.4 times as fast at none and about as fast at half of the rows, depth up to 4 times at 0.8.
inline bool tickets_by_depth(SweepSchedule wanted, std::int64_t chained, std::int64_t rows) {
  constexpr double many = 0.6;
  if (wanted != SweepSchedule::automatic) return wanted != SweepSchedule::sequential;
  return static_cast<double>(chained) > many * static_cast<double>(rows);
}

}  // namespace echelon
