// SPDX-License-Identifier: BSD-3-Clause
// Right-hand sides near both ends of the double range are solved as others are: never a false 'converged', the same numbers
// up to a power of two, and an honest no where x itself cannot be written down.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "echelon/krylov/krylov.hpp"
#include "echelon/krylov/range_scale.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/solve/auto_solve.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

const Identity<double> none;

class FarFromOne : public testing::TestWithParam<const char*> {
 protected:
  Report run(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Preconditioner<double>& M = none,
             const KrylovOptions& options = {}) const {
    return solve(GetParam(), A, b, x, M, options);
  }
};
INSTANTIATE_TEST_SUITE_P(Krylov, FarFromOne, testing::Values("cg", "gmres", "fgmres", "bicgstab"),
                         [](const auto& each) { return std::string(each.param); });

Vector<double> times_power(const Vector<double>& v, int power) {
  Vector<double> scaled(v.size());
  for (std::int64_t i = 0; i < v.size(); ++i) scaled[i] = std::ldexp(v[i], power);
  return scaled;
}

TEST_P(FarFromOne, TheSameNumbersUpToAPowerOfTwo) {
  const auto A = reference::tridiagonal(80, -1, 2.5, -1);
  const Jacobi<double> M(A);
  const auto b = reference::waves(80);
  Vector<double> first(80, 0.0);
  const Report ordinary = run(A, b, first, M);
  ASSERT_TRUE(ordinary.converged);
  for (const int power : {-950, -700, -400, 400, 700, 1000}) {
    Vector<double> x(80, 0.0);
    const Report report = run(A, times_power(b, power), x, M);
    EXPECT_TRUE(report.converged) << power << ": " << report.message;
    EXPECT_EQ(report.iterations, ordinary.iterations) << power;
    EXPECT_EQ(report.relative_residual, ordinary.relative_residual) << power;
    for (std::int64_t i = 0; i < 80; ++i) ASSERT_EQ(std::ldexp(x[i], -power), first[i]) << power << ", row " << i;
  }
}

TEST_P(FarFromOne, ADenormalRightSideIsNeverFalselyConverged) {
  // Below 1e-308 b has few digits, and so has the x that can be returned.
  std::int64_t yes = 0, no = 0;
  for (int power = -1074; power <= -1010; ++power) {
    for (const std::int64_t n : {1, 7, 60}) {
      const auto A = reference::tridiagonal(n, -1, 2.5, -1);
      const auto b = times_power(reference::waves(n), power);
      Vector<double> x(n, 0.0);
      const Report report = run(A, b, x, Jacobi<double>(A), {.rtol = 1e-8});
      if (reference::exact_norm(b) == 0) continue;
      const long double relative = reference::exact_residual_norm(A, b, x) / reference::exact_norm(b);
      if (report.converged) {
        ++yes;
        EXPECT_LE(relative, 1.001e-8L) << "2^" << power << ", n = " << n;
      } else {
        ++no;
        EXPECT_LE(relative, 1.0L + 1e-9L) << "2^" << power << ", n = " << n;
      }
      EXPECT_NEAR(report.relative_residual, static_cast<double>(relative), 1e-3 * static_cast<double>(relative) + 1e-14);
    }
  }
  EXPECT_GT(yes, 20) << "digits enough";
  EXPECT_GT(no, 20) << "too few";
}

TEST_P(FarFromOne, ASmallMatrixWithASmallRightSideHasAnOrdinarySolution) {
  for (const int power : {-1000, -900, 900, 1000}) {
    const double a = std::ldexp(1.0, power);
    const auto A = reference::tridiagonal(40, -a, 2.5 * a, -a);
    Vector<double> ones(40, 1.0), b(40), x(40, 0.0);
    A.apply(ones, b);
    const Report report = run(A, b, x, Jacobi<double>(A));
    EXPECT_TRUE(report.converged) << power << ": " << report.message;
    EXPECT_LE(reference::exact_residual_norm(A, b, x), 1.001e-8L * reference::exact_norm(b)) << power;
    for (const double value : x) EXPECT_NEAR(value, 1, 1e-6);
  }
}

TEST_P(FarFromOne, TheAbsoluteToleranceIsTheUsers) {
  const auto A = reference::tridiagonal(40, -1, 2.5, -1);
  const auto b = times_power(reference::waves(40), -660);
  const double norm = static_cast<double>(reference::exact_norm(b));
  Vector<double> x(40, 0.0), y(40, 0.0), z(40, 0.0);
  const Report report = run(A, b, x, none, {.rtol = 0, .atol = 1e-3 * norm});
  EXPECT_EQ(report.reason, Reason::atol);
  EXPECT_GT(report.relative_residual, 1e-7);
  EXPECT_LE(report.relative_residual, 1e-3);
  EXPECT_EQ(run(A, b, y, none, {.rtol = 0, .atol = 1}).iterations, 0) << "x = 0 is good enough";
  // Too small to be written in the scale of the solve: then it is met by nothing.
  EXPECT_FALSE(run(A, times_power(reference::waves(40), 1000), z, none, {.rtol = 0, .atol = 1e-300}).converged);
}

TEST_P(FarFromOne, AGuessThatIsTooLargeIsLeftOut) {
  const auto A = reference::tridiagonal(40, -1, 2.5, -1);
  const auto b = times_power(reference::waves(40), -1000);
  Vector<double> x(40, 10.0);
  const Report report = run(A, b, x);
  EXPECT_TRUE(report.converged) << report.message;
  ASSERT_FALSE(report.remarks.empty());
  EXPECT_NE(report.remarks[0].find("initial guess was left out"), std::string::npos) << report.remarks[0];
  // A good one is used.
  Vector<double> again = x.clone();
  EXPECT_EQ(run(A, b, again).iterations, 0);
}

TEST_P(FarFromOne, ASolutionBeyondTheDoublesIsNone) {
  const auto A = reference::from_dense({{0x1p-200, 0}, {0, 0x1p-200}});
  Vector<double> x(2, 0.0);
  const Report report = run(A, {0x1p+900, 0x1p+900}, x);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.reason, Reason::nan) << report.message;
  for (const double value : x) EXPECT_TRUE(std::isfinite(value));
  EXPECT_EQ(report.relative_residual, 1);
}

TEST(RangeScale, LeavesOrdinaryRightSidesAlone) {
  for (const double norm : {1e-90, 1e-8, 1.0, 1e90}) EXPECT_TRUE(in_ordinary_range(norm));
  for (const double norm : {1e-91, 5e-324, 1e91, std::numeric_limits<double>::infinity()})
    EXPECT_FALSE(in_ordinary_range(norm));
  EXPECT_EQ(range_exponent(0x1p-1000, 3), -1000);
  EXPECT_EQ(range_exponent(0x1p-1000, 0x1p-400), -800) << "x is as far from the end as b";
  EXPECT_EQ(range_exponent(0x1p-1000, 0x1p-1000), -700) << "and b in the ordinary range";
  EXPECT_EQ(range_exponent(0x1p+900, std::nan("")), 900);
  EXPECT_EQ(scaled_down_to(1, 1000), 0x1p-1000);
  EXPECT_EQ(scaled_down_to(3, 1074), 0x1p-1073 + 0x1p-1074);
  EXPECT_EQ(scaled_down_to(1.75, 1074), 0x1p-1074) << "down";
}

/// b = 0 needs no preconditioner: one that could not be set up is no obstacle.
TEST(ZeroRightSide, IsZeroWhateverBecameOfThePreconditioner) {
  const auto A = reference::from_dense({{0, 1, 0}, {1, 1, 0}, {0, 1, 2}});
  const Vector<double> b(3, 0.0);
  for (const char* solver : {"cg", "gmres", "fgmres", "bicgstab"}) {
    for (const bool strict : {false, true}) {
      Vector<double> x(3, 7.0);
      SolveRequest request;
      request.wishes.solver = solver;
      request.wishes.pc = "ilu";
      request.wishes.options.ilu.shift = ShiftPolicy::none;
      request.strict = strict;
      const auto outcome = solve_automatically(&A, b, x, request);
      EXPECT_TRUE(outcome.report.converged) << solver << ": " << outcome.report.message;
      EXPECT_EQ(outcome.report.relative_residual, 0);
      for (const double value : x) EXPECT_EQ(value, 0);
    }
    const auto M = ilu(A, {.shift = ShiftPolicy::none});
    ASSERT_FALSE(M.report().ok);
    Vector<double> x(3, 7.0);
    const Report report = solve(solver, A, b, x, M);
    EXPECT_TRUE(report.converged) << solver << ": " << report.message;
    for (const double value : x) EXPECT_EQ(value, 0);
  }
}

}  // namespace
}  // namespace echelon
