// SPDX-License-Identifier: BSD-3-Clause
// Tickets name every row once, and a row only waits for earlier ones: what keeps a GPU's sweep from waiting for ever.
#include "echelon/schedule/row_tickets.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "echelon/factor/symbolic.hpp"
#include "echelon/matrix/struct_matrix.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

void expect_legal(const TrianglePattern& triangle, const RowTickets& tickets) {
  std::vector<std::int64_t> ticket_of(static_cast<std::size_t>(triangle.rows), -1);
  for (std::int64_t t = 0; t < triangle.rows; ++t) {
    const std::int64_t s = tickets.order.empty() ? t : tickets.order[t];
    ASSERT_EQ(ticket_of[static_cast<std::size_t>(s)], -1) << "position " << s << " has two tickets";
    ticket_of[static_cast<std::size_t>(s)] = t;
    for (auto p = triangle.start[s]; p < triangle.start[s + 1]; ++p) {
      const std::int64_t needed = s - triangle.distance[p];
      ASSERT_GE(ticket_of[static_cast<std::size_t>(needed)], 0) << "position " << s << " is before " << needed;
    }
  }
}

void expect_both_legal(const BlockCsr<double>& A) {
  TrianglePattern lower, upper;
  ASSERT_TRUE(split({A.block_rows(), A.row_start().data(), A.column().data()}, false, lower, upper));
  for (const auto kind : {SweepSchedule::automatic, SweepSchedule::sequential, SweepSchedule::levels}) {
    for (const TrianglePattern* triangle : {&lower, &upper}) {
      const RowTickets tickets = row_tickets(*triangle, kind);
      EXPECT_EQ(tickets.order.empty(), kind == SweepSchedule::sequential || triangle->rows == 0);
      expect_legal(*triangle, tickets);
    }
  }
}

TEST(RowTickets, AreLegalForRandomPatterns) {
  for (int n = 0; n < 40; ++n) {
    const auto rows = reference::random_rows(1 + 7 * n, 0.05, static_cast<std::uint64_t>(n));
    expect_both_legal(reference::with_random_values<double>(rows, 1, 1));
  }
}

TEST(RowTickets, CountEntriesAndLevels) {
  const auto A = to_block_csr(problems::poisson({5, 4, 3}, stencils::star7()));
  expect_both_legal(A);
  TrianglePattern lower, upper;
  ASSERT_TRUE(split({A.block_rows(), A.row_start().data(), A.column().data()}, false, lower, upper));
  const RowTickets tickets = row_tickets(lower, SweepSchedule::automatic);
  EXPECT_EQ(tickets.levels, 5 + 4 + 3 - 2);
  EXPECT_EQ(tickets.mean_entries, static_cast<double>(lower.entries()) / 60);
  EXPECT_EQ(tickets.order[0], 0);
}

TEST(RowTickets, NoRows) {
  TrianglePattern none;
  none.start = Array<std::int64_t>(1, std::int64_t{0});
  const RowTickets tickets = row_tickets(none, SweepSchedule::automatic);
  EXPECT_EQ(tickets.levels, 0);
  EXPECT_EQ(tickets.order.size(), 0);
}

}  // namespace
}  // namespace echelon
