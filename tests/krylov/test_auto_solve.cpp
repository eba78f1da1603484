// SPDX-License-Identifier: BSD-3-Clause
// The ladder: what it chooses, when it climbs, what it keeps and what it tells.
#include "echelon/krylov/auto_solve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "echelon/base/error.hpp"
#include "echelon/precond/matched_ilu.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon {
namespace {

/// A random matrix with rows in a shuffled order: a full structural rank, but hardly anything on the diagonal.
BlockCsr<double> shuffled_rows(int n) {
  std::mt19937 random(3);
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<Triplet<double>> triplets;
  for (int i = 0; i < n; ++i) {
    triplets.push_back({order[static_cast<std::size_t>(i)], i, 1e5});
    for (int k = 0; k < 3; ++k) {
      triplets.push_back({order[static_cast<std::size_t>(i)], static_cast<std::int32_t>(random() % static_cast<unsigned>(n)),
                          static_cast<double>(random() % 1000)});
    }
  }
  return from_triplets<double>(n, n, triplets);
}

double relative_residual(const Operator<double>& A, const Vector<double>& b, const Vector<double>& x) {
  Vector<double> r(b.size());
  A.residual(b, x, r);
  double r2 = 0, b2 = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) r2 += r[i] * r[i], b2 += b[i] * b[i];
  return std::sqrt(r2 / b2);
}

TEST(AutoSolve, PoissonIsCgWithIcInOneAttempt) {
  const auto A = problems::poisson({8, 8, 8}, stencils::star7());
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  const auto outcome = solve_automatically(&A, b, x, {});
  EXPECT_TRUE(outcome.report.converged);
  EXPECT_EQ(outcome.choice.name(), "cg with ic(0)");
  EXPECT_EQ(outcome.attempts.size(), 1u);
  EXPECT_LE(relative_residual(A, b, x), 1e-8);
}

TEST(AutoSolve, AnEmptyDiagonalIsMatchedFirst) {
  const auto A = shuffled_rows(200);
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  const auto outcome = solve_automatically(&A, b, x, {});
  EXPECT_TRUE(outcome.report.converged);
  EXPECT_TRUE(outcome.choice.match_rows);
  EXPECT_EQ(outcome.report.preconditioner.perturbed_pivots, 0);
  EXPECT_LE(relative_residual(A, b, x), 1e-8);
}

TEST(AutoSolve, CgThatMeetsAnIndefiniteMatrixHandsOverToGmres) {
  // Symmetric, positive diagonal, eigenvalues 3 and −1.
  const std::vector<Triplet<double>> triplets = {{0, 0, 1.0}, {0, 1, 2.0}, {1, 0, 2.0}, {1, 1, 1.0}};
  const auto A = from_triplets<double>(2, 2, triplets);
  const Vector<double> b{1.0, -1.0};
  Vector<double> x(2, 0.0);
  SolveRequest request;
  request.wishes.pc = "jacobi";
  const auto outcome = solve_automatically(&A, b, x, request);
  EXPECT_TRUE(outcome.report.converged);
  EXPECT_EQ(outcome.report.solver, "gmres");
  ASSERT_EQ(outcome.attempts.size(), 2u);
  EXPECT_EQ(outcome.attempts[0].outcome, "indefinite_matrix");
  EXPECT_NEAR(x[0], -1, 1e-7);
}

TEST(AutoSolve, ASystemWithoutSolutionIsAnHonestNoWithTheBestIterate) {
  const std::vector<Triplet<double>> triplets = {{0, 0, 1.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 1.0}, {2, 2, 1.0}};
  const auto A = from_triplets<double>(3, 3, triplets);
  const Vector<double> b{1.0, -1.0, 1.0};
  Vector<double> x(3, 0.0);
  const auto outcome = solve_automatically(&A, b, x, {});
  EXPECT_FALSE(outcome.report.converged);
  EXPECT_GE(outcome.attempts.size(), 3u);
  for (const double value : x) EXPECT_TRUE(std::isfinite(value));
  EXPECT_NEAR(outcome.report.relative_residual, relative_residual(A, b, x), 1e-12);
  double best = 1;
  for (const auto& attempt : outcome.attempts) best = std::min(best, attempt.relative_residual);
  EXPECT_DOUBLE_EQ(outcome.report.relative_residual, best);
}

TEST(AutoSolve, StrictRefusesARepairOfAFixedChoice) {
  const auto A = shuffled_rows(50);
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  SolveRequest request;
  request.strict = true;
  request.wishes.pc = "ilu";
  try {
    (void)solve_automatically(&A, b, x, request);
    FAIL() << "a repair was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::repair_forbidden);
  }
}

TEST(AutoSolve, StrictClimbsPastRungsThatNeedRepairs) {
  const auto A = shuffled_rows(50);
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  SolveRequest request;
  request.strict = true;
  const auto outcome = solve_automatically(&A, b, x, request);
  EXPECT_TRUE(outcome.report.converged);
  EXPECT_EQ(outcome.report.preconditioner.missing_diagonals, 0);
}

TEST(AutoSolve, AnInterruptEndsTheLadder) {
  const auto A = problems::convection_diffusion({10, 10, 10}, stencils::star7());
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  SolveRequest request;
  request.krylov.monitor = [](std::int64_t iteration, double) {
    return iteration >= 2 ? Verdict::interrupt : Verdict::proceed;
  };
  const auto outcome = solve_automatically(&A, b, x, request);
  EXPECT_EQ(outcome.report.reason, Reason::interrupted);
  EXPECT_EQ(outcome.attempts.size(), 1u);
}

TEST(MatchedIlu, IsTheInverseOfAPermutedTriangle) {
  // Row i of a lower triangle sits at position 2 − i; no fill is needed, so the factors are exact.
  const std::vector<Triplet<double>> triplets = {{2, 0, 4.0}, {1, 0, 1.0}, {1, 1, 5.0}, {0, 1, 1.0}, {0, 2, 8.0}};
  const auto A = from_triplets<double>(3, 3, triplets);
  const MatchedIlu M(A, {});
  EXPECT_TRUE(M.report().ok);
  EXPECT_EQ(M.report().missing_diagonals, 0);
  const Vector<double> x{1.0, -2.0, 3.0};
  Vector<double> b(3), z(3);
  A.apply(x, b);
  M.apply(b, z);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(z[i], x[i], 1e-14);
}

TEST(MatchedIlu, StructurallySingularIsRefused) {
  const std::vector<Triplet<double>> triplets = {{0, 0, 4.0}, {1, 0, 1.0}};
  EXPECT_THROW(MatchedIlu(from_triplets<double>(2, 2, triplets), {}), Error);
}

}  // namespace
}  // namespace echelon
