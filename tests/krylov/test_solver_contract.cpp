// SPDX-License-Identifier: BSD-3-Clause
// What all four solvers promise: bad input refused with both sizes, the small and the empty cases, no allocation inside an
// iteration, the same bits for every thread count, monitor, tolerances, and the best iterate when they fail.
#include <gtest/gtest.h>

#include <cmath>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/counted_new.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

const Identity<double> none;

class EverySolver : public testing::TestWithParam<const char*> {
 protected:
  Report run(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Preconditioner<double>& M = none,
             const KrylovOptions& options = {}) const {
    return solve(GetParam(), A, b, x, M, options);
  }
};
INSTANTIATE_TEST_SUITE_P(Krylov, EverySolver, testing::Values("cg", "gmres", "fgmres", "bicgstab"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(EverySolver, NamesBothSizesOfAMismatch) {
  const auto A = reference::tridiagonal(5, -1, 2, -1);
  Vector<double> x(5, 0.0), shorter(4, 0.0);
  const auto expect_mismatch = [&](const Vector<double>& b, Vector<double>& start) {
    try {
      (void)run(A, b, start);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::size_mismatch);
      EXPECT_NE(std::string(error.what()).find('4'), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find('5'), std::string::npos) << error.what();
    }
  };
  expect_mismatch(shorter, x);
  expect_mismatch(x, shorter);
}

TEST_P(EverySolver, RefusesIllegalOptionsAndNonfiniteInput) {
  const auto A = reference::tridiagonal(5, -1, 2, -1);
  const Vector<double> b(5, 1.0);
  Vector<double> x(5, 0.0);
  for (const KrylovOptions& bad : {KrylovOptions{.rtol = -1}, KrylovOptions{.rtol = std::nan("")}, KrylovOptions{.atol = -1},
                                   KrylovOptions{.nrbe = -1}, KrylovOptions{.max_it = -1}, KrylovOptions{.restart = 0}}) {
    EXPECT_THROW((void)run(A, b, x, none, bad), Error);
  }
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW((void)run(A, {1, 1, bad, 1, 1}, x), Error);
    Vector<double> guess{1, 1, bad, 1, 1};
    EXPECT_THROW((void)run(A, b, guess), Error);
  }
}

TEST(Krylov, UnknownSolverIsRefusedWithTheList) {
  Vector<double> x{0};
  try {
    (void)solve("minres", reference::from_dense({{1}}), {1}, x, none);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("bicgstab"), std::string::npos) << error.what();
  }
}

TEST_P(EverySolver, ZeroRightSideGivesZeroWhateverTheGuess) {
  const auto A = reference::tridiagonal(5, -1, 2, -1);
  Vector<double> x(5, 3.0);
  const Report report = run(A, Vector<double>(5, 0.0), x);
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.iterations, 0);
  for (const double value : x) EXPECT_EQ(value, 0);
}

TEST_P(EverySolver, OneUnknownAndNoIterations) {
  const auto A = reference::from_dense({{4}});
  Vector<double> x{0};
  EXPECT_TRUE(run(A, {2}, x).converged);
  EXPECT_EQ(x[0], 0.5);
  Vector<double> y{0};
  const Report report = run(A, {2}, y, none, {.max_it = 0});
  EXPECT_EQ(report.reason, Reason::max_it);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(report.relative_residual, 1);
  EXPECT_EQ(y[0], 0);
  EXPECT_TRUE(run(A, {2}, x, none, {.max_it = 0}).converged) << "the guess was right";
}

TEST_P(EverySolver, AbsoluteToleranceAndBackwardErrorAreReasons) {
  const auto A = problems::poisson({10, 10, 10}, stencils::star7());
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0), y(A.rows(), 0.0);
  const Report atol = run(A, b, x, none, {.rtol = 0, .atol = 1e-3});
  EXPECT_EQ(atol.reason, Reason::atol);
  EXPECT_LE(atol.relative_residual * std::sqrt(1000.0), 1e-3);
  const Report nrbe = run(A, b, y, none, {.rtol = 0, .nrbe = 1e-6, .restart = 10});
  EXPECT_EQ(nrbe.reason, Reason::nrbe);
  EXPECT_LE(nrbe.nrbe, 1e-6);
  EXPECT_GT(nrbe.relative_residual, 1e-6);
  const FunctionOperator<double> unknown(1, [](const Vector<double>& in, Vector<double>& out) { out[0] = in[0]; });
  Vector<double> z{0};
  EXPECT_THROW((void)run(unknown, {1}, z, none, {.nrbe = 1e-6}), Error);
  EXPECT_TRUE(std::isnan(run(unknown, {1}, z, none, {.rtol = 0, .max_it = 0}).nrbe) || z[0] == 1);
}

TEST_P(EverySolver, MonitorEndsInOrderAndTheBestIterateIsReturned) {
  const auto A = problems::poisson({12, 12, 12}, stencils::star7());
  const Vector<double> b(A.rows(), 1.0);
  for (const Verdict verdict : {Verdict::interrupt, Verdict::time_limit}) {
    Vector<double> x(A.rows(), 0.0);
    std::int64_t calls = 0;
    const Report report = run(A, b, x, none, {.monitor = [&](std::int64_t iteration, double) {
                                return ++calls, iteration < 10 ? Verdict::proceed : verdict;
                              }});
    EXPECT_EQ(report.reason, verdict == Verdict::interrupt ? Reason::interrupted : Reason::time_limit);
    EXPECT_EQ(report.iterations, 10);
    EXPECT_EQ(calls, 10);
    EXPECT_LE(report.relative_residual, 1);
    Vector<double> r(A.rows());
    A.residual(b, x, r);
    EXPECT_NEAR(static_cast<double>(reference::exact_norm(r) / reference::exact_norm(b)), report.relative_residual, 1e-12);
  }
}

TEST_P(EverySolver, AllocatesNothingBetweenIterations) {
  // Restarts of 7 and an FP32 basis, so that cycles end inside the window; two threads, so that teams are formed.
  const auto A = problems::poisson({40, 40, 24}, stencils::star7());
  const Jacobi<double> M(A);
  const Vector<double> b(A.rows(), 1.0);
  set_threads(2);
  Vector<double> x(A.rows(), 0.0);
  long news_then = 0;
  std::int64_t arrays_then = 0, iterations = 0;
  const Report report = run(
      A, b, x, M,
      {.max_it = 1000000000, .restart = 7, .basis = BasisPrecision::fp32, .monitor = [&](std::int64_t iteration, double) {
         if (iteration == 1) news_then = new_calls.load(), arrays_then = allocation_count();
         EXPECT_EQ(new_calls.load(), news_then) << "iteration " << iteration;
         EXPECT_EQ(allocation_count(), arrays_then) << "iteration " << iteration;
         return ++iterations, iteration < 60 ? Verdict::proceed : Verdict::interrupt;
       }});
  set_threads(0);
  EXPECT_GT(iterations, 20);
  EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
}

TEST_P(EverySolver, SameBitsForEveryThreadCountAndRepeat) {
  const auto A = problems::poisson({40, 40, 30}, stencils::star7());
  const Jacobi<double> M(A);
  Vector<double> b(A.rows()), first;
  for (std::int64_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i));
  Report first_report;
  for (const int count : {1, 2, 2, 3}) {
    set_threads(count);
    Vector<double> x(A.rows(), 0.0);
    const Report report = run(A, b, x, M, {.max_it = 20, .restart = 8});
    if (first.empty()) {
      first = std::move(x);
      first_report = report;
      continue;
    }
    EXPECT_EQ(report.history, first_report.history) << count << " threads";
    EXPECT_EQ(report.relative_residual, first_report.relative_residual);
    for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], first[i]) << count << " threads, row " << i;
  }
  set_threads(0);
}

TEST_P(EverySolver, ARightSideWhoseNormOverflowsIsRefused) {
  const auto A = reference::tridiagonal(4, -1, 2, -1);
  const Vector<double> b(4, 1e308);
  Vector<double> x(4, 0.0);
  try {
    static_cast<void>(run(A, b, x, none, {}));
    FAIL() << "rtol·Inf would take anything";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::nonfinite_value);
  }
}

TEST_P(EverySolver, ToleranceBelowAttainableAccuracyEnds) {
  const auto A = reference::tridiagonal(200, -1, 2, -1);
  const Vector<double> b(200, 1.0);
  Vector<double> x(200, 0.0);
  const Report report = run(A, b, x, none, {.rtol = 1e-25, .max_it = 100000});
  EXPECT_FALSE(report.converged);
  EXPECT_LT(report.iterations, 50000);
  EXPECT_LT(report.relative_residual, 1e-10) << "the best iterate is still good";
}

TEST_P(EverySolver, FailedPreconditionerIsNotApplied) {
  class Failed final : public Preconditioner<double> {
   public:
    Failed() { report_.ok = false, report_.name = "ilu", report_.message = "zero pivot in row 3"; }
    void apply(const Vector<double>&, Vector<double>&) const override { FAIL() << "applied"; }
    const FactorReport& report() const override { return report_; }

   private:
    FactorReport report_;
  } failed;
  const auto A = reference::tridiagonal(5, -1, 2, -1);
  Vector<double> x(5, 0.0);
  const Report report = run(A, Vector<double>(5, 1.0), x, failed);
  EXPECT_EQ(report.reason, Reason::pc_failed);
  EXPECT_NE(report.message.find("row 3"), std::string::npos) << report.message;
}

TEST_P(EverySolver, RefusesAMatrixOnAnotherDevice) {
  class Elsewhere final : public Operator<double> {
   public:
    std::int64_t rows() const override { return 1; }
    void apply(const Vector<double>&, Vector<double>&) const override { FAIL() << "applied"; }
    Device device() const override { return {Device::Kind::cuda, 0}; }
  } A;
  Vector<double> x{0};
  try {
    (void)run(A, {1}, x);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device) << error.what();
  }
}

TEST(KrylovFull, HistoryKeepsTheFirstMillionIterations) {
  // GMRES(1) on a rotation makes no progress at all, as cheaply as can be.
  const auto A = reference::from_dense({{0, 1}, {-1, 0}});
  Vector<double> x{0, 0};
  const Report report = gmres(A, {1, 1}, x, none, {.max_it = 1100000, .restart = 1, .stagnation_test = false});
  EXPECT_EQ(report.reason, Reason::max_it);
  EXPECT_EQ(report.iterations, 1100000);
  EXPECT_EQ(report.history.size(), (std::size_t{1} << 20) + 1);
  ASSERT_FALSE(report.remarks.empty());
  EXPECT_NE(report.remarks.back().find("history"), std::string::npos) << report.remarks.back();
}

TEST_P(EverySolver, ScalingTheSystemByPowersOfTwoChangesNoBit) {
  const auto A = reference::tridiagonal(50, -1, 2.5, -1);
  const Vector<double> b(50, 1.0);
  Vector<double> first(50, 0.0);
  (void)run(A, b, first);
  for (const int power : {-60, 60}) {
    auto scaled = reference::tridiagonal(50, -std::ldexp(1, power), std::ldexp(2.5, power), -std::ldexp(1, power));
    Vector<double> x(50, 0.0);
    EXPECT_TRUE(run(scaled, b, x).converged);
    for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(std::ldexp(x[i], power), first[i]);
  }
}

}  // namespace
}  // namespace echelon
