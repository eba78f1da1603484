// SPDX-License-Identifier: BSD-3-Clause
// Reverse Cuthill-McKee: a permutation of every component, that brings a shuffled band back to a band.
#include "echelon/schedule/orders/rcm.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace echelon {
namespace {

using Rows = std::vector<std::vector<std::int32_t>>;

Pattern pattern_of(Rows rows) {
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> column;
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    column.insert(column.end(), row.begin(), row.end());
    start.push_back(static_cast<std::int64_t>(column.size()));
  }
  return {Array<std::int64_t>(std::span<const std::int64_t>(start)),
          Array<std::int32_t>(std::span<const std::int32_t>(column))};
}

std::int32_t bandwidth(const PatternView& A, const Array<std::int32_t>& order) {
  std::vector<std::int32_t> position(static_cast<std::size_t>(A.rows));
  for (std::int64_t i = 0; i < A.rows; ++i) position[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  std::int32_t widest = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    for (auto p = A.start[i]; p < A.start[i + 1]; ++p) {
      widest = std::max(widest,
                        std::abs(position[static_cast<std::size_t>(i)] - position[static_cast<std::size_t>(A.column[p])]));
    }
  }
  return widest;
}

TEST(Rcm, AnyPatternGivesAPermutation) {
  EXPECT_TRUE(rc::check("every row once", [] {
    const int n = *rc::gen::inRange(0, 40);
    Rows rows(static_cast<std::size_t>(n));
    for (auto& row : rows) row = *rc::gen::container<std::vector<std::int32_t>>(rc::gen::inRange(0, n));
    const auto A = pattern_of(rows);
    const auto order = reverse_cuthill_mckee(A.view());
    std::vector<std::int32_t> sorted(order.begin(), order.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::int32_t> expected(static_cast<std::size_t>(n));
    std::iota(expected.begin(), expected.end(), 0);
    RC_ASSERT(sorted == expected);
  }));
}

TEST(Rcm, AShuffledPathBecomesTridiagonalAgain) {
  constexpr std::int32_t n = 500;
  std::vector<std::int32_t> name(n);
  std::iota(name.begin(), name.end(), 0);
  std::shuffle(name.begin(), name.end(), std::mt19937_64(3));
  Rows rows(n);
  // Only the upper neighbour is stored: the pattern is symmetrised.
  for (std::int32_t i = 0; i + 1 < n; ++i)
    rows[static_cast<std::size_t>(name[static_cast<std::size_t>(i)])] = {name[static_cast<std::size_t>(i) + 1]};
  const auto A = pattern_of(rows);
  EXPECT_EQ(bandwidth(A.view(), reverse_cuthill_mckee(A.view())), 1);
}

TEST(Rcm, ComponentsStayTogether) {
  // Rows 0 2 4 and 1 3 5 are two triangles.
  const auto A = pattern_of({{2, 4}, {3, 5}, {0, 4}, {1, 5}, {0, 2}, {1, 3}});
  const auto order = reverse_cuthill_mckee(A.view());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(order[i] % 2, order[0] % 2);
  EXPECT_LE(bandwidth(A.view(), order), 2);
}

}  // namespace
}  // namespace echelon
