// SPDX-License-Identifier: BSD-3-Clause
// Problems without flux through the boundary: values by hand, row sums of 0, symmetry, the order of accuracy, the same bits
// for every number of threads, refusals; and the right-hand side they are given.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "echelon/echelon.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/continuous.hpp"

namespace ec = echelon;
namespace {

using ec::problems::balanced_sources;
using ec::problems::Boundary;
using ec::problems::poisson;
using ec::problems::variable_poisson;

constexpr double pi = std::numbers::pi;

const ec::Stencil& line() {
  static const ec::Stencil three({{-1, 0, 0}, {1, 0, 0}}, "line3");
  return three;
}

/// A row's sum and the sum of its sizes; other entries than the diagonal must not be positive.
void expect_balanced(const ec::StructMatrix<double>& A, double tolerance, bool signs) {
  for (std::int64_t p = 0; p < A.grid().points(); ++p) {
    double sum = 0, sizes = 0;
    for (int e = 0; e < A.stencil().size(); ++e) {
      const double value = A.block(p, e)[0];
      sum += value, sizes += std::abs(value);
      ASSERT_TRUE(!signs || e == A.stencil().center() || value <= 0) << p;
    }
    ASSERT_LE(std::abs(sum), tolerance * sizes) << p;
    ASSERT_GT(A.block(p, A.stencil().center())[0], 0) << p;
  }
}

TEST(NoFlux, PoissonByHand) {
  const auto A = poisson({3, 2, 1}, ec::stencils::star5(), Boundary::neumann);  // h = 1/3 and 1/2: weights 1 and 4/9
  const auto& s = A.stencil();
  EXPECT_DOUBLE_EQ(A.block(0, s.center())[0], 1 + 4.0 / 9);
  EXPECT_DOUBLE_EQ(A.block(1, s.center())[0], 2 + 4.0 / 9);
  EXPECT_EQ(A.block(0, s.find({1, 0, 0}))[0], -1);
  EXPECT_DOUBLE_EQ(A.block(0, s.find({0, 1, 0}))[0], -4.0 / 9);
  EXPECT_EQ(A.block(0, s.find({-1, 0, 0}))[0], 0);
  const auto box = poisson({3, 3, 3}, ec::stencils::box27(), Boundary::neumann);
  EXPECT_EQ(box.block(0, 13)[0], 7);  // a corner
  EXPECT_EQ(box.block(13, 13)[0], 26);
}

TEST(NoFlux, VariableCoefficientByHand) {
  // κ = 1, 3 and 1 in three cells: faces 2·1·3/4 = 3/2; nothing through the ends.
  const auto A = variable_poisson(
      {3, 1, 1}, line(),
      {.kappa = [](double x, double, double) { return x > 0.4 && x < 0.6 ? 3.0 : 1.0; }, .boundary = Boundary::neumann});
  EXPECT_DOUBLE_EQ(A.block(0, 1)[0], 1.5);
  EXPECT_DOUBLE_EQ(A.block(1, 1)[0], 3);
  EXPECT_DOUBLE_EQ(A.block(1, 0)[0], -1.5);
  // Four bilinear elements around the middle node, one around a corner: of a square element with κ = 1 the diagonal is 5/6,
  // the entry of an edge −1/3 and that across −1/6.
  const auto B = variable_poisson(
      {3, 3, 1}, ec::stencils::box9(),
      {.kappa = [](double x, double, double) { return x < 0.5 ? 1.0 : 5.0; }, .boundary = Boundary::neumann});
  const auto& s = B.stencil();
  EXPECT_NEAR(B.block(0, s.center())[0], 5.0 / 6, 1e-15);
  EXPECT_NEAR(B.block(4, s.center())[0], (1 + 1 + 5 + 5) * 5.0 / 6, 1e-14);
  EXPECT_NEAR(B.block(2, s.find({-1, 1, 0}))[0], -5.0 / 6, 1e-14);
}

TEST(NoFlux, RowsHaveSumZeroAndTheMatrixIsSymmetric) {
  for (const ec::Grid grid : {ec::Grid{6, 6, 6}, ec::Grid{7, 4, 5}, ec::Grid{9, 2, 3}}) {
    for (const char* name : {"star7", "box27", "star13", "diamond13"}) {
      const auto A = poisson(grid, ec::stencils::named(name), Boundary::neumann);
      expect_balanced(A, grid.nx == grid.ny && grid.nx == grid.nz ? 0 : 1e-15, true);
      EXPECT_EQ(ec::asymmetry(A), 0) << name;
    }
    for (const char* name : {"star7", "box27"}) {
      for (const auto& kappa : {ec::problems::jump_coefficient(1e6), ec::problems::random_coefficient(1e3, 4)}) {
        const bool star = std::string(name) == "star7";
        const auto A = variable_poisson(grid, ec::stencils::named(name),
                                        {.kappa = kappa, .anisotropy = {1, 1, 0.5}, .boundary = Boundary::neumann});
        expect_balanced(A, 1e-14, star);
        EXPECT_EQ(ec::asymmetry(A), 0) << name;
      }
    }
  }
}

TEST(NoFlux, TheBoundaryTouchesTheRowsAtTheBoundaryOnly) {
  const auto A = poisson({5, 5, 5}, ec::stencils::star7(), Boundary::neumann);
  const auto B = poisson({5, 5, 5}, ec::stencils::star7());
  for (int e = 0; e < 7; ++e) EXPECT_EQ(A.block(62, e)[0], B.block(62, e)[0]);
}

/// The largest error of −∇·(κ∇u) = f, u = cos πx cos πy cos πz over the axes there are, without flux; `walls` when the first
/// and the last point are on the boundary.
double error(const ec::StructMatrix<double>& A, bool walls, const ec::problems::Coefficient& kappa) {
  const ec::Grid grid = A.grid();
  const std::int64_t sides[3] = {grid.nx, grid.ny, grid.nz};
  double h = 1;
  for (const auto n : sides) h = n > 1 ? std::fmin(h, 1.0 / static_cast<double>(walls ? n - 1 : n)) : h;
  ec::Vector<double> b(A.rows()), exact(A.rows()), x(A.rows(), 0.0), ones(A.rows(), 1.0);
  double mean = 0;
  for (std::int64_t p = 0; p < A.rows(); ++p) {
    const std::int64_t at[3] = {p % grid.nx, p / grid.nx % grid.ny, p / grid.nx / grid.ny};
    ec::test::Place3 place{0.5, 0.5, 0.5};
    double share = 1;
    for (int d = 0; d < 3; ++d) {
      if (sides[d] == 1) continue;
      const auto i = static_cast<double>(at[d]), n = static_cast<double>(sides[d]);
      place[d] = walls ? i / (n - 1) : (i + 0.5) / n;
      if (walls && (at[d] == 0 || at[d] == sides[d] - 1)) share *= 0.5;
    }
    const auto u = [&](const ec::test::Place3& q) {
      double value = 1;
      for (int d = 0; d < 3; ++d) value *= sides[d] > 1 ? std::cos(pi * q[d]) : 1;
      return value;
    };
    double f = 0;
    for (int d = 0; d < 3; ++d) {
      if (sides[d] == 1) continue;
      const auto flux = [&](const ec::test::Place3& q) { return kappa(q.x, q.y, q.z) * ec::test::derivative(u, q, d); };
      f -= ec::test::derivative(flux, place, d);
    }
    exact[p] = u(place);
    mean += exact[p] / static_cast<double>(A.rows());
    b[p] = h * h * share * f;
  }
  double sum = 0;
  for (std::int64_t p = 0; p < b.size(); ++p) sum += b[p] / static_cast<double>(b.size());
  for (std::int64_t p = 0; p < b.size(); ++p) b[p] -= sum;  // of the order of the error: what the quadrature leaves
  ec::KrylovOptions options{.rtol = 1e-11, .max_it = 3000};
  options.null_space = &ones;
  EXPECT_TRUE(ec::cg(A, b, x, ec::Jacobi<double>(A), options).converged);
  double largest = 0;
  for (std::int64_t p = 0; p < x.size(); ++p) largest = std::fmax(largest, std::abs(x[p] - (exact[p] - mean)));
  return largest;
}

TEST(NoFlux, SecondOrderByManufacturedSolution) {
  const auto kappa = ec::problems::smooth_coefficient(10);
  struct Case {
    ec::Stencil stencil;
    bool walls;
    ec::Grid coarse, fine;
  };
  const Case cases[] = {{ec::stencils::star5(), false, {16, 16, 1}, {32, 32, 1}},
                        {ec::stencils::star7(), false, {12, 12, 12}, {24, 24, 24}},
                        {ec::stencils::box9(), true, {17, 17, 1}, {33, 33, 1}},
                        {ec::stencils::box27(), true, {13, 13, 13}, {25, 25, 25}}};
  for (const auto& [stencil, walls, coarse, fine] : cases) {
    const auto of = [&](const ec::Grid& grid) {
      return error(variable_poisson(grid, stencil, {.kappa = kappa, .boundary = Boundary::neumann}), walls, kappa);
    };
    EXPECT_NEAR(std::log2(of(coarse) / of(fine)), 2, 0.3) << stencil.name();
  }
}

TEST(NoFlux, TheRightHandSideBalances) {
  const auto b = balanced_sources({2, 3, 1});
  const double expected[] = {1, -1, 0, 0, -1, 1};
  for (int p = 0; p < 6; ++p) EXPECT_EQ(b[p], expected[p]) << p;
  for (const ec::Grid grid : {ec::Grid{8, 8, 8}, ec::Grid{7, 4, 5}, ec::Grid{9, 1, 1}}) {
    const auto sources = balanced_sources(grid);
    double sum = 0, sizes = 0;
    for (std::int64_t p = 0; p < sources.size(); ++p) sum += sources[p], sizes += std::abs(sources[p]);
    EXPECT_EQ(sum, 0);
    EXPECT_GT(sizes, 0);
  }
}

TEST(NoFlux, SameBitsForEveryThreadCount) {
  for (const char* name : {"star7", "box27"}) {
    const auto made = [&](int threads) {
      ec::set_threads(threads);
      return variable_poisson({40, 30, 20}, ec::stencils::named(name),
                              {.kappa = ec::problems::random_coefficient(1e6, 3), .boundary = Boundary::neumann});
    };
    const auto one = made(1);
    for (const int threads : {2, 3, 4}) {
      EXPECT_TRUE(std::ranges::equal(one.values(), made(threads).values())) << name << threads;
    }
    ec::set_threads(0);
  }
}

TEST(NoFlux, Refusals) {
  EXPECT_ERROR((void)poisson({1, 1, 1}, ec::stencils::star7(), Boundary::neumann), bad_argument, "two points along an axis");
  EXPECT_ERROR((void)variable_poisson({1, 1, 1}, ec::stencils::star7(), {.boundary = Boundary::neumann}), bad_argument,
               "two points along an axis");
  EXPECT_ERROR((void)variable_poisson({4, 4, 1}, ec::stencils::box27(), {.boundary = Boundary::neumann}), bad_argument,
               "two points along z");
}

}  // namespace
