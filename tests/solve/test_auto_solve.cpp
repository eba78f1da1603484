// SPDX-License-Identifier: BSD-3-Clause
// The ladder: what it chooses, when it climbs, what it keeps and what it tells.
#include "echelon/solve/auto_solve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "echelon/base/error.hpp"
#include "echelon/precond/ilu/matched_ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/arrow_matrix.hpp"
#include "tests/reference/waveguide.hpp"

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
  EXPECT_TRUE(outcome.choice.options.match_rows);
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

/// Far from dominant: ILU(0) is of no use, and everything with more fill is complete.
BlockCsr<double> hard_arrow(std::int32_t n) { return test::arrow_matrix(n, 0.05, 3); }

TEST(AutoSolve, AQuestionEndsTheFirstSetUpWithXZero) {
  const auto A = test::arrow_matrix(1500);
  const Vector<double> b(A.rows(), 1.0);
  for (const auto& [verdict, reason] :
       {std::pair{Verdict::interrupt, Reason::interrupted}, {Verdict::time_limit, Reason::time_limit}}) {
    Vector<double> x(A.rows(), 7.0);
    SolveRequest request;
    request.wishes.pc = "ilu";
    request.wishes.options.ilu.fill = 1;
    int asked = 0;
    request.ask = [&, answer = verdict] { return ++asked < 10 ? Verdict::proceed : answer; };
    const auto outcome = solve_automatically(&A, b, x, request);
    EXPECT_EQ(asked, 10) << "of some hundred that the whole set-up would ask";
    EXPECT_EQ(outcome.report.reason, reason);
    EXPECT_FALSE(outcome.report.converged);
    EXPECT_EQ(outcome.report.relative_residual, 1);
    EXPECT_EQ(outcome.report.solver, "gmres");
    EXPECT_NE(outcome.report.message.find("gmres with ilu(1) was set up, before the first iteration"), std::string::npos)
        << outcome.report.message;
    ASSERT_EQ(outcome.attempts.size(), 1u);
    EXPECT_EQ(outcome.attempts[0].outcome, word(reason));
    EXPECT_FALSE(outcome.attempts[0].set_up);
    for (const double value : x) ASSERT_EQ(value, 0);
  }
}

TEST(AutoSolve, AQuestionEndsALaterSetUpWithTheBestIterate) {
  const auto A = hard_arrow(1500);
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  SolveRequest request;
  request.krylov.max_it = 300;
  std::string now;
  int asked_later = 0;
  request.on_attempt = [&](const AutoChoice& choice) { now = choice.name(); };
  request.ask = [&] {
    if (now == "gmres with ilu(0)") return Verdict::proceed;
    return ++asked_later < 3 ? Verdict::proceed : Verdict::time_limit;
  };
  const auto outcome = solve_automatically(&A, b, x, request);
  EXPECT_EQ(outcome.report.reason, Reason::time_limit);
  ASSERT_EQ(outcome.attempts.size(), 2u);
  EXPECT_EQ(outcome.attempts[1].outcome, "time_limit");
  EXPECT_EQ(outcome.choice.name(), "gmres with ilu(0)") << "the iterate that is returned";
  EXPECT_GT(outcome.report.iterations, 0);
  EXPECT_NE(outcome.report.message.find("the returned iterate is that of gmres with ilu(0)"), std::string::npos)
      << outcome.report.message;
  EXPECT_NEAR(outcome.report.relative_residual, relative_residual(A, b, x), 1e-12);
}

TEST(AutoSolve, ARungThatWouldTakeTooMuchFillIsSkippedAndSaid) {
  // 7e10 operations complete: it took minutes a rung. Counted, not timed: a question each two million operations.
  const auto A = hard_arrow(6000);
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  SolveRequest request;
  std::int64_t asked = 0;
  request.ask = [&] { return ++asked, Verdict::proceed; };
  const auto outcome = solve_automatically(&A, b, x, request);
  int skipped = 0;
  for (const auto& attempt : outcome.attempts) {
    // In RCM order the full row comes last, and hardly anything fills in.
    const bool natural = attempt.choice.options.ilu.ordering == Ordering::natural && !attempt.choice.options.match_rows;
    if (attempt.choice.pc != "ilu" || attempt.choice.options.ilu.fill == 0 || !natural) continue;
    EXPECT_EQ(attempt.outcome, "skipped") << attempt.choice.name();
    EXPECT_EQ(attempt.message.find("skipped: "), 0u) << attempt.message;
    EXPECT_FALSE(attempt.set_up);
    ++skipped;
  }
  EXPECT_GE(skipped, 1);
  EXPECT_LT(static_cast<double>(asked) * static_cast<double>(WorkWatch::operations_a_question), 2e10);
}

TEST(AutoSolve, AFixedPreconditionerIsTheUsersWishWhateverItCosts) {
  const auto A = test::arrow_matrix(1500);
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  SolveRequest request;
  request.wishes.pc = "ilu";
  request.wishes.options.ilu.fill = 1;
  const auto outcome = solve_automatically(&A, b, x, request);
  EXPECT_TRUE(outcome.report.converged);
  EXPECT_EQ(outcome.choice.options.ilu.most_operations, 0);
}

TEST(AutoSolve, LeavingASlowRungIsNotOutOfIterations) {
  const auto A = test::waveguide(40, 1.3);
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  SolveRequest request;
  const auto outcome = solve_automatically(&A, b, x, request);
  int left = 0;
  for (const auto& attempt : outcome.attempts) {
    if (attempt.message.find("falls too slowly") == std::string::npos) continue;
    EXPECT_EQ(attempt.outcome, "stagnated");
    EXPECT_LT(attempt.iterations, request.krylov.max_it);
    ++left;
  }
  EXPECT_GE(left, 1);
}

TEST(AutoSolveFull, WaveguidesAreSolvedByThresholdsInANarrowBand) {
  // The ladder ended with no before it had these rungs.
  for (const double grading : {1.1, 1.3}) {
    const auto A = test::waveguide(64, grading);
    const Vector<double> ones(A.rows(), 1.0);
    Vector<double> b(A.rows()), x(A.rows(), 0.0);
    A.apply(ones, b);
    const auto outcome = solve_automatically(&A, b, x, {});
    EXPECT_TRUE(outcome.report.converged) << outcome.report.message;
    EXPECT_LE(relative_residual(A, b, x), 1.0001e-8);
    EXPECT_EQ(outcome.choice.pc, "ilut");
    EXPECT_EQ(outcome.choice.options.ilu.ordering, Ordering::rcm);
    EXPECT_LE(outcome.report.iterations, 20);
  }
  // And the pivoting one by itself.
  const auto A = test::waveguide(64, 1.3);
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  SolveRequest request;
  const auto ladder = auto_ladder(traits_of(A), {});
  request.wishes.pc = "ilut";
  request.wishes.options.ilu = ladder[ladder.size() - 2].options.ilu;
  ASSERT_GT(request.wishes.options.ilu.column_pivoting, 0);
  const auto outcome = solve_automatically(&A, b, x, request);
  EXPECT_TRUE(outcome.report.converged);
  EXPECT_LE(outcome.report.iterations, 5);
}

TEST(AutoSolve, AGridIsLookedForOnlyWhereItWouldBeUsed) {
  const auto A = to_block_csr(problems::poisson({12, 12, 12}, stencils::star7()));
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  const auto looked = [&](const char* pc, bool rcm = false) {
    SolveRequest request;
    request.wishes.pc = pc;
    if (rcm) request.wishes.options.ilu.ordering = Ordering::rcm;
    return solve_automatically(&A, b, x, request).looked_for_a_grid;
  };
  EXPECT_TRUE(looked("auto"));
  EXPECT_TRUE(looked("ilu"));
  EXPECT_TRUE(looked("none"));
  EXPECT_FALSE(looked("ilu", true));
  for (const char* pc : {"jacobi", "ilut", "parilu", "mcilu"}) EXPECT_FALSE(looked(pc)) << pc;
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
