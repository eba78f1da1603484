// SPDX-License-Identifier: BSD-3-Clause
// Singular systems with their null vector given: the residual in the report is that of the user's b, what no x can reach is
// a field and a reason of its own, and a vector that is none is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/solve/auto_solve.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

const Identity<double> none;

class NullSpace : public testing::TestWithParam<const char*> {
 protected:
  Report run(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Vector<double>& v,
             KrylovOptions options = {}, const Preconditioner<double>& M = none) const {
    options.null_space = &v;
    return solve(GetParam(), A, b, x, M, options);
  }
};
INSTANTIATE_TEST_SUITE_P(Krylov, NullSpace, testing::Values("cg", "gmres", "fgmres", "bicgstab"),
                         [](const auto& each) { return std::string(each.param); });

/// −u'' with natural boundaries on n points, row i times scale^i: its null vector is 1, that of the transposed matrix is 1
/// only for scale 1.
BlockCsr<double> neumann(std::int64_t n, double scale = 1) {
  std::vector<Triplet<double>> entries;
  double factor = 1;
  for (std::int32_t i = 0; i < n; ++i, factor *= scale) {
    entries.push_back({i, i, factor * (i == 0 || i + 1 == n ? 1 : 2)});
    if (i > 0) entries.push_back({i, i - 1, -factor});
    if (i + 1 < n) entries.push_back({i, i + 1, -factor});
  }
  return from_triplets<double>(n, n, entries);
}

/// cos is an eigenvector, orthogonal to 1.
Vector<double> cosine(std::int64_t n, double mean) {
  Vector<double> b(n);
  for (std::int64_t i = 0; i < n; ++i) b[i] = mean + std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) / n);
  return b;
}

double true_relative(const BlockCsr<double>& A, const Vector<double>& b, const Vector<double>& x) {
  return static_cast<double>(reference::exact_residual_norm(A, b, x) / reference::exact_norm(b));
}

void expect_the_cosine(const Vector<double>& x, const Vector<double>& b, double mean_of_b) {
  const std::int64_t n = x.size();
  const double eigenvalue = 2 - 2 * std::cos(std::numbers::pi / static_cast<double>(n));
  double mean = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    mean += x[i];
    EXPECT_NEAR(x[i] * eigenvalue, b[i] - mean_of_b, 1e-5);
  }
  EXPECT_NEAR(mean, 0, 1e-9);
}

TEST_P(NullSpace, AConsistentSystemConverges) {
  const std::int64_t n = 60;
  const auto A = neumann(n);
  const Vector<double> ones(n, 1.0), b = cosine(n, 0);
  Vector<double> x(n, 5.0);
  const Report report = run(A, b, x, ones, {}, Jacobi<double>(A));
  EXPECT_TRUE(report.converged) << report.message;
  EXPECT_LE(report.inconsistent_part, 1e-14);
  EXPECT_LE(report.relative_residual, 1e-8);
  EXPECT_NEAR(true_relative(A, b, x), report.relative_residual, 1e-12);
  expect_the_cosine(x, b, 0);
}

TEST_P(NullSpace, AnInconsistentPartIsNeverConverged) {
  const std::int64_t n = 60;
  const auto A = neumann(n);
  const Vector<double> ones(n, 1.0), b = cosine(n, 0.25);
  Vector<double> x(n, 5.0);
  const Report report = run(A, b, x, ones, {}, Jacobi<double>(A));
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.reason, Reason::inconsistent) << report.message;
  // The mean, 0.25, is out of reach: 0.25 √n of ‖b‖ = √(n/16 + n/2), and it is all that is left.
  EXPECT_NEAR(report.inconsistent_part, 1.0 / 3, 1e-12);
  EXPECT_NEAR(report.relative_residual, 1.0 / 3, 1e-12);
  EXPECT_NEAR(true_relative(A, b, x), 1.0 / 3, 1e-12);
  EXPECT_NE(report.message.find("0.333"), std::string::npos) << report.message;
  expect_the_cosine(x, b, 0.25);
}

TEST_P(NullSpace, AnInconsistentPartBelowTheToleranceConverges) {
  const std::int64_t n = 60;
  const auto A = neumann(n);
  const Vector<double> ones(n, 1.0), b = cosine(n, 1e-6);
  Vector<double> x(n, 0.0);
  const Report report = run(A, b, x, ones, {.rtol = 1e-5});
  EXPECT_TRUE(report.converged) << report.message;
  EXPECT_NEAR(report.inconsistent_part, 1e-6 * std::sqrt(2.0), 1e-9);
  EXPECT_GE(report.relative_residual, 1.4e-6) << "what is out of reach counts";
  EXPECT_NEAR(true_relative(A, b, x), report.relative_residual, 1e-12);
  // By the absolute tolerance, too.
  Vector<double> y(n, 0.0);
  EXPECT_EQ(run(A, b, y, ones, {.rtol = 0, .atol = 1e-4}).reason, Reason::atol);
  EXPECT_EQ(run(A, b, y, ones, {.rtol = 0, .atol = 1e-7}).reason, Reason::inconsistent);
}

TEST_P(NullSpace, ARightSideInsideItLeavesZero) {
  const auto A = neumann(10);
  const Vector<double> ones(10, 1.0), b(10, 0.1);
  Vector<double> x(10, 1.0);
  const Report report = run(A, b, x, ones);
  EXPECT_EQ(report.reason, Reason::inconsistent) << report.message;
  EXPECT_NEAR(report.relative_residual, 1, 1e-14);
  for (const double value : x) EXPECT_EQ(value, 0);
}

TEST_P(NullSpace, AZeroRightSideIsZeroAndConverged) {
  const auto A = neumann(10);
  const Vector<double> ones(10, 1.0), b(10, 0.0);
  Vector<double> x(10, 1.0);
  const Report report = run(A, b, x, ones);
  EXPECT_TRUE(report.converged) << report.message;
  for (const double value : x) EXPECT_EQ(value, 0);
}

TEST(NullSpaceOfUnsymmetric, BIsLeftAloneWhereTheTransposedMatrixHasAnother) {
  // w = D⁻¹1 is the left null vector: a b = A t is consistent, and taking its part along 1 away would make it not so.
  const std::int64_t n = 30;
  const auto A = neumann(n, 1.2);
  const Vector<double> ones(n, 1.0);
  Vector<double> t(n), b(n);
  for (std::int64_t i = 0; i < n; ++i) t[i] = std::sin(static_cast<double>(i));
  A.apply(t, b);
  for (const char* solver : {"gmres", "fgmres", "bicgstab"}) {
    Vector<double> x(n, 0.0);
    const Report report = solve(solver, A, b, x, Jacobi<double>(A), {.null_space = &ones});
    EXPECT_TRUE(report.converged) << solver << ": " << report.message;
    EXPECT_LE(true_relative(A, b, x), 1.001e-8) << solver;
    EXPECT_TRUE(std::isnan(report.inconsistent_part)) << solver;
    ASSERT_FALSE(report.remarks.empty());
    EXPECT_NE(report.remarks[0].find("transposed"), std::string::npos) << report.remarks[0];
  }
  // And one that is inconsistent is never said to be solved.
  b[0] += 1;
  for (const char* solver : {"gmres", "fgmres", "bicgstab"}) {
    Vector<double> x(n, 0.0);
    const Report report = solve(solver, A, b, x, Jacobi<double>(A), {.max_it = 300, .null_space = &ones});
    EXPECT_FALSE(report.converged) << solver;
    EXPECT_GT(true_relative(A, b, x), 1e-4) << solver;
  }
}

TEST_P(NullSpace, AVectorThatIsNoneIsRefusedByItsRow) {
  // Projecting b = 1 along 1 would leave b = 0, and x = 0 would be called the solution of a regular system.
  const auto A = reference::tridiagonal(50, -1, 2, -1);
  const Vector<double> ones(50, 1.0), b(50, 1.0);
  Vector<double> x(50, 0.0);
  EXPECT_ERROR((void)run(A, b, x, ones), bad_argument, "in row 0 |Σ a_ij v_j| is 0.333 of");
}

TEST_P(NullSpace, ANearlyNullVectorOfARegularMatrixIsRefused) {
  // ‖A·1‖ is 1e-9, 1e-12 and 1e-14 of ‖A‖: three regular matrices.
  for (const double shift : {1e-9, 1e-12, 1e-14}) {
    auto A = neumann(50);
    for (std::int64_t row = 0; row < 50; ++row) {
      for (auto e = A.row_start()[row]; e < A.row_start()[row + 1]; ++e) {
        if (A.column()[e] == row) A.values()[e] *= 1 + 10 * shift;
      }
    }
    const Vector<double> ones(50, 1.0), b(50, 1.0);
    Vector<double> x(50, 0.0);
    EXPECT_ERROR((void)run(A, b, x, ones), bad_argument, "the null vector v is none of this matrix");
  }
  // One small row is enough, however large the others are.
  const auto A = reference::from_dense({{1e20, -1e20, 0}, {-1e20, 1e20, 0}, {0, -1, 1.5}});
  const Vector<double> ones(3, 1.0), b(3, 1.0);
  Vector<double> x(3, 0.0);
  EXPECT_ERROR((void)run(A, b, x, ones), bad_argument, "in row 2 ");
}

TEST_P(NullSpace, RoundingOfTheDiagonalIsNoObstacle) {
  // Rows whose entries are thirds and sevenths, summed in another order than they are multiplied.
  const std::int64_t n = 40;
  std::vector<Triplet<double>> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int32_t o = 1; o <= 3; ++o) {
      const double value = 1.0 / (3 + 4 * o);
      for (const std::int32_t j : {i - o, i + o}) {
        if (j < 0 || j >= n) continue;
        entries.push_back({i, j, -value});
        sum += value;
      }
    }
    entries.push_back({i, i, sum});
  }
  const auto A = from_triplets<double>(n, n, entries);
  const Vector<double> ones(n, 1.0), b = cosine(n, 0);
  Vector<double> x(n, 0.0);
  EXPECT_TRUE(run(A, b, x, ones).converged);
}

TEST_P(NullSpace, AMatrixOnAGridIsLookedAtByRowsToo) {
  // Neumann on a box, then one point with a little more on its diagonal.
  const Grid grid{6, 5, 4};
  StructMatrix<double> A(grid, stencils::star7());
  A.fill([&](std::int64_t i, std::int64_t j, std::int64_t k, int entry, std::span<double> block) {
    block[0] = -1;
    if (entry != A.stencil().center()) return;
    for (const Offset& o : A.stencil().offsets()) block[0] += grid.contains(i + o.x, j + o.y, k + o.z);
  });
  const Vector<double> ones(A.rows(), 1.0);
  Vector<double> b(A.rows()), x(A.rows(), 0.0);
  double mean = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) mean += b[i] = std::sin(static_cast<double>(i));
  for (double& value : b) value -= mean / static_cast<double>(b.size());
  const Report report = run(A, b, x, ones);
  EXPECT_TRUE(report.converged) << report.message;
  A.block(17, A.stencil().center())[0] += 1e-10;
  EXPECT_ERROR((void)run(A, b, x, ones), bad_argument, "in row 17 ");
}

TEST(NullSpaceLadder, AutoStopsAtTheLeastSquaresSolution) {
  const std::int64_t n = 60;
  const auto A = neumann(n);
  const Vector<double> ones(n, 1.0), b = cosine(n, 0.25);
  Vector<double> x(n, 0.0);
  SolveRequest request;
  request.krylov.null_space = &ones;
  const auto outcome = solve_automatically(&A, b, x, request);
  EXPECT_EQ(outcome.report.reason, Reason::inconsistent) << outcome.report.message;
  EXPECT_NEAR(outcome.report.relative_residual, 1.0 / 3, 1e-12);
  EXPECT_EQ(outcome.attempts.back().outcome, "inconsistent") << "nothing is tried after it";
  expect_the_cosine(x, b, 0.25);
}

}  // namespace
}  // namespace echelon
