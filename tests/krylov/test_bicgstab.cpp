// SPDX-License-Identifier: BSD-3-Clause
// BiCGStab: cases to check by hand, the true residual on convection-diffusion, and its ladder after a breakdown.
#include <gtest/gtest.h>

#include <cmath>

#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

const Identity<double> none;

TEST(Bicgstab, MultipleOfTheIdentityTakesOneHalfStep) {
  const auto A = reference::from_dense({{2, 0}, {0, 2}});
  Vector<double> x{0, 0};
  const Report report = bicgstab(A, {2, 4}, x, none);
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.iterations, 1);
  EXPECT_EQ(x[0], 1);
  EXPECT_EQ(x[1], 2);
}

TEST(Bicgstab, TwoByTwoTakesTwoIterations) {
  const auto A = reference::from_dense({{4, 1}, {2, 3}});
  Vector<double> x{0, 0};
  const Report report = bicgstab(A, {1, 2}, x, none, {.rtol = 1e-12});
  EXPECT_TRUE(report.converged) << report.message;
  EXPECT_LE(report.iterations, 2);
  EXPECT_NEAR(x[0], 0.1, 1e-14);
  EXPECT_NEAR(x[1], 0.6, 1e-14);
}

TEST(Bicgstab, ConvectionDiffusionReachesTheTrueTolerance) {
  const auto A = to_block_csr(problems::convection_diffusion({12, 12, 12}, stencils::star7(), {.peclet = 100}));
  const Vector<double> b(A.rows(), 1.0);
  const Jacobi<double> M(A);
  for (const double rtol : {1e-6, 1e-10}) {
    Vector<double> x(A.rows(), 0.0);
    const Report report = bicgstab(A, b, x, M, {.rtol = rtol});
    EXPECT_TRUE(report.converged) << report.message;
    EXPECT_LT(report.iterations, 100);
    EXPECT_LE(reference::exact_residual_norm(A, b, x), rtol * 1.001L * reference::exact_norm(b));
  }
}

TEST(Bicgstab, SkewMatrixBreaksDownAndGmresFinishes) {
  // s'A s = 0 for every s: no shadow vector helps.
  const auto A = reference::from_dense({{0, 1, 0, 0}, {-1, 0, 0, 0}, {0, 0, 0, 2}, {0, 0, -2, 0}});
  const Vector<double> b{1, 2, 3, 4};
  Vector<double> x(4, 0.0);
  const Report report = bicgstab(A, b, x, none);
  EXPECT_TRUE(report.converged) << report.message;
  ASSERT_EQ(report.remarks.size(), 4u);
  for (int i = 0; i < 3; ++i)
    EXPECT_NE(report.remarks[static_cast<std::size_t>(i)].find("new shadow vector"), std::string::npos);
  EXPECT_NE(report.remarks[3].find("GMRES"), std::string::npos) << report.remarks[3];
  EXPECT_LE(reference::exact_residual_norm(A, b, x), 1e-8L * reference::exact_norm(b));
}

}  // namespace
}  // namespace echelon
