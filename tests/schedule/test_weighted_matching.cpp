// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/orders/weighted_matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "echelon/base/error.hpp"

namespace echelon {
namespace {

BlockCsr<double> dense(const std::vector<std::vector<double>>& rows) {
  std::vector<Triplet<double>> triplets;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows.size(); ++c) {
      if (rows[r][c] != 0) triplets.push_back({static_cast<std::int32_t>(r), static_cast<std::int32_t>(c), rows[r][c]});
    }
  }
  const auto n = static_cast<std::int64_t>(rows.size());
  return from_triplets<double>(n, n, triplets);
}

double log_product(const BlockCsr<double>& A, const std::vector<std::int32_t>& row_of_column) {
  double sum = 0;
  for (std::size_t c = 0; c < row_of_column.size(); ++c) {
    sum += std::log(std::abs(A.at(row_of_column[c], static_cast<std::int64_t>(c))));
  }
  return sum;
}

TEST(WeightedMatching, ByHand) {
  // The diagonal's product is 1·1, the other one 3·2.
  const auto match = maximum_product_matching(dense({{1, 3}, {2, 1}}));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->row_of_column, (std::vector<std::int32_t>{1, 0}));
}

TEST(WeightedMatching, ALargeEntryIsGivenUpForTheProduct) {
  // 100·0.001 on the diagonal against 1·1 beside it.
  const auto match = maximum_product_matching(dense({{100, 1}, {1, 0.001}}));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->row_of_column, (std::vector<std::int32_t>{1, 0}));
}

TEST(WeightedMatching, StructurallySingularHasNone) {
  EXPECT_FALSE(maximum_product_matching(dense({{1, 0, 0}, {2, 0, 0}, {0, 1, 1}})));
  EXPECT_FALSE(maximum_product_matching(dense({{0, 0}, {0, 1}})));
}

TEST(WeightedMatching, IsTheBestOfAllPermutationsAndItsScalesBound) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> exponent(-8, 8);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 1 + static_cast<int>(random() % 6);
    std::vector<std::vector<double>> rows(n, std::vector<double>(n, 0));
    for (auto& row : rows) {
      for (auto& value : row) {
        if (random() % 2 == 0) value = (random() % 2 ? 1 : -1) * std::pow(10, exponent(random));
      }
    }
    const auto A = dense(rows);
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    double best = -std::numeric_limits<double>::infinity();
    do best = std::max(best, log_product(A, order));
    while (std::next_permutation(order.begin(), order.end()));
    const auto match = maximum_product_matching(A);
    ASSERT_EQ(match.has_value(), std::isfinite(best));
    if (!match) continue;
    EXPECT_NEAR(log_product(A, match->row_of_column), best, 1e-9);
    for (int c = 0; c < n; ++c) {
      for (int r = 0; r < n; ++r) {
        const double scaled = std::abs(A.at(r, c)) * match->row_scale[r] * match->column_scale[c];
        EXPECT_LE(scaled, 2.001);
        if (match->row_of_column[c] == r) {
          EXPECT_GE(scaled, 0.499);
        }
      }
    }
  }
}

TEST(WeightedMatching, RefusesWhatIsNotSquare) {
  const std::vector<Triplet<double>> triplets = {{0, 0, 1.0}};
  EXPECT_THROW(maximum_product_matching(from_triplets<double>(1, 2, triplets)), Error);
}

}  // namespace
}  // namespace echelon
