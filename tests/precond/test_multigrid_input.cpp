// SPDX-License-Identifier: BSD-3-Clause
// What multigrid makes of matrices it is not meant for: solved, or an honest no; never a false 'converged', never a hang.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/mg/multigrid.hpp"
#include "echelon/precond/mg/smoothers.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

constexpr MgSmoother smoothers[] = {MgSmoother::automatic, MgSmoother::gs,        MgSmoother::symgs, MgSmoother::ilu,
                                    MgSmoother::jacobi,    MgSmoother::chebyshev, MgSmoother::lines};

double true_residual(const StructMatrix<double>& A, const Vector<double>& b, const Vector<double>& x) {
  Vector<double> r(A.rows());
  A.careful_residual(b, x, r);
  double rr = 0, bb = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    rr += r[i] * r[i];
    bb += b[i] * b[i];
  }
  return std::sqrt(rr / bb);
}

/// Converged, and then truly; or a reason. Says which.
bool honest_solve(const StructMatrix<double>& A, MgSmoother smoother, const char* solver) {
  const auto M = multigrid(A, {.smoother = smoother});
  if (!M.report().ok) {
    EXPECT_NE(M.report().message.find("multigrid: "), std::string::npos);
    return false;
  }
  Vector<double> b(A.rows(), 1.0), x(A.rows(), 0.0);
  const auto report = solve(solver, A, b, x, M, {.max_it = 100});
  if (!report.converged) {
    EXPECT_FALSE(report.message.empty());
    return false;
  }
  EXPECT_LE(true_residual(A, b, x), 1.01e-8);
  return true;
}

StructMatrix<double> shifted(double shift) {
  auto A = problems::poisson({15, 14, 13}, stencils::star7());
  for (std::int64_t p = 0; p < A.rows(); ++p) A.block(p, A.stencil().center())[0] -= shift;
  return A;
}

TEST(MultigridInput, PositiveOffDiagonals) {
  StructMatrix<double> A({24, 24, 24}, stencils::star7());
  A.fill([](auto, auto, auto, int e, std::span<double> a) { a[0] = e == 3 ? 6.5 : 1; });
  for (const MgSmoother smoother : smoothers) EXPECT_TRUE(honest_solve(A, smoother, "gmres")) << word(smoother);
}

TEST(MultigridInput, RandomMatrices) {
  for (const auto& stencil : {stencils::star7(), stencils::box27()}) {
    const auto A = problems::random({18, 17, 16}, stencil, 1, 5);
    for (const MgSmoother smoother : smoothers) EXPECT_TRUE(honest_solve(A, smoother, "gmres")) << word(smoother);
  }
}

/// Whether GMRES manages is not promised, only that it is said.
TEST(MultigridInput, IndefiniteShifts) {
  for (const double shift : {0.2, 3.0, 5.9}) {
    for (const MgSmoother smoother : smoothers) {
      for (const char* solver : {"cg", "gmres", "stationary"}) (void)honest_solve(shifted(shift), smoother, solver);
    }
  }
}

TEST(MultigridInput, ZeroDiagonalIsSaidWithLevelAndPoint) {
  auto A = problems::poisson({12, 11, 10}, stencils::star7());
  A.block(A.grid().index(3, 4, 5), A.stencil().center())[0] = 0;
  for (const MgSmoother smoother : {MgSmoother::gs, MgSmoother::symgs, MgSmoother::jacobi}) {
    const auto M = multigrid(A, {.smoother = smoother});
    EXPECT_FALSE(M.report().ok);
    EXPECT_NE(M.report().message.find("level 0 (12x11x10)"), std::string::npos) << M.report().message;
    EXPECT_NE(M.report().message.find("(3,4,5)"), std::string::npos) << M.report().message;
    Vector<double> r(A.rows(), 1.0), z(A.rows());
    EXPECT_ERROR(M.apply(r, z), bad_argument, "the diagonal is 0");
  }
  EXPECT_TRUE(honest_solve(A, MgSmoother::ilu, "gmres"));
  const auto repaired = multigrid(A, {.smoother = MgSmoother::ilu});
  ASSERT_TRUE(repaired.report().ok);
  EXPECT_EQ(repaired.report().perturbed_pivots == 0 && repaired.report().shift == 0, repaired.report().remarks.empty());
}

/// A repair of a smoother is one of the whole, with its level; with repairs forbidden the set-up says no.
TEST(MultigridInput, RepairsOfSmoothersAreSaid) {
  auto A = problems::poisson({12, 11, 10}, stencils::star7());
  A.block(0, A.stencil().center())[0] = 0;  // the first pivot
  auto M = multigrid(A, {.smoother = MgSmoother::ilu});
  ASSERT_TRUE(M.report().ok) << M.report().message;
  EXPECT_EQ(M.report().perturbed_pivots, 1);
  ASSERT_EQ(M.report().remarks.size(), 1U);
  EXPECT_NE(M.report().remarks[0].find("level 0 (12x11x10)"), std::string::npos) << M.report().remarks[0];
  ASSERT_TRUE(M.refactor(problems::poisson({12, 11, 10}, stencils::star7())).ok);
  EXPECT_EQ(M.report().perturbed_pivots, 0);
  EXPECT_TRUE(M.report().remarks.empty());
  MgOptions strict{.smoother = MgSmoother::ilu};
  strict.ilu.shift = ShiftPolicy::none;
  const auto refused = multigrid(A, strict);
  EXPECT_FALSE(refused.report().ok);
  EXPECT_NE(refused.report().message.find("level 0"), std::string::npos) << refused.report().message;
}

TEST(MultigridInput, NoNumbersAreNamed) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const int entry : {0, 3, 4}) {
      auto A = problems::poisson({12, 11, 10}, stencils::star7());
      A.block(A.grid().index(6, 7, 8), entry)[0] = bad;
      for (const MgSmoother smoother : smoothers) {
        const auto M = multigrid(A, {.smoother = smoother});
        EXPECT_FALSE(M.report().ok) << word(smoother);
        EXPECT_NE(M.report().message.find("(6,7,8)"), std::string::npos) << M.report().message;
      }
    }
  }
}

/// A set-up that failed is made good by new values, and one that stood falls with bad ones.
TEST(MultigridInput, RefactorRecovers) {
  const auto good = problems::poisson({12, 11, 10}, stencils::star7());
  auto bad = good;
  bad.block(5, bad.stencil().center())[0] = 0;
  auto M = multigrid(bad, {.smoother = MgSmoother::gs});
  ASSERT_FALSE(M.report().ok);
  ASSERT_TRUE(M.refactor(good).ok) << M.report().message;
  Vector<double> b(good.rows(), 1.0), x(good.rows(), 0.0);
  EXPECT_TRUE(cg(good, b, x, M).converged);
  EXPECT_FALSE(M.refactor(bad).ok);
  ASSERT_TRUE(M.refactor(good).ok);
  Vector<double> y(good.rows(), 0.0);
  EXPECT_TRUE(cg(good, b, y, M).converged);
  for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], y[i]);
}

/// No flux through any side: constants are the null space.
StructMatrix<double> neumann(const Grid& grid) {
  const Stencil star = stencils::star7();
  StructMatrix<double> A(grid, star);
  A.fill([&](std::int64_t i, std::int64_t j, std::int64_t k, int e, std::span<double> a) {
    a[0] = -1;
    if (e != 3) return;
    a[0] = 0;
    for (const Offset& o : star.offsets()) a[0] += !(o == Offset{}) && grid.contains(i + o.x, j + o.y, k + o.z);
  });
  return A;
}

TEST(MultigridInput, SingularWithItsNullVector) {
  for (const Grid grid : {Grid{40, 40, 40}, {33, 20, 51}, {60, 60, 1}}) {
    const auto A = neumann(grid);
    const Vector<double> ones(A.rows(), 1.0);
    Vector<double> b(A.rows());
    double mean = 0;
    for (std::int64_t i = 0; i < b.size(); ++i) mean += b[i] = std::sin(0.37 * static_cast<double>(i));
    for (std::int64_t i = 0; i < b.size(); ++i) b[i] -= mean / static_cast<double>(b.size());
    for (const MgSmoother smoother : {MgSmoother::gs, MgSmoother::ilu}) {
      const auto M = multigrid(A, {.smoother = smoother});
      ASSERT_TRUE(M.report().ok) << M.report().message;
      EXPECT_EQ(M.report().multilevel->null_vectors, 1);
      Vector<double> x(A.rows(), 0.0);
      const auto report = cg(A, b, x, M, {.rtol = 1e-10, .max_it = 40, .null_space = &ones});
      EXPECT_TRUE(report.converged) << report.message;
      EXPECT_LE(report.iterations, 16);
      EXPECT_LE(true_residual(A, b, x), 1.01e-10);
    }
  }
}

/// Inconsistent: no answer there is may be called one.
TEST(MultigridInput, SingularWithoutItsNullVectorIsNotConvergedFalsely) {
  for (const char* solver : {"cg", "gmres", "stationary"})
    EXPECT_FALSE(honest_solve(neumann({24, 24, 24}), MgSmoother::gs, solver));
}

TEST(MultigridInput, FilesAreGridsOrRefused) {
  const auto A = problems::poisson({20, 15, 12}, stencils::star7());
  const auto rows = to_block_csr(A);
  const auto by_name = make_preconditioner("mg", &rows, {});
  const auto direct = multigrid(A);
  Vector<double> r(A.rows(), 1.0), z(A.rows()), w(A.rows());
  by_name->apply(r, z);
  direct.apply(r, w);
  for (std::int64_t i = 0; i < z.size(); ++i) EXPECT_EQ(z[i], w[i]);
  const auto no_grid = permuted(rows, [&] {
    std::vector<std::int32_t> order(static_cast<std::size_t>(A.rows()));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i * 7 % order.size());
    return order;
  }());
  EXPECT_ERROR(make_preconditioner("mg", &no_grid, {}), bad_argument, "no stencil on a grid");
}

}  // namespace
}  // namespace echelon
