// SPDX-License-Identifier: BSD-3-Clause
// GMRES and FGMRES: cases to check by hand, equality with the textbook version, FP32 basis, restarts and sides.
#include <gtest/gtest.h>

#include <cmath>

#include "echelon/base/error.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

const Identity<double> none;

TEST(Gmres, TwoByTwoByHand) {
  // First step: minimise ‖b − y A b‖ with b = (1, 0), A b = (0, 1): y = 0, no progress; the second is exact.
  const auto A = reference::from_dense({{0, 1}, {1, 0}});
  Vector<double> x{0, 0};
  const Report report = gmres(A, {1, 0}, x, none);
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.iterations, 2);
  EXPECT_EQ(report.history[1], 1);
  EXPECT_NEAR(x[0], 0, 1e-15);
  EXPECT_NEAR(x[1], 1, 1e-15);
}

TEST(Gmres, DiagonalWithTwoValuesTakesTwoIterations) {
  const auto D = reference::from_dense({{2, 0, 0}, {0, -3, 0}, {0, 0, 2}});
  for (const char* name : {"gmres", "fgmres"}) {
    Vector<double> x{0, 0, 0};
    const Report report = solve(name, D, {2, 3, 4}, x, none);
    EXPECT_TRUE(report.converged);
    EXPECT_EQ(report.iterations, 2);
    EXPECT_NEAR(x[1], -1, 1e-14);
    EXPECT_NEAR(x[2], 2, 1e-14);
  }
}

struct System {
  BlockCsr<double> A;
  Vector<double> b;
};

System convection(std::int64_t side, double peclet = 50) {
  auto A = to_block_csr(problems::convection_diffusion({side, side, side}, stencils::star7(), {.peclet = peclet}));
  Vector<double> b(A.rows());
  for (std::int64_t i = 0; i < b.size(); ++i) b[i] = 1 + i % 5;
  return {std::move(A), std::move(b)};
}

TEST(Gmres, EqualsTheTextbookVersionIterationByIteration) {
  const auto [A, b] = convection(6);
  const Jacobi<double> M(A);
  const auto jacobi = [&A = A](const reference::LongVector& r) {
    auto z = r;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] /= A.at(static_cast<std::int64_t>(i), static_cast<std::int64_t>(i));
    return z;
  };
  for (const int restart : {5, 12, 100}) {
    const auto plain =
        reference::plain_gmres(reference::long_product(A), jacobi, reference::widened(b), 1e-8L, 1000, restart);
    for (const char* name : {"gmres", "fgmres"}) {
      Vector<double> x(A.rows(), 0.0);
      const Report report = solve(name, A, b, x, M, {.rtol = 1e-8, .restart = restart});
      EXPECT_TRUE(report.converged);
      ASSERT_EQ(report.history.size(), plain.residual_norms.size()) << name << " restart " << restart;
      const double norm_b = static_cast<double>(reference::exact_norm(b));
      for (std::size_t k = 0; k < report.history.size(); ++k) {
        EXPECT_NEAR(report.history[k] / (static_cast<double>(plain.residual_norms[k]) / norm_b), 1, 1e-6) << k;
      }
      for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], static_cast<double>(plain.x[i]), 1e-10);
    }
  }
}

TEST(Gmres, TwoStepsAtOnceIterateAsSingleOnes) {
  const auto [A, b] = convection(20);
  const auto factors = ilu(A);
  for (const int restart : {4, 10, 30, 31}) {
    int calls = 0, calls_then = 0, pairs = 0;
    const FunctionPreconditioner<double> M([&](const Vector<double>& r, Vector<double>& z) {
      factors.apply(r, z);
      ++calls;
    });
    const auto monitor = [&](std::int64_t, double) {
      pairs += calls - calls_then == 2;
      calls_then = calls;
      return Verdict::proceed;
    };
    Vector<double> x(A.rows(), 0.0), y(A.rows(), 0.0);
    const Report paired = gmres(A, b, x, M, {.rtol = 1e-10, .restart = restart, .monitor = monitor});
    // The flexible method takes one step at a time.
    const Report single = fgmres(A, b, y, M, {.rtol = 1e-10, .restart = restart});
    EXPECT_TRUE(paired.converged) << paired.message;
    EXPECT_GE(pairs, paired.iterations / 5) << restart;
    ASSERT_EQ(paired.history.size(), single.history.size());
    for (std::size_t k = 0; k < paired.history.size(); ++k) {
      EXPECT_NEAR(paired.history[k] / single.history[k], 1, 1e-5) << "restart " << restart << ", iteration " << k;
    }
    EXPECT_LE(reference::exact_residual_norm(A, b, x), 1e-10L * 1.001L * reference::exact_norm(b));
  }
}

TEST(Gmres, HistoryNeverRisesWithinACycle) {
  const auto [A, b] = convection(8, 500);
  Vector<double> x(A.rows(), 0.0);
  const Report report = gmres(A, b, x, none, {.restart = 1000});
  ASSERT_TRUE(report.converged);
  EXPECT_EQ(report.restarts, 1);
  for (std::size_t k = 1; k < report.history.size(); ++k) EXPECT_LE(report.history[k], report.history[k - 1]);
}

TEST(Gmres, Fp32BasisReachesTheSameTrueResidual) {
  const auto [A, b] = convection(16);
  const Jacobi<double> M(A);
  for (const char* name : {"gmres", "fgmres"}) {
    for (const double rtol : {1e-6, 1e-8, 1e-12}) {
      Vector<double> x64(A.rows(), 0.0), x32(A.rows(), 0.0);
      const Report full = solve(name, A, b, x64, M, {.rtol = rtol, .restart = 30});
      const Report half = solve(name, A, b, x32, M, {.rtol = rtol, .restart = 30, .basis = BasisPrecision::fp32});
      EXPECT_TRUE(full.converged);
      EXPECT_TRUE(half.converged) << half.message;
      EXPECT_EQ(half.basis_precision, "fp32");
      EXPECT_LE(reference::exact_residual_norm(A, b, x32), rtol * 1.001 * reference::exact_norm(b));
      EXPECT_LE(static_cast<double>(half.iterations), 1.15 * static_cast<double>(full.iterations) + 5)
          << name << " " << rtol;
    }
  }
}

TEST(Gmres, LeftAndRightReachTheSameTrueResidual) {
  const auto [A, b] = convection(10);
  const Jacobi<double> M(A);
  for (const Side side : {Side::left, Side::right}) {
    Vector<double> x(A.rows(), 0.0);
    const Report report = gmres(A, b, x, M, {.rtol = 1e-9, .side = side});
    EXPECT_TRUE(report.converged) << report.message;
    EXPECT_LE(reference::exact_residual_norm(A, b, x), 1e-9L * 1.001L * reference::exact_norm(b));
  }
  Vector<double> x(A.rows(), 0.0);
  EXPECT_THROW(solve("fgmres", A, b, x, M, {.side = Side::left}), Error);
}

TEST(Gmres, RestartOfOneAndRestartBeyondTheSizeWork) {
  const auto A = reference::tridiagonal(12, -1, 4, -2);
  const Vector<double> b(12, 1.0);
  for (const int restart : {1, 2, 12, 13, 1000000}) {
    Vector<double> x(12, 0.0);
    const Report report = gmres(A, b, x, none, {.rtol = 1e-10, .restart = restart});
    EXPECT_TRUE(report.converged) << restart << ": " << report.message;
    if (restart >= 12) {
      EXPECT_LE(report.iterations, 12);
    }
  }
  Vector<double> x{0};
  EXPECT_EQ(gmres(reference::from_dense({{-4}}), {2}, x, none).iterations, 1);
  EXPECT_EQ(x[0], -0.5);
}

TEST(Gmres, HappyBreakdownIsTestedAgainstTheTrueResidual) {
  // The space of b = e₁ is exhausted after two steps and holds the solution.
  const auto good = reference::from_dense({{2, 1, 0}, {0, 3, 0}, {0, 0, 5}});
  Vector<double> x{0, 0, 0};
  EXPECT_TRUE(gmres(good, {1, 1, 0}, x, none).converged);
  // A e₁ = 0: exhausted at once, and b = e₁ is not in the range.
  const auto singular = reference::from_dense({{0, 1}, {0, 0}});
  Vector<double> y{0, 0};
  const Report report = gmres(singular, {0, 1}, y, none, {.max_it = 50});
  EXPECT_FALSE(report.converged);
  EXPECT_LE(report.iterations, 50);
  EXPECT_LE(report.relative_residual, 1);
}

TEST(Gmres, FlexibleTakesAPreconditionerThatChanges) {
  const auto [A, b] = convection(8);
  const Jacobi<double> jacobi(A);
  int call = 0;
  const FunctionPreconditioner<double> M([&](const Vector<double>& r, Vector<double>& z) {
    jacobi.apply(r, z);
    const double scale = 1 + 0.5 * (++call % 3);
    for (std::int64_t i = 0; i < z.size(); ++i) z[i] *= i % 2 ? scale : 1;
  });
  Vector<double> x(A.rows(), 0.0);
  const Report report = fgmres(A, b, x, M, {.rtol = 1e-10});
  EXPECT_TRUE(report.converged) << report.message;
  EXPECT_LE(reference::exact_residual_norm(A, b, x), 1e-10L * 1.001L * reference::exact_norm(b));
}

}  // namespace
}  // namespace echelon
