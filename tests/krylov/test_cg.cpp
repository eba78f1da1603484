// SPDX-License-Identifier: BSD-3-Clause
// CG: cases to check by hand, equality with the textbook version, theory's iteration bound, and how it ends.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "echelon/base/error.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

const Identity<double> none;

TEST(Cg, TwoByTwoByHand) {
  const auto A = reference::from_dense({{4, 1}, {1, 3}});
  const Vector<double> b{1, 2};
  Vector<double> x{2, 1};
  const Report report = cg(A, b, x, none);
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.reason, Reason::rtol);
  EXPECT_EQ(report.iterations, 2);
  EXPECT_NEAR(x[0], 1.0 / 11, 1e-15);
  EXPECT_NEAR(x[1], 7.0 / 11, 1e-15);
  // r₀ = b − A (2, 1) = (−8, −3)
  EXPECT_NEAR(report.history[0], std::sqrt(73.0 / 5.0), 1e-14);
  EXPECT_EQ(report.history.size(), 3u);
}

TEST(Cg, OneByOneAndDiagonalWithJacobiTakeOneIteration) {
  const auto one = reference::from_dense({{4}});
  Vector<double> x{0};
  EXPECT_EQ(cg(one, {2}, x, none).iterations, 1);
  EXPECT_EQ(x[0], 0.5);
  const auto D = reference::from_dense({{2, 0, 0}, {0, 50, 0}, {0, 0, 0.25}});
  Vector<double> y{0, 0, 0};
  const Report report = cg(D, {2, 100, 1}, y, Jacobi<double>(D));
  EXPECT_EQ(report.iterations, 1);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 2);
  EXPECT_EQ(y[2], 4);
}

TEST(Cg, EqualsTheTextbookVersionIterationByIteration) {
  const auto A = to_block_csr(problems::poisson({7, 6, 5}, stencils::star7()));
  const Jacobi<double> M(A);
  Vector<double> b(A.rows()), x(A.rows(), 0.0);
  for (std::int64_t i = 0; i < b.size(); ++i) b[i] = 1 + i % 7;
  const auto plain = reference::plain_cg(
      reference::long_product(A),
      [&](const reference::LongVector& r) {
        auto z = r;
        for (std::size_t i = 0; i < z.size(); ++i) z[i] /= A.at(static_cast<std::int64_t>(i), static_cast<std::int64_t>(i));
        return z;
      },
      reference::widened(b), 1e-8L, 1000);
  const Report report = cg(A, b, x, M, {.rtol = 1e-8});
  EXPECT_TRUE(report.converged);
  ASSERT_EQ(report.history.size(), plain.residual_norms.size());
  const double norm_b = static_cast<double>(reference::exact_norm(b));
  for (std::size_t k = 0; k < report.history.size(); ++k) {
    const double want = static_cast<double>(plain.residual_norms[k]) / norm_b;
    EXPECT_NEAR(report.history[k] / want, 1, 1e-8) << "iteration " << k;
  }
  for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], static_cast<double>(plain.x[i]), 1e-12);
}

TEST(Cg, PoissonNeedsNoMoreIterationsThanTheConditionNumberAllows) {
  for (const std::int64_t side : {8, 16, 32}) {
    const auto A = problems::poisson({side, side, side}, stencils::star7());
    Vector<double> b(A.rows(), 1.0), x(A.rows(), 0.0);
    const double rtol = 1e-8;
    const Report report = cg(A, b, x, none, {.rtol = rtol});
    ASSERT_TRUE(report.converged);
    // Eigenvalues 4 Σ sin²(kπ/2(N+1)): κ = cot²(π/2(N+1)); ‖r_k‖/‖r₀‖ ≤ 2 √κ ((√κ−1)/(√κ+1))^k.
    const double root = 1 / std::tan(std::numbers::pi / (2 * (static_cast<double>(side) + 1)));
    const double bound = std::log(2 * root / rtol) / std::log((root + 1) / (root - 1));
    EXPECT_LE(static_cast<double>(report.iterations), bound);
    EXPECT_GE(static_cast<double>(report.iterations), bound / 5);
    EXPECT_LE(report.relative_residual, rtol);
  }
}

TEST(Cg, InitialGuessIsUsedAndAnExactOneCostsNothing) {
  const auto A = reference::tridiagonal(50, -1, 2, -1);
  const Vector<double> ones(50, 1.0);
  Vector<double> b(50);
  A.apply(ones, b);
  Vector<double> x = ones.clone();
  const Report report = cg(A, b, x, none);
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(x[17], 1.0);
}

TEST(Cg, IndefiniteMatrixIsSaidToBeSo) {
  const auto A = reference::from_dense({{1, 0}, {0, -1}});
  Vector<double> x{0, 0};
  const Report report = cg(A, {1, 2}, x, none);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.reason, Reason::indefinite_matrix);
  EXPECT_NE(report.message.find("GMRES"), std::string::npos) << report.message;
}

TEST(Cg, IndefinitePreconditionerIsSaidToBeSo) {
  const auto A = reference::tridiagonal(20, -1, 2, -1);
  const FunctionPreconditioner<double> M([](const Vector<double>& r, Vector<double>& z) {
    for (std::int64_t i = 0; i < r.size(); ++i) z[i] = -r[i];
  });
  Vector<double> b(20, 1.0), x(20, 0.0);
  const Report report = cg(A, b, x, M);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.reason, Reason::indefinite_pc);
}

}  // namespace
}  // namespace echelon
