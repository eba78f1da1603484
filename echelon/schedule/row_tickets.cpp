// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/row_tickets.hpp"

#include <utility>

namespace echelon {

RowTickets row_tickets(const TrianglePattern& triangle, SweepSchedule wanted) {
  RowTickets tickets;
  SweepPlan plan = level_plan(triangle, 1);
  tickets.levels = plan.levels;
  if (wanted != SweepSchedule::sequential) tickets.order = std::move(plan.order);
  const std::int64_t n = triangle.rows;
  tickets.mean_entries = n > 0 ? static_cast<double>(triangle.entries()) / static_cast<double>(n) : 0;
  return tickets;
}

}  // namespace echelon
