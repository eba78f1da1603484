// SPDX-License-Identifier: BSD-3-Clause
// Which order of rows a GPU takes. That tickets are legal, and the depths themselves, are held against the host's levels in
// tests/gpu/test_device_triangles.cpp.
#include "echelon/schedule/rows_gpu/row_tickets.hpp"

#include <gtest/gtest.h>

namespace echelon {
namespace {

TEST(RowTickets, AnExplicitWishIsGranted) {
  for (const std::int64_t chained : {0, 50, 100}) {
    EXPECT_FALSE(tickets_by_depth(SweepSchedule::sequential, chained, 100));
    EXPECT_TRUE(tickets_by_depth(SweepSchedule::levels, chained, 100));
    EXPECT_TRUE(tickets_by_depth(SweepSchedule::point_to_point, chained, 100));
  }
}

TEST(RowTickets, ChainsGoByDepthAndScatteredRowsInOrder) {
  EXPECT_FALSE(tickets_by_depth(SweepSchedule::automatic, 0, 1000));    // numbered at random
  EXPECT_FALSE(tickets_by_depth(SweepSchedule::automatic, 490, 1000));  // a mesh by Cuthill-McKee
  EXPECT_TRUE(tickets_by_depth(SweepSchedule::automatic, 790, 1000));   // a mesh numbered along lines
  EXPECT_TRUE(tickets_by_depth(SweepSchedule::automatic, 999, 1000));   // tridiagonal
}

TEST(RowTickets, NoRows) { EXPECT_FALSE(tickets_by_depth(SweepSchedule::automatic, 0, 0)); }

}  // namespace
}  // namespace echelon
