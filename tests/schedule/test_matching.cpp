// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/orders/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "echelon/base/error.hpp"

namespace echelon {
namespace {

BlockCsr<double> from_pattern(int rows, int columns, const std::vector<std::pair<int, int>>& entries, double value = 1) {
  std::vector<Triplet<double>> triplets;
  for (const auto& [r, c] : entries) triplets.push_back({r, c, value});
  return from_triplets<double>(rows, columns, triplets);
}

/// The definition by trial: the most rows any injective assignment of columns covers.
int best_by_trial(const BlockCsr<double>& A, std::int64_t row, std::set<int> used) {
  if (row == A.rows()) return 0;
  int best = best_by_trial(A, row + 1, used);
  for (auto e = A.row_start()[row]; e < A.row_start()[row + 1]; ++e) {
    const int c = A.column()[e];
    if (used.count(c)) continue;
    auto with = used;
    with.insert(c);
    best = std::max(best, 1 + best_by_trial(A, row + 1, with));
  }
  return best;
}

TEST(Matching, FullDiagonalMatchesItself) {
  const auto match = maximum_matching(from_pattern(3, 3, {{0, 0}, {1, 1}, {2, 2}, {0, 2}}));
  EXPECT_EQ(match.rank, 3);
  EXPECT_EQ(match.column_of_row, (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(Matching, AugmentsAlongAChain) {
  // Greedy takes (0,0); row 2 reaches only column 0, so 0 must move to 1 and 1 to 2.
  const auto match = maximum_matching(from_pattern(3, 3, {{0, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 0}}));
  EXPECT_EQ(match.rank, 3);
  EXPECT_EQ(match.column_of_row, (std::vector<std::int32_t>{1, 2, 0}));
}

TEST(Matching, StructurallySingularRowsAreNamed) {
  // Rows 1 and 2 share the single column 1; column 2 is empty.
  const auto match = maximum_matching(from_pattern(3, 3, {{0, 0}, {1, 1}, {2, 1}}));
  EXPECT_EQ(match.rank, 2);
  EXPECT_EQ(match.unmatched_rows, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(match.unmatched_columns, (std::vector<std::int64_t>{2}));
}

TEST(Matching, ZerosAreNoEdges) { EXPECT_EQ(maximum_matching(from_pattern(2, 2, {{0, 0}, {1, 1}}, 0.0)).rank, 0); }

TEST(Matching, LongestPathNeedsNoRecursion) {
  // Row i has columns i and i+1; the last row has only column 0: every row must move by one.
  const int n = 200000;
  std::vector<Triplet<double>> triplets;
  for (int i = 0; i + 1 < n; ++i) {
    triplets.push_back({i, i, 1.0});
    triplets.push_back({i, i + 1, 1.0});
  }
  triplets.push_back({n - 1, 0, 1.0});
  const auto match = maximum_matching(from_triplets<double>(n, n, triplets));
  EXPECT_EQ(match.rank, n);
  EXPECT_EQ(match.column_of_row[0], 1);
}

TEST(Matching, EqualsTheDefinitionOnRandomPatterns) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    const int rows = 1 + static_cast<int>(random() % 6), columns = 1 + static_cast<int>(random() % 6);
    std::vector<std::pair<int, int>> entries;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        if (random() % 3 == 0) entries.emplace_back(r, c);
      }
    }
    const auto A = from_pattern(rows, columns, entries);
    const auto match = maximum_matching(A);
    EXPECT_EQ(match.rank, best_by_trial(A, 0, {}));
    std::set<int> used;
    for (int r = 0; r < rows; ++r) {
      const int c = match.column_of_row[static_cast<std::size_t>(r)];
      if (c < 0) continue;
      EXPECT_NE(A.at(r, c), 0);
      EXPECT_TRUE(used.insert(c).second);
    }
  }
}

TEST(Matching, RefusesBlocks) {
  const auto A = reblock(from_pattern(2, 2, {{0, 0}, {1, 1}}), 2);
  EXPECT_THROW(maximum_matching(A), Error);
}

}  // namespace
}  // namespace echelon
