// SPDX-License-Identifier: BSD-3-Clause
// CG in Eisenstat's form: the iterates of plain CG to rounding, its iteration counts, an honest norm on the way, and every
// promise of the solver contract.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/sweep/shared_triangles.hpp"
#include "tests/counted_new.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

using reference::waves;

/// −div(c grad u) with c jumping over four orders of magnitude.
StructMatrix<double> jumping(Grid grid, const Stencil& stencil) {
  return problems::variable_poisson(grid, stencil, {.kappa = problems::jump_coefficient(1e4)});
}

double true_relative(const StructMatrix<double>& A, const Vector<double>& b, const Vector<double>& x) {
  Vector<double> r(A.rows());
  A.residual(b, x, r);
  return static_cast<double>(reference::exact_norm(r) / reference::exact_norm(b));
}

/// Runs both forms and holds them together.
void expect_plain_cg(const StructMatrix<double>& A, double rtol) {
  const auto M = ic(A);
  ASSERT_TRUE(M.report().ok);
  const auto b = waves(A.rows());
  Vector<double> x(A.rows(), 0.0), plain_x(A.rows(), 0.0);
  const Report report = cg(A, b, x, M, {.rtol = rtol, .cg_form = CgForm::eisenstat});
  const Report plain = cg(A, b, plain_x, M, {.rtol = rtol, .cg_form = CgForm::plain});
  EXPECT_EQ(report.cg_form, "eisenstat");
  EXPECT_EQ(report.product, "none");
  EXPECT_EQ(plain.cg_form, "plain");
  EXPECT_TRUE(report.converged) << report.message;
  EXPECT_NEAR(static_cast<double>(report.iterations), static_cast<double>(plain.iterations), 1);
  EXPECT_LE(true_relative(A, b, x), rtol);
  EXPECT_LE(report.residual_replacements, 1);
  ASSERT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
  EXPECT_EQ(report.history[0], plain.history[0]);
  const std::size_t both = std::min(report.history.size(), plain.history.size());
  for (std::size_t k = 1; k < both; ++k) {
    // Between reconstructions the norm is an estimate; it may be off by what the ratio moved since.
    EXPECT_LT(std::abs(std::log(report.history[k] / plain.history[k])), std::log(2.0)) << "iteration " << k;
  }
}

TEST(Eisenstat, IsPlainCgOnPoisson) {
  expect_plain_cg(problems::poisson({20, 20, 20}, stencils::star7()), 1e-8);
  expect_plain_cg(problems::poisson({37, 5, 11}, stencils::star7()), 1e-10);
  expect_plain_cg(problems::poisson({60, 45, 1}, stencils::star5()), 1e-8);
}

TEST(Eisenstat, IsPlainCgOnJumpingCoefficients) {
  expect_plain_cg(jumping({19, 17, 18}, stencils::star7()), 1e-8);
  expect_plain_cg(jumping({50, 41, 1}, stencils::star5()), 1e-9);
}

TEST(Eisenstat, IteratesAreThoseOfPlainCg) {
  // On this problem every residual is smaller than the one before, so that the best iterate is the last one.
  const auto A = problems::variable_poisson({13, 10, 9}, stencils::star7(), {.kappa = problems::smooth_coefficient(4)});
  const auto M = ic(A);
  const auto b = waves(A.rows());
  for (const std::int64_t steps : {1, 2, 3, 5, 10}) {
    Vector<double> x(A.rows(), 0.0), plain_x(A.rows(), 0.0);
    const Report report = cg(A, b, x, M, {.rtol = 0, .max_it = steps, .cg_form = CgForm::eisenstat});
    (void)cg(A, b, plain_x, M, {.rtol = 0, .max_it = steps, .cg_form = CgForm::plain});
    EXPECT_EQ(report.iterations, steps);
    double largest = 0, off = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      largest = std::max(largest, std::abs(plain_x[i]));
      off = std::max(off, std::abs(x[i] - plain_x[i]));
    }
    EXPECT_GT(largest, 0);
    EXPECT_LT(off, 1e-10 * largest) << steps << " iterations";
  }
}

TEST(Eisenstat, ALineByHand) {
  // Three points in a row, A = tridiag(−1, 2, −1): ILU(0) is exact, so one iteration solves it.
  const auto A = problems::poisson({3, 1, 1}, Stencil({{-1, 0, 0}, {0, 0, 0}, {1, 0, 0}}));
  const double a = A.block(0, 1)[0];
  const auto M = ic(A);
  Vector<double> x(3, 0.0);
  const Report report = cg(A, {a, a, a}, x, M, {.cg_form = CgForm::eisenstat});
  EXPECT_TRUE(report.converged) << report.message;
  EXPECT_EQ(report.iterations, 1);
  EXPECT_NEAR(true_relative(A, {a, a, a}, x), 0, 1e-15);
}

TEST(Eisenstat, ShiftedAndRepairedDiagonalsAreAsGood) {
  const auto A = problems::poisson({16, 15, 14}, stencils::star7());
  const auto M = ic(A, {.shift = ShiftPolicy::value, .shift_value = 0.3});
  const auto b = waves(A.rows());
  Vector<double> x(A.rows(), 0.0), plain_x(A.rows(), 0.0);
  const Report report = cg(A, b, x, M, {.cg_form = CgForm::eisenstat});
  EXPECT_TRUE(report.converged) << report.message;
  EXPECT_NEAR(static_cast<double>(report.iterations),
              static_cast<double>(cg(A, b, plain_x, M, {.cg_form = CgForm::plain}).iterations), 1);
}

TEST(Eisenstat, AutomaticTakesItWhereItCanAndSaysSo) {
  const auto A = problems::poisson({12, 12, 12}, stencils::star7());
  const auto b = waves(A.rows());
  const auto form = [&](const StructMatrix<double>& matrix, const Preconditioner<double>& M, const KrylovOptions& options) {
    Vector<double> x(matrix.rows(), 0.0);
    return cg(matrix, b, x, M, options).cg_form;
  };
  const auto M = ic(A);
  EXPECT_EQ(form(A, M, {}), "eisenstat");
  EXPECT_EQ(form(A, Jacobi<double>(A), {}), "plain");
  EXPECT_EQ(form(A, ic(A, {.fill = 1}), {}), "plain");
  EXPECT_EQ(form(A, ic(A, {.precision = Stored::fp32}), {}), "plain");
  EXPECT_EQ(form(A, ic(A, {.ordering = Ordering::rcm}), {}), "plain");
  EXPECT_EQ(form(A, M, {.communicator = &serial()}), "plain");
  // The same numbers in a matrix of its own: M does not know them.
  const auto same = problems::poisson({12, 12, 12}, stencils::star7());
  EXPECT_EQ(form(same, M, {}), "plain");
  EXPECT_THROW((void)form(same, M, {.cg_form = CgForm::eisenstat}), Error);
  EXPECT_THROW((void)form(A, Jacobi<double>(A), {.cg_form = CgForm::eisenstat}), Error);
}

TEST(Eisenstat, AWriteToTheMatrixParsTheWays) {
  auto A = problems::poisson({8, 8, 8}, stencils::star7());
  auto M = ic(A);
  ASSERT_NE(M.shared_triangles(A), nullptr);
  for (double& value : A.values()) value *= 2;
  EXPECT_EQ(M.shared_triangles(A), nullptr);
  ASSERT_TRUE(M.refactor(A).ok);
  EXPECT_NE(M.shared_triangles(A), nullptr);
}

TEST(Eisenstat, NullSpaceRunsPlainCg) {
  auto A = jumping({9, 9, 9}, stencils::star7());
  // Natural boundaries: the row sums are zero.
  A.fill([&, old = jumping({9, 9, 9}, stencils::star7())](std::int64_t i, std::int64_t j, std::int64_t k, int entry,
                                                          std::span<double> block) {
    const auto offsets = old.stencil().offsets();
    const std::int64_t point = old.grid().index(i, j, k);
    block[0] = old.block(point, entry)[0];
    if (entry != old.stencil().center()) return;
    block[0] = 0;
    for (int e = 0; e < old.stencil().size(); ++e) {
      if (e != entry && old.grid().contains(i + offsets[e].x, j + offsets[e].y, k + offsets[e].z)) {
        block[0] -= old.block(point, e)[0];
      }
    }
  });
  const auto M = ilu(A);
  const Vector<double> ones(A.rows(), 1.0);
  const auto b = waves(A.rows());
  Vector<double> x(A.rows(), 0.0);
  EXPECT_EQ(cg(A, b, x, M, {.null_space = &ones}).cg_form, "plain");
  x.fill(0);
  EXPECT_THROW((void)cg(A, b, x, M, {.cg_form = CgForm::eisenstat, .null_space = &ones}), Error);
}

TEST(Eisenstat, AllocatesNothingBetweenIterations) {
  const auto A = problems::poisson({40, 40, 24}, stencils::star7());
  const auto M = ic(A);
  const Vector<double> b(A.rows(), 1.0);
  set_threads(2);
  Vector<double> x(A.rows(), 0.0);
  long news_then = 0;
  std::int64_t arrays_then = 0, iterations = 0;
  const Report report = cg(A, b, x, M, {.rtol = 1e-12, .monitor = [&](std::int64_t iteration, double) {
                                          if (iteration == 1) news_then = new_calls.load(), arrays_then = allocation_count();
                                          EXPECT_EQ(new_calls.load(), news_then) << "iteration " << iteration;
                                          EXPECT_EQ(allocation_count(), arrays_then) << "iteration " << iteration;
                                          return ++iterations, Verdict::proceed;
                                        }});
  set_threads(0);
  EXPECT_EQ(report.cg_form, "eisenstat");
  EXPECT_GT(iterations, 20);
}

TEST(Eisenstat, SameBitsForEveryThreadCountAndRepeat) {
  for (const Grid grid : {Grid{40, 40, 30}, Grid{301, 120, 1}}) {
    const auto A = grid.nz > 1 ? jumping(grid, stencils::star7()) : jumping(grid, stencils::star5());
    const auto b = waves(A.rows());
    Vector<double> first;
    Report first_report;
    for (const int count : {1, 2, 2, 3}) {
      set_threads(count);
      const auto M = ic(A);
      Vector<double> x(A.rows(), 0.0);
      const Report report = cg(A, b, x, M, {.max_it = 25, .cg_form = CgForm::eisenstat});
      if (first.empty()) {
        first = std::move(x);
        first_report = report;
        continue;
      }
      EXPECT_EQ(report.history, first_report.history) << count << " threads";
      for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], first[i]) << count << " threads, row " << i;
    }
    set_threads(0);
  }
}

TEST(Eisenstat, ReferenceSweepsGiveTheSameCounts) {
  const auto A = jumping({21, 14, 9}, stencils::star7());
  const auto b = waves(A.rows());
  Vector<double> x(A.rows(), 0.0), y(A.rows(), 0.0);
  const Report lines = cg(A, b, x, ic(A), {.cg_form = CgForm::eisenstat});
  const Report points = cg(A, b, y, ic(A, {.schedule = SweepSchedule::sequential}), {.cg_form = CgForm::eisenstat});
  EXPECT_TRUE(points.converged) << points.message;
  EXPECT_NEAR(static_cast<double>(points.iterations), static_cast<double>(lines.iterations), 1);
}

TEST(Eisenstat, MonitorEndsInOrderAndTheBestIterateIsReturned) {
  const auto A = problems::poisson({24, 24, 24}, stencils::star7());
  const auto M = ic(A);
  const auto b = waves(A.rows());
  for (const Verdict verdict : {Verdict::interrupt, Verdict::time_limit}) {
    Vector<double> x(A.rows(), 0.0);
    const Report report = cg(A, b, x, M, {.rtol = 1e-14, .monitor = [&](std::int64_t iteration, double) {
                                            return iteration < 10 ? Verdict::proceed : verdict;
                                          }});
    EXPECT_EQ(report.reason, verdict == Verdict::interrupt ? Reason::interrupted : Reason::time_limit);
    EXPECT_EQ(report.iterations, 10);
    EXPECT_NEAR(true_relative(A, b, x), report.relative_residual, 1e-12);
  }
}

TEST(Eisenstat, EveryToleranceIsMetAndNamed) {
  const auto A = problems::poisson({14, 13, 12}, stencils::star7());
  const auto M = ic(A);
  const auto b = waves(A.rows());
  Vector<double> x(A.rows(), 0.0), y(A.rows(), 0.0), z(A.rows(), 0.0);
  EXPECT_EQ(cg(A, b, x, M, {.rtol = 0, .atol = 1e-3}).reason, Reason::atol);
  const Report nrbe = cg(A, b, y, M, {.rtol = 0, .nrbe = 1e-6});
  EXPECT_EQ(nrbe.reason, Reason::nrbe);
  EXPECT_LE(nrbe.nrbe, 1e-6);
  const Report none = cg(A, b, z, M, {.max_it = 0});
  EXPECT_EQ(none.reason, Reason::max_it);
  EXPECT_EQ(none.iterations, 0);
}

TEST(Eisenstat, ToleranceBelowAttainableAccuracyEnds) {
  const auto A = jumping({12, 12, 12}, stencils::star7());
  const auto M = ic(A);
  const auto b = waves(A.rows());
  Vector<double> x(A.rows(), 0.0);
  const Report report = cg(A, b, x, M, {.rtol = 1e-25, .max_it = 100000, .cg_form = CgForm::eisenstat});
  EXPECT_FALSE(report.converged);
  EXPECT_LT(report.iterations, 50000);
  EXPECT_LT(report.relative_residual, 1e-10) << "the best iterate is still good";
}

TEST(Eisenstat, IndefiniteMatrixAndPreconditionerAreSaidToBeSo) {
  const auto b = waves(8 * 8 * 8);
  auto A = problems::poisson({8, 8, 8}, stencils::star7());
  for (std::int64_t p = 0; p < A.rows(); ++p) A.block(p, A.stencil().center())[0] *= 0.4;
  Vector<double> x(A.rows(), 0.0);
  const Report report = cg(A, b, x, ilu(A), {.cg_form = CgForm::eisenstat});
  EXPECT_FALSE(report.converged);
  EXPECT_TRUE(report.reason == Reason::indefinite_matrix || report.reason == Reason::indefinite_pc) << report.message;
  for (double& value : A.values()) value = -value;
  Vector<double> y(A.rows(), 0.0);
  const Report negative = cg(A, b, y, ilu(A), {.cg_form = CgForm::eisenstat});
  EXPECT_FALSE(negative.converged);
  EXPECT_NE(negative.message.find("GMRES"), std::string::npos) << negative.message;
}

TEST(Eisenstat, NonfiniteMatrixEndsAndIsNeverConverged) {
  auto A = problems::poisson({8, 8, 8}, stencils::star7());
  const auto b = waves(A.rows());
  A.block(200, A.stencil().center() + 1)[0] = 1e300;
  A.block(201, A.stencil().center() + 1)[0] = -1e300;
  const auto M = ilu(A);
  Vector<double> x(A.rows(), 0.0);
  const Report report = cg(A, b, x, M, {.max_it = 50});
  EXPECT_FALSE(report.converged) << report.message;
  for (const double value : x) EXPECT_TRUE(std::isfinite(value));
}

TEST(Eisenstat, ScalingTheSystemByPowersOfTwoChangesNoBit) {
  const auto A = jumping({11, 12, 10}, stencils::star7());
  const auto b = waves(A.rows());
  Vector<double> first(A.rows(), 0.0);
  (void)cg(A, b, first, ic(A), {.cg_form = CgForm::eisenstat});
  for (const int power : {-60, 60}) {
    auto scaled = jumping({11, 12, 10}, stencils::star7());
    for (double& value : scaled.values()) value = std::ldexp(value, power);
    Vector<double> x(A.rows(), 0.0);
    EXPECT_TRUE(cg(scaled, b, x, ic(scaled), {.cg_form = CgForm::eisenstat}).converged);
    for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(std::ldexp(x[i], power), first[i]);
  }
}

}  // namespace
}  // namespace echelon
