// SPDX-License-Identifier: BSD-3-Clause
// −∇·(κ ε ∇u): values by hand, symmetry, second order for smooth coefficients and across a jump, refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "echelon/echelon.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/continuous.hpp"

namespace ec = echelon;
using ec::problems::variable_poisson;
using ec::problems::VarPoissonOptions;
using ec::test::derivative;
using ec::test::Place3;
namespace {

constexpr double pi = std::numbers::pi;

ec::Vector<double> solution(const ec::StructMatrix<double>& A, const ec::Vector<double>& b, double rtol = 1e-11) {
  ec::Vector<double> x(A.rows(), 0.0);
  const auto M = ec::ilu(A, {.fill = 0});
  EXPECT_TRUE(ec::cg(A, b, x, M, {.rtol = rtol}).converged);
  return x;
}

const ec::Stencil& line() {
  static const ec::Stencil three({{-1, 0, 0}, {1, 0, 0}}, "line3");
  return three;
}

TEST(VariablePoisson, HarmonicMeansByHand) {
  // κ = 1 and 3 at the points 1/2 and 1, h = 1/2: faces 2·1·3/4 = 3/2 to the right, 1 to the left.
  const auto A =
      variable_poisson({1, 1, 1}, line(), {.kappa = [](double x, double, double) { return x > 0.9 ? 3.0 : 1.0; }});
  EXPECT_DOUBLE_EQ(A.block(0, 1)[0], 2.5);
}

TEST(VariablePoisson, ConstantCoefficientIsPoisson) {
  const auto one = [](double, double, double) { return 1.0; };
  for (const ec::Grid grid : {ec::Grid{4, 5, 6}, ec::Grid{7, 3, 1}}) {
    const auto stencil = grid.nz > 1 ? ec::stencils::star7() : ec::stencils::star5();
    const auto A = variable_poisson(grid, stencil, {.kappa = one}), B = ec::problems::poisson(grid, stencil);
    for (std::size_t i = 0; i < A.values().size(); ++i) EXPECT_DOUBLE_EQ(A.values()[i], B.values()[i]);
  }
  const auto box = variable_poisson({3, 3, 3}, ec::stencils::box27(), {.kappa = one});
  for (int e = 0; e < 27; ++e) {
    const auto o = box.stencil().offsets()[e];
    const double expected[] = {600, -60, -18, -3};
    EXPECT_NEAR(box.block(13, e)[0], expected[std::abs(o.x) + std::abs(o.y) + std::abs(o.z)] / 144, 1e-14);
  }
}

TEST(VariablePoisson, AnisotropyIsAFactorAlongItsAxis) {
  const auto A = variable_poisson({3, 3, 3}, ec::stencils::star7(),
                                  {.kappa = [](double, double, double) { return 1.0; }, .anisotropy = {1, 10, 0.01}});
  const auto& s = A.stencil();
  EXPECT_DOUBLE_EQ(A.block(13, s.find({1, 0, 0}))[0], -1);
  EXPECT_DOUBLE_EQ(A.block(13, s.find({0, -1, 0}))[0], -10);
  EXPECT_DOUBLE_EQ(A.block(13, s.find({0, 0, 1}))[0], -0.01);
}

TEST(VariablePoisson, SymmetricToTheLastBitAndSolvedByCg) {
  for (const auto& stencil : {ec::stencils::star7(), ec::stencils::box27()}) {
    for (const auto& kappa : {ec::problems::smooth_coefficient(1e4), ec::problems::jump_coefficient(1e6)}) {
      const auto A = variable_poisson({9, 10, 11}, stencil, {.kappa = kappa, .anisotropy = {1, 0.1, 3}});
      EXPECT_EQ(ec::asymmetry(A), 0);
      const ec::Vector<double> b(A.rows(), 1.0);
      solution(A, b, 1e-8);
    }
  }
}

/// u = Π sin πx_d over the axes of the grid; f by differences of κ ε ∂u. Error of the discrete solution.
double error(const ec::Grid& grid, const ec::Stencil& stencil, const VarPoissonOptions& options) {
  const std::int64_t sides[3] = {grid.nx, grid.ny, grid.nz};
  const auto exact = [&](const Place3& p) {
    double u = 1;
    for (int d = 0; d < 3; ++d) u *= sides[d] > 1 ? std::sin(pi * p[d]) : 1;
    return u;
  };
  const auto right_hand_side = [&](const Place3& p) {
    double f = 0;
    for (int d = 0; d < 3; ++d) {
      if (sides[d] == 1) continue;
      const auto flux = [&](const Place3& q) {
        return options.kappa(q.x, q.y, q.z) * options.anisotropy[d] * exact(q) * pi / std::tan(pi * q[d]);
      };
      f -= derivative(flux, p, d);
    }
    return f;
  };
  const auto A = variable_poisson(grid, stencil, options);
  double h = 1;
  for (const auto n : sides) h = n > 1 ? std::fmin(h, 1.0 / static_cast<double>(n + 1)) : h;
  return ec::test::solution_error(
      A, false, [&](const Place3& p, int) { return exact(p); },
      [&](const Place3& p, double* b) { *b = h * h * right_hand_side(p); });
}

TEST(VariablePoisson, SecondOrderByManufacturedSolution) {
  struct Case {
    ec::Stencil stencil;
    ec::Grid coarse;
  };
  const Case cases[] = {{line(), {31, 1, 1}},
                        {ec::stencils::star5(), {31, 15, 1}},
                        {ec::stencils::box9(), {31, 15, 1}},
                        {ec::stencils::star7(), {15, 15, 7}},
                        {ec::stencils::box27(), {15, 15, 7}}};
  for (const auto& [stencil, coarse] : cases) {
    const VarPoissonOptions options{.kappa = ec::problems::smooth_coefficient(10), .anisotropy = {1, 0.5, 0.25}};
    const auto refined = [](std::int64_t n) { return n > 1 ? 2 * n + 1 : 1; };
    const ec::Grid fine{refined(coarse.nx), refined(coarse.ny), refined(coarse.nz)};
    const auto order = ec::test::observed_orders({error(coarse, stencil, options), error(fine, stencil, options)});
    EXPECT_NEAR(order[0], 2, 0.2) << stencil.name();
  }
}

TEST(VariablePoisson, SecondOrderAcrossAJump) {
  // κ = 1 | C with the jump half way between points; u = sin 2πx | sin(2πx)/C has a kink there and a continuous flux.
  constexpr double contrast = 1000;
  std::vector<double> errors;
  for (const std::int64_t n : {20, 40, 80}) {
    const auto A =
        variable_poisson({n, 1, 1}, line(), {.kappa = [](double x, double, double) { return x < 0.5 ? 1.0 : contrast; }});
    const double h = 1.0 / static_cast<double>(n + 1);
    ec::Vector<double> b(n);
    for (std::int64_t i = 0; i < n; ++i) b[i] = h * h * 4 * pi * pi * std::sin(2 * pi * h * static_cast<double>(i + 1));
    const auto u = solution(A, b);
    double largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = h * static_cast<double>(i + 1);
      largest = std::fmax(largest, std::abs(u[i] - std::sin(2 * pi * x) / (x < 0.5 ? 1 : contrast)));
    }
    errors.push_back(largest);
  }
  for (const double order : ec::test::observed_orders(errors)) EXPECT_NEAR(order, 2, 0.15);
}

TEST(VariablePoisson, RegionsByHand) {
  // N = 3, C = 9: (i+1)/4 is in the lower half for i = 0 alone. Point 0 is strong along x, (1,0,0) along y, (1,1,0) along z
  // and (1,1,1) along x again. The face between x and y octants: 2·9·1/10 along x, and along y as much.
  const auto A = variable_poisson({3, 3, 3}, ec::stencils::star7(), {.along = ec::problems::region_coefficient(9)});
  const auto& s = A.stencil();
  const auto value = [&](std::int64_t i, std::int64_t j, std::int64_t k, const ec::Offset& o) {
    return A.block(A.grid().index(i, j, k), s.find(o))[0];
  };
  EXPECT_DOUBLE_EQ(value(0, 0, 0, {1, 0, 0}), -1.8);
  EXPECT_DOUBLE_EQ(value(0, 0, 0, {0, 1, 0}), -1.8);
  EXPECT_DOUBLE_EQ(value(0, 0, 0, {0, 0, 0}), 9 + 1.8 + 1 + 1.8 + 1 + 1);
  EXPECT_DOUBLE_EQ(value(1, 1, 1, {1, 0, 0}), -9);
  EXPECT_DOUBLE_EQ(value(1, 1, 1, {0, 1, 0}), -1);
  EXPECT_DOUBLE_EQ(value(1, 0, 0, {1, 0, 0}), -1);
  EXPECT_DOUBLE_EQ(value(1, 1, 0, {1, 0, 0}), -1);
}

TEST(VariablePoisson, RegionsHaveAnMMatrixStrongAlongAllAxes) {
  const ec::Grid grid{8, 9, 10};
  const auto A = variable_poisson(grid, ec::stencils::star7(), {.along = ec::problems::region_coefficient(1000)});
  EXPECT_EQ(ec::asymmetry(A), 0);
  const auto& s = A.stencil();
  int strong[3] = {0, 0, 0};
  for (std::int64_t p = 0; p < grid.points(); ++p) {
    double sum = 0;
    for (int e = 0; e < 7; ++e) {
      ASSERT_TRUE(e == s.center() || A.block(p, e)[0] <= 0) << p;
      sum += A.block(p, e)[0];
    }
    ASSERT_GE(sum, -1e-12 * A.block(p, s.center())[0]);
    const ec::Offset steps[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int d = 0; d < 3; ++d) strong[d] += A.block(p, s.find(steps[d]))[0] < -400;
  }
  for (const int d : {0, 1, 2}) EXPECT_GT(strong[d], 100) << d;  // 720 points: two, three and three of eight octants
}

TEST(VariablePoisson, DirectedAndScalarCoefficientsAgreeWhereTheyAreEqual) {
  const auto kappa = ec::problems::smooth_coefficient(50);
  const auto along = [&](double x, double y, double z) {
    const double k = kappa(x, y, z);
    return ec::problems::PerAxis{k, k, k};
  };
  for (const auto boundary : {ec::problems::Boundary::dirichlet, ec::problems::Boundary::neumann}) {
    const auto A =
        variable_poisson({7, 6, 5}, ec::stencils::star7(), {.kappa = kappa, .anisotropy = {1, 2, 3}, .boundary = boundary});
    const auto B =
        variable_poisson({7, 6, 5}, ec::stencils::star7(), {.anisotropy = {1, 2, 3}, .along = along, .boundary = boundary});
    EXPECT_TRUE(std::ranges::equal(A.values(), B.values()));
  }
}

TEST(VariablePoisson, RandomValuesAreLogUniformAndTheSeedMatters) {
  constexpr double contrast = 1e4;
  const auto kappa = ec::problems::random_coefficient(contrast, 1), other = ec::problems::random_coefficient(contrast, 2);
  int quarter[4] = {0, 0, 0, 0}, same = 0;
  constexpr int n = 20;
  for (int p = 0; p < n * n * n; ++p) {
    const double x = (p % n + 1) / (n + 1.0), y = (p / n % n + 1) / (n + 1.0), z = (p / n / n + 1) / (n + 1.0);
    const double k = kappa(x, y, z);
    ASSERT_GE(k, 1);
    ASSERT_LT(k, contrast);
    ++quarter[static_cast<int>(4 * std::log(k) / std::log(contrast))];
    same += k == other(x, y, z);
  }
  for (const int count : quarter) EXPECT_NEAR(count, 2000, 160);  // four standard deviations
  EXPECT_EQ(same, 0);
  EXPECT_EQ(ec::problems::random_coefficient(1, 5)(0.25, 0.5, 0.75), 1);
}

TEST(VariablePoisson, RandomValuesHaveTheSameBitsEverywhere) {
  const auto kappa = ec::problems::random_coefficient(1000, 1);
  EXPECT_EQ(kappa(0.25, 0.5, 0.75), 0x1.431906547b55ap+3);
  EXPECT_EQ(kappa(0.125, 0.5, 0), 0x1.00b3abf8a9a85p+8);
  const auto made = [&](int threads) {
    ec::set_threads(threads);
    return variable_poisson({30, 40, 25}, ec::stencils::star7(), {.kappa = kappa});
  };
  const auto one = made(1);
  for (const int threads : {2, 3, 4}) EXPECT_TRUE(std::ranges::equal(one.values(), made(threads).values())) << threads;
  ec::set_threads(0);
  EXPECT_EQ(ec::asymmetry(one), 0);
}

TEST(VariablePoisson, Refusals) {
  using ec::problems::jump_coefficient;
  using ec::problems::random_coefficient;
  using ec::problems::region_coefficient;
  using ec::problems::smooth_coefficient;
  EXPECT_ERROR((void)variable_poisson({4, 4, 4}, ec::stencils::box27(), {.along = region_coefficient(10)}), bad_argument,
               "differs by direction");
  EXPECT_ERROR((void)variable_poisson({4, 4, 4}, ec::stencils::star7(),
                                      {.along =
                                           [](double, double y, double) {
                                             return ec::problems::PerAxis{1, y, 1};
                                           }}),
               bad_argument, "must be positive along every axis; at (0, 0, 0) it is 1, 0 and 1");
  for (const double contrast : {0.5, 0.0, -3.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_ERROR((void)random_coefficient(contrast, 1), bad_argument, "a contrast is from 1 to 1e+300");
  }
  for (const double contrast : {0.0, -3.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_ERROR((void)region_coefficient(contrast), bad_argument, "a contrast is from");
  }
  EXPECT_ERROR((void)variable_poisson({9, 9, 9}, ec::stencils::star13()), bad_argument, "the full box (box9, box27)");
  EXPECT_ERROR((void)variable_poisson({4, 4, 4}, ec::stencils::star5()), bad_argument, "nothing along z");
  EXPECT_ERROR((void)variable_poisson({4, 4, 4}, ec::stencils::star7(), {.anisotropy = {1, 0, 1}}), bad_argument,
               "along y it is 0");
  EXPECT_ERROR(
      (void)variable_poisson({4, 4, 4}, ec::stencils::star7(), {.kappa = [](double x, double, double) { return x - 0.5; }}),
      bad_argument, "must be positive; at (0, 0, 0) it is -0.5");
  EXPECT_ERROR((void)variable_poisson({4, 4, 4}, ec::stencils::box27(),
                                      {.kappa = [](double, double, double) { return std::nan(""); }}),
               bad_argument, "must be finite");
  EXPECT_ERROR((void)smooth_coefficient(0.5), bad_argument, "at least 1");
  EXPECT_ERROR((void)jump_coefficient(0), bad_argument, "positive");
}

}  // namespace
