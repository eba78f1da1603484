// SPDX-License-Identifier: BSD-3-Clause
// The iteration without a Krylov space: by hand, to the true residual, and honest where it does not converge.
#include <gtest/gtest.h>

#include <cmath>

#include "echelon/base/threads.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"

namespace echelon {
namespace {

TEST(Stationary, TwoByTwoByHand) {
  // x ← x + D⁻¹ r from 0: (1/2, 1/4), then r = (1 − 1 − ¼, 1 − ½ − 1) and so x = (3/8, 1/8).
  const std::vector<Triplet<double>> triplets = {{0, 0, 2.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 4.0}};
  const auto A = from_triplets<double>(2, 2, triplets);
  const Vector<double> b{1, 1};
  Vector<double> x(2, 0.0);
  auto report = stationary(A, b, x, Jacobi<double>(A), {.max_it = 2});
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.reason, Reason::max_it);
  EXPECT_EQ(report.iterations, 2);
  EXPECT_EQ(x[0], 0.375);
  EXPECT_EQ(x[1], 0.125);
  EXPECT_DOUBLE_EQ(report.relative_residual, std::sqrt(0.125 * 0.125 + 0.125 * 0.125) / std::sqrt(2.0));
  report = stationary(A, b, x, Jacobi<double>(A));
  EXPECT_TRUE(report.converged);
  EXPECT_NEAR(x[0], 3.0 / 7, 1e-8);
  EXPECT_NEAR(x[1], 1.0 / 7, 1e-8);
}

TEST(Stationary, SaysWhenItDoesNotConverge) {
  const auto A = problems::poisson({12, 12, 12}, stencils::star7());
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  const auto diverged = stationary(A, b, x, Identity<double>());  // the spectrum of A reaches 12
  EXPECT_FALSE(diverged.converged);
  EXPECT_EQ(diverged.reason, Reason::diverged);
  EXPECT_LE(diverged.relative_residual, 1);  // the best iterate, x = 0
  EXPECT_ERROR((void)stationary(A, b, x, Identity<double>(), {.side = Side::left}), bad_argument, "stationary");
}

TEST(Stationary, SameBitsForEveryThreadCount) {
  const auto A = problems::poisson({30, 30, 30}, stencils::star7());
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> want;
  for (const int count : {1, 2, 3, 4}) {
    set_threads(count);
    Vector<double> x(A.rows(), 0.0);
    const auto report = solve("stationary", A, b, x, ilu(A), {.rtol = 1e-4});
    EXPECT_TRUE(report.converged);
    EXPECT_LE(report.relative_residual, 1e-4);
    if (count == 1) want = x.clone();
    for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], want[i]);
  }
  set_threads(0);
}

}  // namespace
}  // namespace echelon
