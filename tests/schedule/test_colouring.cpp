// SPDX-License-Identifier: BSD-3-Clause
// Colourings: no coupled rows share a colour, red and black on a grid, parallel rounds of Jones and Plassmann by hand, the
// order, and a factorization in it.
#include "echelon/schedule/orders/colouring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

PatternView pattern_of(const BlockCsr<double>& A) { return {A.block_rows(), A.row_start().data(), A.column().data()}; }

void expect_valid(const PatternView& A, const Colouring& found) {
  ASSERT_EQ(found.colour.size(), A.rows);
  std::vector<bool> used(static_cast<std::size_t>(found.colours), false);
  for (std::int64_t i = 0; i < A.rows; ++i) {
    ASSERT_GE(found.colour[i], 0);
    ASSERT_LT(found.colour[i], found.colours);
    used[static_cast<std::size_t>(found.colour[i])] = true;
    for (auto p = A.start[i]; p < A.start[i + 1]; ++p) {
      if (A.column[p] != i) {
        ASSERT_NE(found.colour[i], found.colour[A.column[p]]) << i << ", " << A.column[p];
      }
    }
  }
  EXPECT_TRUE(std::all_of(used.begin(), used.end(), [](bool one) { return one; }));
}

TEST(Colouring, CoupledRowsDiffer) {
  for (int seed = 0; seed < 20; ++seed) {
    const auto n = 1 + 13 * seed;
    const auto A = reference::with_random_values<double>(
        reference::random_rows(n, 0.05, static_cast<std::uint64_t>(seed), seed % 2 == 0), 1, 1);
    expect_valid(pattern_of(A), first_fit_colouring(pattern_of(A)));
    expect_valid(pattern_of(A), independent_set_colouring(pattern_of(A)));
  }
}

TEST(Colouring, RedAndBlackOnAStarAndEightOnABox) {
  const auto star = to_block_csr(problems::poisson({7, 6, 5}, stencils::star7()));
  const auto red_black = first_fit_colouring(pattern_of(star));
  EXPECT_EQ(red_black.colours, 2);
  for (int k = 0, row = 0; k < 5; ++k) {
    for (int j = 0; j < 6; ++j) {
      for (int i = 0; i < 7; ++i, ++row) ASSERT_EQ(red_black.colour[row], (i + j + k) % 2) << row;
    }
  }
  const auto box = to_block_csr(problems::random({6, 6, 6}, stencils::box27(), 1, 1));
  EXPECT_EQ(first_fit_colouring(pattern_of(box)).colours, 8);
}

/// All rows that outweigh their neighbours without a colour at once, round by round.
TEST(Colouring, FirstFitByWeightIsJonesAndPlassmanns) {
  const auto A = to_block_csr(problems::random({9, 8, 7}, stencils::diamond13(), 1, 1));
  const auto view = pattern_of(A);
  const auto found = independent_set_colouring(view);
  std::vector<int> colour(static_cast<std::size_t>(view.rows), -1);
  const auto outweighs = [](std::int64_t a, std::int64_t b) {
    const auto left = colouring_weight(static_cast<std::uint32_t>(a)),
               right = colouring_weight(static_cast<std::uint32_t>(b));
    return left != right ? left > right : a < b;
  };
  for (bool left = true; left;) {
    left = false;
    auto next = colour;
    for (std::int64_t i = 0; i < view.rows; ++i) {
      if (colour[static_cast<std::size_t>(i)] >= 0) continue;
      left = true;
      bool first = true;
      std::vector<bool> taken(64, false);
      for (auto p = view.start[i]; p < view.start[i + 1]; ++p) {
        const auto j = view.column[p];
        if (j == i) continue;
        if (colour[static_cast<std::size_t>(j)] >= 0) {
          taken[static_cast<std::size_t>(colour[static_cast<std::size_t>(j)])] = true;
        } else {
          first = first && outweighs(i, j);
        }
      }
      if (first)
        next[static_cast<std::size_t>(i)] = static_cast<int>(std::find(taken.begin(), taken.end(), false) - taken.begin());
    }
    colour = next;
  }
  for (std::int64_t i = 0; i < view.rows; ++i) ASSERT_EQ(found.colour[i], colour[static_cast<std::size_t>(i)]) << i;
}

TEST(Colouring, OrdersColourByColour) {
  const Colouring colouring{Array<std::int32_t>{1, 0, 2, 0, 1}, 3};
  const auto order = order_by_colour(colouring);
  const std::vector<std::int32_t> expected = {1, 3, 0, 4, 2};
  EXPECT_TRUE(std::equal(order.begin(), order.end(), expected.begin(), expected.end()));
}

TEST(Colouring, LevelsOfIluAreTheColours) {
  const auto A = to_block_csr(problems::poisson({8, 8, 8}, stencils::star7()));
  const auto M = ilu(A, {.ordering = Ordering::colours, .schedule = SweepSchedule::levels});
  EXPECT_EQ(M.report().colours, 2);
  EXPECT_EQ(M.report().levels, 2);
  EXPECT_EQ(M.report().ordering, "colours");
  EXPECT_EQ(M.report().name, "mcilu");
}

TEST(Colouring, NothingToColour) {
  const auto empty = from_triplets<double>(0, 0, {});
  EXPECT_EQ(first_fit_colouring(pattern_of(empty)).colours, 0);
  EXPECT_EQ(order_by_colour(independent_set_colouring(pattern_of(empty))).size(), 0);
}

}  // namespace
}  // namespace echelon
