// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/row_tickets.hpp"

#include <algorithm>

namespace echelon {

RowTickets row_tickets(const TrianglePattern& triangle, SweepSchedule wanted) {
  RowTickets tickets;
  SweepPlan plan = level_plan(triangle, 1);
  tickets.levels = plan.levels;
  if (wanted != SweepSchedule::sequential) tickets.order = std::move(plan.order);
  const std::int64_t n = triangle.rows;
  tickets.mean_entries = n > 0 ? static_cast<double>(triangle.entries()) / static_cast<double>(n) : 0;
  for (std::int64_t s = 0; s < n; ++s) {
    tickets.most_entries = std::max(tickets.most_entries, triangle.start[s + 1] - triangle.start[s]);
  }
  return tickets;
}

}  // namespace echelon
