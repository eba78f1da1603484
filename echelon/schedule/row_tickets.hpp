// SPDX-License-Identifier: BSD-3-Clause
// The order in which the warps of a GPU take the rows of a triangle: by a ticket, and a row waits only for rows of earlier
// tickets, so that a sweep ends however few warps are resident. By depth the rows that wait least come first; in the
// sweep's own order neighbours stand together.
#pragma once

#include <cstdint>

#include "echelon/schedule/sweep_plan.hpp"

namespace echelon {

struct RowTickets {
  Array<std::int32_t> order;  // the position of each ticket; empty: its own number
  std::int64_t levels = 0;    // length of the longest chain of rows
  double mean_entries = 0;    // of a row
};

/// `sequential` keeps the sweep's own order, everything else is by depth.
RowTickets row_tickets(const TrianglePattern& triangle, SweepSchedule wanted);

}  // namespace echelon
