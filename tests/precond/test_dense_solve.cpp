// SPDX-License-Identifier: BSD-3-Clause
// The coarsest level's dense solve: by hand, against its own product, and on the complement of null vectors.
#include "echelon/precond/multilevel/dense_solve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace echelon {
namespace {

using Numbers = std::vector<double>;

Numbers solved(const Numbers& A, const Numbers& b, std::int64_t* rank = nullptr) {
  const auto n = static_cast<std::int64_t>(b.size());
  DenseFactors factors;
  EXPECT_EQ(factors.factor(n, A), "");
  if (rank) *rank = factors.rank();
  const DenseSolve<double> solve(factors);
  Vector<double> r{std::span<const double>(b)}, x(n);
  solve.solve(r, x);
  return {x.begin(), x.end()};
}

TEST(DenseSolve, TwoByTwoByHand) {
  EXPECT_EQ(solved({0, 2, 1, 0}, {4, 3}), (Numbers{3, 2}));
  EXPECT_EQ(solved({4, 0, 0, 16}, {8, 8}), (Numbers{2, 0.5}));
  EXPECT_EQ(solved({5}, {10}), (Numbers{2}));
}

TEST(DenseSolve, DrawnMatricesOfManySizes) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> draw(-1, 1);
  for (const std::size_t n : {2, 3, 7, 30, 101}) {
    Numbers A(n * n), x(n), b(n, 0.0);
    for (auto& a : A) a = draw(random);
    for (auto& one : x) one = draw(random);
    for (std::size_t i = 0; i < n; ++i) {
      A[i * n + i] += 3;
      for (std::size_t j = 0; j < n; ++j) b[i] += A[i * n + j] * x[j];
    }
    std::int64_t rank = 0;
    const auto got = solved(A, b, &rank);
    EXPECT_EQ(rank, static_cast<std::int64_t>(n));
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(got[i], x[i], 1e-10);
  }
}

TEST(DenseSolve, SingularOnTheComplementOfTheNullVector) {
  // Neumann's chain of n points, unit weights: the constant is the null vector on both sides.
  constexpr std::size_t n = 40;
  Numbers A(n * n, 0.0), b(n);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    A[i * n + i] += 1;
    A[(i + 1) * n + i + 1] += 1;
    A[i * n + i + 1] = A[(i + 1) * n + i] = -1;
  }
  for (std::size_t i = 0; i < n; ++i) b[i] = std::sin(static_cast<double>(i));
  double mean = 0;
  for (const double one : b) mean += one / n;
  std::int64_t rank = 0;
  const auto x = solved(A, b, &rank);
  EXPECT_EQ(rank, static_cast<std::int64_t>(n) - 1);
  // The diagonal differs at the ends, so that x is orthogonal to the null vector of the scaled matrix; A x is b without its
  // part along the null vector of the scaled one: orthogonal to constants either way.
  double sum = 0;
  Numbers left(n);
  for (std::size_t i = 0; i < n; ++i) {
    double product = 0;
    for (std::size_t j = 0; j < n; ++j) product += A[i * n + j] * x[j];
    left[i] = b[i] - product;
    sum += product;
  }
  EXPECT_NEAR(sum, 0, 1e-12);
  Numbers consistent(n);
  for (std::size_t i = 0; i < n; ++i) consistent[i] = b[i] - mean;
  const auto y = solved(A, consistent);
  for (std::size_t i = 0; i < n; ++i) {
    double product = 0;
    for (std::size_t j = 0; j < n; ++j) product += A[i * n + j] * y[j];
    EXPECT_NEAR(product, consistent[i], 1e-12);
  }
}

TEST(DenseSolve, SaysWhatIsWrong) {
  DenseFactors factors;
  EXPECT_EQ(factors.factor(2, {0, 0, 0, 0}), "all of it is zero");
  EXPECT_NE(factors.factor(2, {1, 0, std::numeric_limits<double>::quiet_NaN(), 1}).find("row 1 and column 0"),
            std::string::npos);
}

}  // namespace
}  // namespace echelon
