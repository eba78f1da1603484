// SPDX-License-Identifier: BSD-3-Clause
// Which rows a thread takes: every row once and ascending, parts of planes and lines on grids, one thread where it should.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "echelon/factor/ilut/thread_parts.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/schedule/orders/colouring.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

PatternView pattern(const BlockCsr<double>& A) { return {A.block_rows(), A.row_start().data(), A.column().data()}; }

void expect_every_row_once(const RowDeal& deal, std::int64_t rows) {
  std::vector<int> seen(static_cast<std::size_t>(rows), 0);
  for (const auto& own : deal.parts) {
    std::int64_t last = 0;
    for (const auto& part : own) {
      ASSERT_LE(last, part.begin) << "a thread goes upwards, or all may wait for all";
      ASSERT_LT(part.begin, part.end);
      for (auto i = part.begin; i < part.end; ++i) ++seen[static_cast<std::size_t>(i)];
      last = part.end;
    }
  }
  for (std::int64_t i = 0; i < rows; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], 1) << i;
}

TEST(RowDeal, EveryThreadTakesAPartOfEveryPlane) {
  for (const auto& stencil : {stencils::star7(), stencils::box27()}) {
    const auto A = to_block_csr(problems::poisson({20, 18, 16}, stencil));
    for (const int team : {2, 3, 4}) {
      const auto deal = deal_rows(pattern(A), {}, {}, team);
      ASSERT_EQ(deal.team(), team);
      expect_every_row_once(deal, A.rows());
      for (const auto& own : deal.parts) EXPECT_EQ(own.size(), 16U);
      EXPECT_EQ(deal.parts[0][1].begin, 20 * 18);
      EXPECT_EQ(deal.parts[0][2].begin, 2 * 20 * 18);
    }
  }
}

TEST(RowDeal, WithoutPlanesAPartOfEveryLine) {
  const auto A = to_block_csr(problems::poisson({70, 60, 1}, stencils::star5()));
  const auto deal = deal_rows(pattern(A), {}, {}, 2);
  ASSERT_EQ(deal.team(), 2);
  expect_every_row_once(deal, A.rows());
  EXPECT_EQ(deal.parts[0][3].begin, 3 * 70);
  EXPECT_EQ(deal.parts[1][3].begin, 3 * 70 + 35);
  // Parts of less than 16 rows are not worth it: 70 rows feed four threads.
  EXPECT_EQ(deal_rows(pattern(A), {}, {}, 7).team(), 4);
}

TEST(RowDeal, AnOrderIsFollowed) {
  const auto A = to_block_csr(problems::poisson({70, 60, 1}, stencils::star5()));
  // The grid's columns become its lines.
  std::vector<std::int32_t> order, position(static_cast<std::size_t>(A.rows()));
  for (std::int32_t x = 0; x < 70; ++x) {
    for (std::int32_t y = 0; y < 60; ++y) order.push_back(y * 70 + x);
  }
  for (std::size_t i = 0; i < order.size(); ++i) position[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  const auto deal = deal_rows(pattern(A), order, position, 2);
  ASSERT_EQ(deal.team(), 2);
  expect_every_row_once(deal, A.rows());
  EXPECT_EQ(deal.parts[1][1].begin, 60 + 30);
}

TEST(RowDeal, LevelsOfRcmAreShared) {
  const auto A = to_block_csr(problems::poisson({24, 22, 20}, stencils::star7()));
  const auto found = elimination_order(pattern(A), Ordering::rcm);
  std::vector<std::int32_t> position(static_cast<std::size_t>(A.rows()));
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    position[static_cast<std::size_t>(found.order[i])] = static_cast<std::int32_t>(i);
  }
  const auto deal = deal_rows(pattern(A), found.order.span(), position, 2);
  EXPECT_EQ(deal.team(), 2);
  expect_every_row_once(deal, A.rows());
}

TEST(RowDeal, OneThreadWhereTwoWouldWait) {
  const auto alone = [](const BlockCsr<double>& A, int team) {
    const auto deal = deal_rows(pattern(A), {}, {}, team);
    expect_every_row_once(deal, A.rows());
    return deal.team() == 1;
  };
  EXPECT_TRUE(alone(to_block_csr(problems::poisson({20, 18, 16}, stencils::star7())), 1));
  EXPECT_TRUE(alone(to_block_csr(problems::poisson({10, 10, 10}, stencils::star7())), 2)) << "too small";
  EXPECT_TRUE(alone(to_block_csr(problems::poisson({100'000, 1, 1}, stencils::star5())), 2)) << "one chain";
  EXPECT_TRUE(alone(to_block_csr(problems::poisson({5, 5000, 1}, stencils::star5())), 2)) << "short lines";
  EXPECT_TRUE(alone(reference::with_random_values<double>(reference::random_rows(3000, 0.002, 1), 1, 2), 2))
      << "all at once";
  const auto empty = deal_rows({}, {}, {}, 4);
  EXPECT_EQ(empty.team(), 1);
}

/// Wide groups whose rows form one chain across all parts: the cut would be fine, the model sees that nobody wins.
TEST(RowDeal, AChainThroughWideGroupsIsSeen) {
  const std::int32_t width = 100, groups = 60, n = width * groups;
  std::vector<Triplet<double>> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 4.0});
    if (i > 0) entries.push_back({i, i - 1, -1.0});
    if (i >= width) entries.push_back({i, i - width, -1.0});
  }
  const auto A = from_triplets<double>(n, n, entries);
  EXPECT_EQ(deal_rows(pattern(A), {}, {}, 2).team(), 1);
}

}  // namespace
}  // namespace echelon
