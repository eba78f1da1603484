// SPDX-License-Identifier: BSD-3-Clause
// The nodal pressure projection: elements by hand, symmetry, row sums, eigenvalues, the patch test with cut cells, observed
// order by manufactured pressures, the documented sizes, refusals.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "echelon/echelon.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/continuous.hpp"

namespace ec = echelon;
using ec::problems::projection;
using ec::problems::ProjectionOptions;
using ec::problems::ProjectionSystem;
namespace {

const auto one = [](double, double, double) { return 1.0; };

std::array<double, 3> place(const ec::Grid& grid, std::int32_t node) {
  const double h = 1.0 / static_cast<double>(std::max({grid.nx, grid.ny, grid.nz}) - 1);
  return {h * static_cast<double>(node % grid.nx), h * static_cast<double>(node / grid.nx % grid.ny),
          h * static_cast<double>(node / (grid.nx * grid.ny))};
}

TEST(Projection, ElementsByHand) {
  // One cube with side 1: the diagonal of trilinear elements is 1/3, edges 0, across faces and the cube −1/12.
  const auto cube = projection({2, 2, 2}, {.density = one, .radius = 0});
  ASSERT_EQ(cube.A.rows(), 8);
  EXPECT_EQ(cube.A.nonzeros(), 8 * 5);
  EXPECT_NEAR(cube.A.at(0, 0), 1.0 / 3, 1e-15);
  EXPECT_EQ(cube.A.at(0, 1), 0);
  EXPECT_NEAR(cube.A.at(0, 3), -1.0 / 12, 1e-15);
  EXPECT_NEAR(cube.A.at(0, 7), -1.0 / 12, 1e-15);
  // The middle of four squares with side 1/2: 8/3 and −1/3 for each of its eight neighbours, times h⁻² = 4.
  const auto squares = projection({3, 3, 1}, {.density = one, .radius = 0});
  for (int j = 0; j < 9; ++j) EXPECT_NEAR(squares.A.at(4, j), j == 4 ? 32.0 / 3 : -4.0 / 3, 1e-13);
}

TEST(Projection, SymmetricWithZeroRowSumsAndACompatibleRightHandSide) {
  for (const ec::Grid grid : {ec::Grid{9, 8, 10}, ec::Grid{21, 23, 1}}) {
    const auto system = projection(grid, {.radius = 0.35});
    EXPECT_LT(system.A.rows(), grid.points());
    EXPECT_EQ(ec::asymmetry(system.A), 0);
    const ec::Vector<double> ones(system.A.rows(), 1.0);
    ec::Vector<double> sums(system.A.rows());
    system.A.apply(ones, sums);
    double total = 0, sizes = 0;
    for (std::int64_t i = 0; i < sums.size(); ++i) {
      EXPECT_LE(std::abs(sums[i]), 1e-14 * system.A.at(i, i));
      total += system.b[i];
      sizes += std::abs(system.b[i]);
    }
    EXPECT_LE(std::abs(total), 1e-13 * sizes);
    EXPECT_GT(sizes, 1);
  }
}

TEST(Projection, NoNegativeEigenvalueAndOneConstantMode) {
  for (const ec::Grid grid : {ec::Grid{6, 7, 6}, ec::Grid{15, 14, 1}}) {
    const auto system = projection(grid, {.density = ec::problems::flame_density(100)});
    const auto n = system.A.rows();
    Eigen::MatrixXd dense(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) dense(i, j) = system.A.at(i, j);
    }
    const Eigen::VectorXd lambda =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense, Eigen::EigenvaluesOnly).eigenvalues();
    EXPECT_GT(lambda[0], -1e-12 * lambda[n - 1]);
    EXPECT_LT(lambda[0], 1e-12 * lambda[n - 1]);
    EXPECT_GT(lambda[1], 1e-8 * lambda[n - 1]) << "a second null vector";
  }
}

TEST(Projection, EntriesSpanTheDensityRatio) {
  const auto system = projection({13, 13, 13});
  double largest = 0, smallest = 1e300;
  for (std::int64_t i = 0; i < system.A.rows(); ++i) {
    largest = std::max(largest, system.A.at(i, i));
    smallest = std::min(smallest, system.A.at(i, i));
  }
  EXPECT_GT(largest / smallest, 1e6);
}

/// A p − b for u* = (1/ρ)∇p, with ∇p given: zero for linear p, cut cells included.
TEST(Projection, ALinearPressureIsReproduced) {
  for (const ec::Grid grid : {ec::Grid{9, 8, 10}, ec::Grid{21, 23, 1}}) {
    const auto density = ec::problems::flame_density(1e3);
    const double slope[3] = {1, -2, grid.nz > 1 ? 0.5 : 0};
    const auto system =
        projection(grid, {.density = density, .velocity = [&](double x, double y, double z) {
                            const double share = 1 / density(x, y, z);
                            return std::array<double, 3>{slope[0] * share, slope[1] * share, slope[2] * share};
                          }});
    ec::Vector<double> p(system.A.rows()), r(system.A.rows());
    for (std::int64_t i = 0; i < p.size(); ++i) {
      const auto at = place(grid, system.node[i]);
      p[i] = slope[0] * at[0] + slope[1] * at[1] + slope[2] * at[2];
    }
    system.A.residual(system.b, p, r);
    for (std::int64_t i = 0; i < r.size(); ++i) EXPECT_LE(std::abs(r[i]), 1e-13 * system.A.at(i, i));
  }
}

/// Root mean square error of p = cos πx cos πy (cos πz), or of sin 2x + cos(x + y) whose flux does not vanish at the walls.
double error(const ec::Grid& grid, double radius) {
  constexpr double pi = std::numbers::pi;
  const bool flat = grid.nz == 1;
  const auto pressure = [&](double x, double y, double z) {
    return std::cos(pi * x) * std::cos(pi * y) * (flat ? 1 : std::cos(pi * z)) + std::sin(2 * x);
  };
  const auto density = ec::problems::flame_density(10);
  const auto flow = [&](double x, double y, double z) {
    const double share = 1 / density(x, y, z), cx = std::cos(pi * x), cy = std::cos(pi * y),
                 cz = flat ? 1 : std::cos(pi * z);
    return std::array<double, 3>{share * (-pi * std::sin(pi * x) * cy * cz + 2 * std::cos(2 * x)),
                                 -share * pi * std::sin(pi * y) * cx * cz,
                                 flat ? 0 : -share * pi * std::sin(pi * z) * cx * cy};
  };
  const auto system = projection(grid, {.density = density, .velocity = flow, .radius = radius});
  const auto n = system.A.rows();
  const ec::Vector<double> ones(n, 1.0);
  ec::Vector<double> p(n, 0.0);
  EXPECT_TRUE(ec::cg(system.A, system.b, p, ec::ic(system.A), {.rtol = 1e-10, .null_space = &ones}).converged);
  double mean = 0, squares = 0;
  const auto difference = [&](std::int64_t i) {
    const auto at = place(grid, system.node[i]);
    return p[i] - pressure(at[0], at[1], at[2]);
  };
  for (std::int64_t i = 0; i < n; ++i) mean += difference(i) / static_cast<double>(n);
  for (std::int64_t i = 0; i < n; ++i) squares += (difference(i) - mean) * (difference(i) - mean);
  return std::sqrt(squares / static_cast<double>(n));
}

TEST(Projection, SecondOrderByManufacturedPressures) {
  for (const double radius : {0.0, 0.2}) {
    const auto flat = ec::test::observed_orders({error({33, 33, 1}, radius), error({65, 65, 1}, radius)});
    EXPECT_NEAR(flat[0], 2, 0.25) << "2-D, radius " << radius;
    const auto solid = ec::test::observed_orders({error({13, 13, 13}, radius), error({25, 25, 25}, radius)});
    EXPECT_NEAR(solid[0], 2, 0.25) << "3-D, radius " << radius;
  }
}

TEST(Projection, TheDocumentedSizes) {
  const std::pair<ec::Grid, std::int64_t> sizes[] = {{{7, 7, 7}, 331},   {{13, 13, 13}, 2110}, {{25, 24, 24}, 14186},
                                                     {{19, 19, 1}, 331}, {{49, 48, 1}, 2110},  {{126, 127, 1}, 14186}};
  for (const auto& [grid, wanted] : sizes) {
    const auto rows = static_cast<double>(projection(grid).A.rows());
    EXPECT_NEAR(rows / static_cast<double>(wanted), 1, 0.05) << grid.nx << 'x' << grid.ny << 'x' << grid.nz << ": " << rows;
  }
}

TEST(Projection, ThreadsDoNotMatter) {
  const int before = ec::threads();
  ec::set_threads(1);
  const auto alone = projection({20, 20, 20});
  ec::set_threads(3);
  const auto together = projection({20, 20, 20});
  ec::set_threads(before);
  EXPECT_TRUE(std::ranges::equal(alone.A.values(), together.A.values()));
  EXPECT_TRUE(std::ranges::equal(alone.b, together.b));
}

TEST(Projection, Refusals) {
  EXPECT_ERROR((void)projection({1, 9, 9}), bad_argument, "at least 2 nodes a direction; got 1x9x9");
  EXPECT_ERROR((void)projection({9, 9, 9}, {.radius = 0.5}), bad_argument, "radius of the obstacle is 0.5");
  EXPECT_ERROR((void)projection({9, 9, 9}, {.density = [](double x, double, double) { return x - 0.5; }}), bad_argument,
               "the density must be positive and finite");
  EXPECT_ERROR((void)ec::problems::flame_density(0.5), bad_argument, "at least 1");
}

}  // namespace
