// SPDX-License-Identifier: BSD-3-Clause
// The gallery: values by hand, observed order of accuracy by manufactured solutions, refusals, and the random matrices'
// promises. Linear systems here are solved by Eigen, so that only the matrix is on trial.
#include <gtest/gtest.h>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>
#include <cmath>
#include <numbers>

#include "echelon/base/threads.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"

namespace ec = echelon;
namespace {

using ec::problems::convection_diffusion;
using ec::problems::poisson;

const ec::Stencil& line() {
  static const ec::Stencil three({{-1, 0, 0}, {1, 0, 0}}, "line3");
  return three;
}

Eigen::VectorXd solve(const ec::StructMatrix<double>& A, const Eigen::VectorXd& b) {
  const auto C = ec::to_block_csr(A);
  std::vector<Eigen::Triplet<double>> entries;
  for (std::int64_t i = 0; i < C.rows(); ++i) {
    for (std::int64_t e = C.row_start()[i]; e < C.row_start()[i + 1]; ++e) {
      entries.emplace_back(static_cast<int>(i), C.column()[e], C.values()[e]);
    }
  }
  Eigen::SparseMatrix<double, Eigen::RowMajor> E(C.rows(), C.rows());
  E.setFromTriplets(entries.begin(), entries.end());
  Eigen::BiCGSTAB<Eigen::SparseMatrix<double, Eigen::RowMajor>> solver(E);
  solver.setTolerance(1e-12);
  return solver.solve(b);
}

/// u = sin πx sin πy sin πz (over the grid's axes): −Δu = d π² u, and ∂u/∂x = π cos πx ….
struct Manufactured {
  ec::Grid grid;
  double peclet = 0;
  double velocity[3] = {0, 0, 0};

  int axes() const { return 1 + (grid.ny > 1) + (grid.nz > 1); }
  double spacing(int d) const { return 1.0 / static_cast<double>((d == 0 ? grid.nx : d == 1 ? grid.ny : grid.nz) + 1); }
  double smallest() const {
    double h = 1;
    for (int d = 0; d < axes(); ++d) h = std::fmin(h, spacing(d));
    return h;
  }

  /// Largest error of the discrete solution; `scale` is what the matrix is a multiple of −Δ by, h² for the stars.
  double error(const ec::StructMatrix<double>& A, double scale) const {
    Eigen::VectorXd exact(grid.points()), b(grid.points());
    for (std::int64_t p = 0; p < grid.points(); ++p) {
      const std::int64_t at[3] = {p % grid.nx, p / grid.nx % grid.ny, p / grid.nx / grid.ny};
      double u = 1, convection = 0;
      for (int d = 0; d < axes(); ++d) u *= std::sin(std::numbers::pi * spacing(d) * static_cast<double>(at[d] + 1));
      for (int d = 0; d < axes(); ++d) {
        const double angle = std::numbers::pi * spacing(d) * static_cast<double>(at[d] + 1);
        convection += velocity[d] * std::numbers::pi * u * std::cos(angle) / std::sin(angle);
      }
      exact[p] = u;
      b[p] = scale * (axes() * std::numbers::pi * std::numbers::pi * u + peclet * convection);
    }
    return (solve(A, b) - exact).lpNorm<Eigen::Infinity>();
  }
};

TEST(Poisson, Star7IsTheUsualMatrix) {
  const auto A = poisson({3, 3, 3}, ec::stencils::star7());
  for (int e = 0; e < 7; ++e) EXPECT_EQ(A.block(13, e)[0], e == 3 ? 6 : -1);
  // Neighbours outside are stored as zero.
  EXPECT_EQ(A.block(0, 0)[0], 0);
  EXPECT_EQ(A.block(0, 3)[0], 6);
  EXPECT_EQ(ec::asymmetry(A), 0);
}

TEST(Poisson, Box27IsHpcgs) {
  const auto A = poisson({3, 4, 5}, ec::stencils::box27());
  for (int e = 0; e < 27; ++e) EXPECT_EQ(A.block(A.grid().index(1, 1, 1), e)[0], e == 13 ? 26 : -1);
  const auto B = poisson({3, 3, 1}, ec::stencils::box9());
  for (int e = 0; e < 9; ++e) EXPECT_EQ(B.block(4, e)[0], e == 4 ? 8 : -1);
}

TEST(Poisson, DifferentSpacingsAreThoseOfTheUnitCube) {
  const auto A = poisson({1, 3, 1}, ec::stencils::star5());  // h = 1/2 and 1/4
  const auto center = A.stencil().center();
  EXPECT_EQ(A.block(1, center)[0], 2 + 2 * 0.25);
  EXPECT_EQ(A.block(1, A.stencil().find({0, 1, 0}))[0], -1);
  EXPECT_EQ(A.block(0, A.stencil().find({1, 0, 0}))[0], 0);
}

TEST(Poisson, OtherStencilsWeighByDistance) {
  const auto A = poisson({9, 9, 9}, ec::stencils::star13());
  const auto p = A.grid().index(4, 4, 4);
  EXPECT_DOUBLE_EQ(A.block(p, A.stencil().find({0, 0, 2}))[0], -0.25);
  EXPECT_DOUBLE_EQ(A.block(p, A.stencil().center())[0], 7.5);
}

TEST(Poisson, SecondOrderByManufacturedSolution) {
  struct Case {
    ec::Stencil stencil;
    int axes;
    double multiple;  // ½ Σ w o²: the matrix is multiple·h²·(−Δ)
  };
  const Case cases[] = {{line(), 1, 1},
                        {ec::stencils::star5(), 2, 1},
                        {ec::stencils::box9(), 2, 3},
                        {ec::stencils::star7(), 3, 1},
                        {ec::stencils::box27(), 3, 9}};
  for (const auto& [stencil, axes, multiple] : cases) {
    double error[2];
    for (int level = 0; level < 2; ++level) {
      const std::int64_t n = level == 0 ? 7 : 15;
      const Manufactured problem{{n, axes > 1 ? n : 1, axes > 2 ? n : 1}};
      const double h = problem.smallest();
      error[level] = problem.error(poisson(problem.grid, stencil), multiple * h * h);
    }
    EXPECT_NEAR(std::log2(error[0] / error[1]), 2, 0.15) << stencil.name() << ": " << error[0] << " " << error[1];
  }
}

TEST(Poisson, SecondOrderOnUnequalSpacings) {
  double error[2];
  for (int level = 0; level < 2; ++level) {
    const Manufactured problem{level == 0 ? ec::Grid{7, 15, 3} : ec::Grid{15, 31, 7}};
    const double h = problem.smallest();
    error[level] = problem.error(poisson(problem.grid, ec::stencils::star7()), h * h);
  }
  EXPECT_NEAR(std::log2(error[0] / error[1]), 2, 0.2);
}

TEST(Poisson, RefusesWhatIsNotALaplacian) {
  EXPECT_ERROR((void)poisson({4, 4, 4}, ec::Stencil({})), bad_argument, "no neighbours");
  EXPECT_ERROR((void)poisson({4, 1, 1}, ec::Stencil({{1, 0, 0}})), bad_argument, "not symmetric");
  EXPECT_ERROR((void)poisson({4, 4, 4}, ec::stencils::star5()), bad_argument,
               "nothing along z, where the grid has 4 points");
}

TEST(ConvectionDiffusion, UpwindByHand) {
  // h = 1/4, Pe = 8 along +x: c = Pe h = 2; row: −1 − 2, 2 + 2, −1.
  const auto A = convection_diffusion({3, 1, 1}, line(), {.peclet = 8, .velocity = {5, 0, 0}});
  EXPECT_EQ(A.block(1, 0)[0], -3);
  EXPECT_EQ(A.block(1, 1)[0], 4);
  EXPECT_EQ(A.block(1, 2)[0], -1);
  const auto B = convection_diffusion({3, 1, 1}, line(), {.peclet = 8, .velocity = {-1, 7, 7}});
  EXPECT_EQ(B.block(1, 0)[0], -1);
  EXPECT_EQ(B.block(1, 1)[0], 4);
  EXPECT_EQ(B.block(1, 2)[0], -3);
}

TEST(ConvectionDiffusion, WithoutVelocityItIsPoisson) {
  const auto A = convection_diffusion({4, 5, 6}, ec::stencils::star7(), {.peclet = 10, .velocity = {0, 0, 0}});
  const auto B = poisson({4, 5, 6}, ec::stencils::star7());
  for (std::size_t i = 0; i < A.values().size(); ++i) EXPECT_DOUBLE_EQ(A.values()[i], B.values()[i]);
}

TEST(ConvectionDiffusion, FirstOrderByManufacturedSolution) {
  for (const double sign : {1.0, -1.0}) {
    double error[2];
    const double speed = std::sqrt(0.5 * 0.5 + 1 + 0.25 * 0.25);
    for (int level = 0; level < 2; ++level) {
      const std::int64_t n = level == 0 ? 15 : 31;
      const Manufactured problem{{n, n, n}, 20, {sign / speed, -0.5 / speed, sign * 0.25 / speed}};
      const double h = problem.smallest();
      const ec::problems::ConvDiffOptions options{20, {sign, -0.5, sign * 0.25}};
      error[level] = problem.error(convection_diffusion(problem.grid, ec::stencils::star7(), options), h * h);
    }
    const double order = std::log2(error[0] / error[1]);
    EXPECT_GT(order, 0.8) << error[0] << " " << error[1];
    EXPECT_LT(order, 1.3) << error[0] << " " << error[1];
  }
}

TEST(ConvectionDiffusion, AFlowByHand) {
  // h = 1/4, Pe = 8, v = (x − ½, 0, 0) at x = ¼, ½, ¾: c = Pe h v = −½, 0, ½.
  const auto A = convection_diffusion({3, 1, 1}, line(), {.peclet = 8, .flow = [](double x, double, double) {
                                                            return ec::problems::PerAxis{x - 0.5, 0, 0};
                                                          }});
  const double rows[3][3] = {{0, 2.5, -1.5}, {-1, 2, -1}, {-1.5, 2.5, 0}};
  for (int i = 0; i < 3; ++i) {
    for (int e = 0; e < 3; ++e) EXPECT_EQ(A.block(i, e)[0], rows[i][e]) << i << e;
  }
}

TEST(ConvectionDiffusion, AConstantFlowIsAVelocity) {
  const double speed = std::sqrt(1 + 0.25 + 0.0625);
  const ec::problems::ConvDiffOptions velocity{.peclet = 300, .velocity = {1, -0.5, 0.25}};
  const ec::problems::ConvDiffOptions flow{.peclet = 300, .flow = [=](double, double, double) {
                                             return ec::problems::PerAxis{1 / speed, -0.5 / speed, 0.25 / speed};
                                           }};
  const auto A = convection_diffusion({4, 5, 6}, ec::stencils::star7(), velocity);
  const auto B = convection_diffusion({4, 5, 6}, ec::stencils::star7(), flow);
  for (std::size_t i = 0; i < A.values().size(); ++i) EXPECT_NEAR(A.values()[i], B.values()[i], 1e-13 * 300);
}

TEST(ConvectionDiffusion, TheVortexTurnsWithoutDivergence) {
  const auto v = ec::problems::recirculating_flow();
  const auto at = [&](double x, double y) { return v(x, y, 0.3); };
  EXPECT_DOUBLE_EQ(at(0.5, 1).x, 1);
  EXPECT_DOUBLE_EQ(at(0.5, 0).x, -1);
  EXPECT_DOUBLE_EQ(at(1, 0.5).y, -1);
  EXPECT_DOUBLE_EQ(at(0, 0.5).y, 1);
  constexpr double step = 0x1p-10;
  for (const double x : {0.1, 0.4, 0.8}) {
    for (const double y : {0.2, 0.5, 0.9}) {
      EXPECT_NEAR((at(x + step, y).x - at(x - step, y).x + at(x, y + step).y - at(x, y - step).y) / (2 * step), 0, 1e-12);
    }
    EXPECT_EQ(at(0, x).x, 0);
    EXPECT_EQ(at(x, 1).y, 0);
  }
  for (const char* stencil : {"star5", "star7"}) {
    const ec::Grid grid{9, 10, stencil[4] == '5' ? 1 : 4};
    const auto A = convection_diffusion(grid, ec::stencils::named(stencil),
                                        {.peclet = 1e4, .flow = ec::problems::recirculating_flow()});
    EXPECT_GT(ec::asymmetry(A), 0);
    for (std::int64_t p = 0; p < grid.points(); ++p) {
      double sum = 0;
      for (int e = 0; e < A.stencil().size(); ++e) {
        sum += A.block(p, e)[0];
        ASSERT_TRUE(e == A.stencil().center() || A.block(p, e)[0] <= 0) << p;
      }
      ASSERT_GE(sum, -1e-10) << p;
    }
  }
}

TEST(ConvectionDiffusion, FirstOrderInTheVortex) {
  // u = sin πx sin πy on the square; ∂u/∂x = π cos πx sin πy.
  constexpr double pi = std::numbers::pi, peclet = 20;
  const auto v = ec::problems::recirculating_flow();
  std::vector<double> errors;
  for (const std::int64_t n : {15, 31, 63}) {
    const auto A = convection_diffusion({n, n, 1}, ec::stencils::star5(), {.peclet = peclet, .flow = v});
    const double h = 1.0 / static_cast<double>(n + 1);
    Eigen::VectorXd b(n * n), exact(n * n);
    for (std::int64_t p = 0; p < n * n; ++p) {
      const double x = h * static_cast<double>(p % n + 1), y = h * static_cast<double>(p / n + 1);
      exact[p] = std::sin(pi * x) * std::sin(pi * y);
      const auto [vx, vy, vz] = v(x, y, 0);
      b[p] = h * h *
             (2 * pi * pi * exact[p] +
              peclet * pi * (vx * std::cos(pi * x) * std::sin(pi * y) + vy * std::sin(pi * x) * std::cos(pi * y)));
    }
    errors.push_back((solve(A, b) - exact).lpNorm<Eigen::Infinity>());
  }
  for (int level = 0; level < 2; ++level) EXPECT_NEAR(std::log2(errors[level] / errors[level + 1]), 1, 0.3) << level;
}

TEST(ConvectionDiffusion, SameBitsForEveryThreadCount) {
  const auto made = [](int threads) {
    ec::set_threads(threads);
    return convection_diffusion({40, 30, 20}, ec::stencils::star7(), {.flow = ec::problems::recirculating_flow()});
  };
  const auto one = made(1);
  for (const int threads : {2, 3, 4}) EXPECT_TRUE(std::ranges::equal(one.values(), made(threads).values())) << threads;
  ec::set_threads(0);
}

TEST(ConvectionDiffusion, Refusals) {
  EXPECT_ERROR((void)convection_diffusion({4, 4, 4}, ec::stencils::star7(),
                                          {.flow =
                                               [](double x, double, double) {
                                                 return ec::problems::PerAxis{1 / (x - 0.2), 0, std::nan("")};
                                               }}),
               bad_argument, "the velocity of convection_diffusion at (0.2, 0.2, 0.2) is");
  EXPECT_ERROR((void)convection_diffusion({4, 4, 4}, ec::stencils::box27()), bad_argument, "±1 along the axes");
  EXPECT_ERROR((void)convection_diffusion({9, 9, 9}, ec::stencils::star13()), bad_argument, "is there");
  EXPECT_ERROR((void)convection_diffusion({4, 4, 4}, ec::stencils::star5()), bad_argument, "nothing along z");
  EXPECT_ERROR((void)convection_diffusion({4, 4, 4}, ec::stencils::star7(), {.peclet = std::nan("")}), bad_argument,
               "finite");
}

TEST(Random, StrictlyDominantInEveryScalarRow) {
  for (const auto& name : ec::stencils::names()) {
    const auto A = ec::to_block_csr(ec::problems::random({5, 4, 3}, ec::stencils::named(name), 3, 77));
    for (std::int64_t i = 0; i < A.rows(); ++i) {
      double others = 0;
      for (std::int64_t j = 0; j < A.columns(); ++j) others += i == j ? 0 : std::abs(A.at(i, j));
      ASSERT_GT(A.at(i, i), others + 0.9);
      ASSERT_LT(A.at(i, i), others + 2.1);
    }
  }
}

TEST(Random, ValuesFillTheIntervalAndTheSeedMatters) {
  const auto A = ec::problems::random({20, 20, 20}, ec::stencils::star7(), 1, 1);
  const auto B = ec::problems::random({20, 20, 20}, ec::stencils::star7(), 1, 2);
  double sum = 0, squares = 0, different = 0, count = 0;
  for (std::int64_t p = 0; p < 8000; ++p) {
    const double a = A.block(p, 0)[0];
    if (a == 0) continue;  // outside the grid
    ASSERT_LT(std::abs(a), 1);
    sum += a, squares += a * a, ++count;
    different += a != B.block(p, 0)[0];
  }
  EXPECT_NEAR(sum / count, 0, 0.03);
  EXPECT_NEAR(squares / count, 1.0 / 3, 0.02);
  EXPECT_EQ(different, count);
}

TEST(Random, SameBitsForEveryThreadCount) {
  ec::set_threads(1);
  const auto one = ec::problems::random({30, 20, 10}, ec::stencils::box27(), 2, 99);
  ec::set_threads(4);
  const auto four = ec::problems::random({30, 20, 10}, ec::stencils::box27(), 2, 99);
  ec::set_threads(0);
  EXPECT_TRUE(std::ranges::equal(one.values(), four.values()));
}

TEST(Random, AValueDependsOnTheSeedAndItsPlaceOnly) {
  const auto small = ec::problems::random({2, 1, 1}, line(), 2, 42), large = ec::problems::random({2, 5, 3}, line(), 2, 42);
  EXPECT_TRUE(std::ranges::equal(small.block(0, 2), large.block(0, 2)));
}

}  // namespace
