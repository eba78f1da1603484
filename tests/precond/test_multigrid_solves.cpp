// SPDX-License-Identifier: BSD-3-Clause
// What multigrid is for: iterations that do not grow with the grid, on odd sides, in one and two dimensions, with jumps,
// anisotropy and convection; the limits are those measured in docs/method/multigrid.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/mg/axis.hpp"
#include "echelon/precond/mg/multigrid.hpp"
#include "echelon/precond/mg/smoothers.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/solve/auto_solve.hpp"

namespace echelon {
namespace {

std::int64_t iterations(const StructMatrix<double>& A, const MgOptions& options, const char* solver = "cg") {
  const auto M = multigrid(A, options);
  EXPECT_TRUE(M.report().ok) << M.report().message;
  EXPECT_LE(M.report().multilevel->operator_complexity, 4);
  Vector<double> b(A.rows(), 1.0), x(A.rows(), 0.0);
  const auto report = solve(solver, A, b, x, M, {.rtol = 1e-8, .max_it = 60});
  EXPECT_TRUE(report.converged) << report.message;
  EXPECT_LE(report.relative_residual, 1e-8);
  return report.iterations;
}

struct Range {
  std::int64_t least = 1000, most = 0;
  void add(std::int64_t n) {
    least = std::min(least, n);
    most = std::max(most, n);
  }
};

/// Poisson on cubes: within two of each other, and below the limit.
void expect_flat(MgSmoother smoother, std::int64_t limit, std::initializer_list<std::int64_t> sides) {
  Range range;
  for (const std::int64_t n : sides)
    range.add(iterations(problems::poisson({n, n, n}, stencils::star7()), {.smoother = smoother}));
  EXPECT_LE(range.most, limit) << word(smoother);
  EXPECT_LE(range.most - range.least, 2) << word(smoother);
}

TEST(MultigridSolves, PoissonInAsManyIterationsOnEveryGrid) {
  expect_flat(MgSmoother::gs, 12, {31, 32, 33, 37, 50, 64, 96});
  expect_flat(MgSmoother::ilu, 9, {31, 32, 33, 37, 50, 64, 96});
  expect_flat(MgSmoother::automatic, 12, {32, 50, 96});
}

TEST(MultigridSolvesFull, PoissonInAsManyIterationsOnLargeGrids) {
  expect_flat(MgSmoother::gs, 12, {32, 100, 128, 192});
  expect_flat(MgSmoother::ilu, 9, {32, 100, 128, 192});
}

TEST(MultigridSolves, AnySidesAndDimensions) {
  struct Case {
    Grid grid;
    Stencil stencil;
  };
  for (const auto& [grid, stencil] :
       {Case{{37, 50, 91}, stencils::star7()}, Case{{400, 400, 2}, stencils::star7()},
        Case{{300, 301, 1}, stencils::star5()}, Case{{129, 200, 1}, stencils::box9()},
        Case{{5000, 1, 1}, Stencil({{-1, 0, 0}, {1, 0, 0}})}, Case{{1, 1, 777}, stencils::star7()},
        Case{{3, 3, 1000}, stencils::star7()}, Case{{2, 90, 3}, stencils::star7()}, Case{{1, 2, 3}, stencils::star7()},
        Case{{1, 1, 1}, stencils::star7()}, Case{{40, 40, 40}, stencils::box27()}, Case{{24, 25, 26}, stencils::star13()},
        Case{{20, 30, 25}, stencils::diamond25()}}) {
    for (const MgSmoother smoother : {MgSmoother::gs, MgSmoother::ilu}) {
      SCOPED_TRACE(sides_of(grid) + " " + stencil.name() + " " + word(smoother));
      EXPECT_LE(iterations(problems::poisson(grid, stencil), {.smoother = smoother}), smoother == MgSmoother::gs ? 12 : 9);
    }
  }
}

TEST(MultigridSolves, EverySmootherAndCycle) {
  const auto A = problems::poisson({40, 40, 40}, stencils::star7());
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::symgs}), 9);
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::dbsr}), 9);
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::jacobi}), 17);
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::chebyshev}), 11);
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::lines}), 9);
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::gs, .sweeps = 2}), 9);
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::gs, .cycle = CycleShape::w}), 10);
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::gs, .cycle = CycleShape::f}, "fgmres"), 10);
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::gs, .precision = MgPrecision::fp64}, "gmres"), 12);
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::gs, .precision = MgPrecision::fp32}, "gmres"), 14);
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::gs}, "bicgstab"), 12);
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::gs}, "stationary"), 24);
  EXPECT_LE(iterations(A, {.smoother = MgSmoother::ilu}, "stationary"), 12);
}

/// A hierarchy in FP32 costs no iterations, with jumps of 10⁶ and to 1e-13 too.
TEST(MultigridSolves, HalfTheBytesInAsManyIterations) {
  const auto A = problems::poisson({40, 41, 42}, stencils::star7());
  const auto jumps = problems::variable_poisson({40, 40, 40}, stencils::star7(), {.kappa = problems::jump_coefficient(1e6)});
  for (const MgSmoother smoother : {MgSmoother::gs, MgSmoother::ilu}) {
    for (const auto* matrix : {&A, &jumps}) {
      const auto wide = iterations(*matrix, {.smoother = smoother, .precision = MgPrecision::fp64});
      EXPECT_LE(iterations(*matrix, {.smoother = smoother, .precision = MgPrecision::fp32}), wide + 1);
    }
  }
  const auto M = multigrid(A);
  EXPECT_EQ(M.report().precision, "fp32");
  Vector<double> b(A.rows(), 1.0), x(A.rows(), 0.0);
  const auto report = cg(A, b, x, M, {.rtol = 1e-13});
  EXPECT_TRUE(report.converged);
  EXPECT_LE(report.iterations, 17);
  // Ten orders between the largest and the smallest diagonal, or values outside FP32: FP64.
  const auto wide = problems::variable_poisson({20, 20, 20}, stencils::star7(), {.kappa = problems::jump_coefficient(1e10)});
  EXPECT_EQ(multigrid(wide).report().precision, "fp64");
  auto tiny = problems::poisson({20, 20, 20}, stencils::star7());
  for (auto& value : tiny.values()) value *= 1e-40;
  EXPECT_EQ(multigrid(tiny).report().precision, "fp64");
  EXPECT_EQ(multigrid(problems::convection_diffusion({20, 20, 20}, stencils::star7())).report().precision, "fp64");
}

/// With jumps of 10⁸ no method reaches 1e-8: the arithmetic of the residual does not. FP32 is not left with the blame.
TEST(MultigridSolves, AStagnatingSolveReturnsToFp64AndSaysSo) {
  const auto A = problems::variable_poisson({40, 40, 40}, stencils::star7(), {.kappa = problems::jump_coefficient(1e8)});
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  SolveRequest request;
  request.wishes.pc = "mg";
  request.wishes.options.mg.precision = MgPrecision::fp32;
  const auto outcome = solve_automatically(&A, b, x, request);
  EXPECT_FALSE(outcome.report.converged);
  EXPECT_LE(outcome.report.relative_residual, 1e-6);
  ASSERT_EQ(outcome.attempts.size(), 2U);
  const bool said = std::ranges::any_of(outcome.report.remarks, [](const std::string& remark) {
    return remark.find("levels stored in fp32") != std::string::npos && remark.find("back to fp64") != std::string::npos;
  });
  EXPECT_TRUE(said);
}

TEST(MultigridSolves, JumpsAndSmoothCoefficients) {
  for (const double contrast : {1e3, 1e6}) {
    const auto jumps =
        problems::variable_poisson({48, 48, 48}, stencils::star7(), {.kappa = problems::jump_coefficient(contrast)});
    EXPECT_LE(iterations(jumps, {.smoother = MgSmoother::ilu}), 9);
    EXPECT_LE(iterations(jumps, {.smoother = MgSmoother::gs}), 14);
    EXPECT_LE(iterations(jumps, {}), 11);
    const auto smooth =
        problems::variable_poisson({48, 48, 48}, stencils::star7(), {.kappa = problems::smooth_coefficient(contrast)});
    EXPECT_LE(iterations(smooth, {}), 11);
  }
}

StructMatrix<double> anisotropic(const Grid& grid, double x, double y, double z) {
  problems::VarPoissonOptions options;
  options.kappa = problems::smooth_coefficient(1);
  options.anisotropy[0] = x;
  options.anisotropy[1] = y;
  options.anisotropy[2] = z;
  return problems::variable_poisson(grid, stencils::star7(), options);
}

TEST(MultigridSolves, AnisotropyInEveryDirection) {
  const Grid grid{48, 40, 44};
  for (const double strong : {100.0, 1000.0}) {
    for (int d = 0; d < 3; ++d) {
      const auto factor = [&](int axis, double on, double off) { return axis == d ? on : off; };
      const auto one_strong = anisotropic(grid, factor(0, strong, 1), factor(1, strong, 1), factor(2, strong, 1));
      const auto one_weak = anisotropic(grid, factor(0, 1, strong), factor(1, 1, strong), factor(2, 1, strong));
      for (const auto* A : {&one_strong, &one_weak}) {
        EXPECT_LE(iterations(*A, {}), 8);
        EXPECT_LE(iterations(*A, {.smoother = MgSmoother::gs}), 11);
      }
    }
  }
}

TEST(MultigridSolves, Convection) {
  for (const double peclet : {10.0, 1e3, 1e4}) {
    const auto A = problems::convection_diffusion({48, 48, 48}, stencils::star7(), {.peclet = peclet});
    EXPECT_LE(iterations(A, {}, "gmres"), 12) << peclet;
    const auto back =
        problems::convection_diffusion({48, 48, 48}, stencils::star7(), {.peclet = peclet, .velocity = {-1, -0.5, -0.25}});
    EXPECT_LE(iterations(back, {}, "gmres"), 15) << peclet;
  }
}

}  // namespace
}  // namespace echelon
