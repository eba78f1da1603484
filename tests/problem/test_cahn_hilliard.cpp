// SPDX-License-Identifier: BSD-3-Clause
// One implicit step of the coupled Cahn-Hilliard equations: against the differential equations, conservation, values by
// hand, bits over threads.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "tests/expect_error.hpp"
#include "tests/reference/continuous.hpp"

namespace ec = echelon;
using ec::problems::cahn_hilliard;
using ec::problems::CahnHilliardOptions;
using ec::problems::PhaseState;
using ec::test::derivatives;
using ec::test::Place3;
namespace {

constexpr double pi = std::numbers::pi;
using Vector2 = std::array<double, 2>;

TEST(CahnHilliard, PurePhaseByHand) {
  // u = 1, v = 0 and no coupling: W_uu = 2, W_vv = −1, M = 1; a line of cells, h = 1/5, so 1/h² = 25.
  CahnHilliardOptions options;
  options.dt = 0.01;
  options.interface_width[0] = 0.1, options.interface_width[1] = 0.2;
  for (double& c : options.coupling) c = 0;
  options.nonlocal = 3;
  options.degeneracy = 0;
  options.base = [](double, double, double) { return PhaseState{1, 0}; };
  const auto A = cahn_hilliard({5, 1, 1}, options);
  const auto u = [&](std::int64_t p, int x) { return A.block(p, A.stencil().find({x, 0, 0}))[0]; };
  const auto v = [&](std::int64_t p, int x) { return A.block(p, A.stencil().find({x, 0, 0}))[3]; };
  const double bend_u = 0.01 * 0.01 * 625, bend_v = 0.01 * 0.04 * 625, spread = 0.01 * 25;
  EXPECT_NEAR(u(2, 0), 1 + 2 * 2 * spread + 6 * bend_u, 1e-14);
  EXPECT_NEAR(u(2, 1), -2 * spread - 4 * bend_u, 1e-14);
  EXPECT_NEAR(u(2, 2), bend_u, 1e-14);
  EXPECT_NEAR(v(2, 0), 1 + 0.01 * 3 - 2 * spread + 6 * bend_v, 1e-14);
  EXPECT_NEAR(v(2, -1), spread - 4 * bend_v, 1e-14);
  // At the wall: (2, −3, 1) in place of (6, −4, 1).
  EXPECT_NEAR(u(0, 0), 1 + 2 * spread + 2 * bend_u, 1e-14);
  EXPECT_NEAR(u(0, 1), -2 * spread - 3 * bend_u, 1e-14);
  for (int e = 0; e < A.stencil().size(); ++e) EXPECT_EQ(A.block(2, e)[1], 0);
}

TEST(CahnHilliard, TheAmountOfUIsConserved) {
  // Column sums of the rows of u: 1 for u, 0 for v.
  const auto A = ec::to_block_csr(cahn_hilliard({6, 7, 5}));
  std::vector<double> sums(static_cast<std::size_t>(A.columns()), 0.0);
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    for (auto e = A.row_start()[i]; e < A.row_start()[i + 1]; ++e) {
      for (int c = 0; c < 2; ++c) sums[2 * A.column()[e] + c] += A.values()[4 * e + 2 * c];
    }
  }
  for (std::size_t c = 0; c < sums.size(); ++c) ASSERT_NEAR(sums[c], c % 2 == 0 ? 1 : 0, 1e-12);
}

double error(const ec::Grid& grid) {
  CahnHilliardOptions options;
  options.dt = 2e-5;
  options.interface_width[0] = 0.08, options.interface_width[1] = 0.06;
  options.coupling[0] = 0.2, options.coupling[1] = -0.4, options.coupling[2] = 0.3;
  const bool open[3] = {grid.nx > 1, grid.ny > 1, grid.nz > 1};
  const double wave[2][3] = {{1, 2, 1}, {2, 1, 1}};  // half waves along x, y and z
  const auto exact = [&](const Place3& p, int r) {
    double value = 1;
    for (int d = 0; d < 3; ++d) value *= open[d] ? std::cos(pi * wave[r][d] * p[d]) : 1;
    return value;
  };
  const auto fluxes = [&](const Place3& p, int axis) {
    const auto potential = [&](const Place3& at) {
      const auto [u, v] = options.base(at.x, at.y, at.z);
      const auto [alpha, beta, gamma] = options.coupling;
      const double q[2] = {exact(at, 0), exact(at, 1)};
      const double mixed = alpha + 2 * beta * v + 2 * gamma * u;
      Vector2 P{(3 * u * u - 1 + 2 * gamma * v) * q[0] + mixed * q[1], (3 * v * v - 1 + 2 * beta * u) * q[1] + mixed * q[0]};
      for (int r = 0; r < 2; ++r) {
        for (int d = 0; d < 3; ++d) {
          const double k = open[d] ? pi * wave[r][d] * options.interface_width[r] : 0;
          P[r] += k * k * q[r];
        }
      }
      return P;
    };
    const auto [u, v] = options.base(p.x, p.y, p.z);
    Vector2 flux = derivatives(potential, p, axis);
    flux[0] *= 1 - options.degeneracy * u * u;
    flux[1] *= 1 - options.degeneracy * v * v;
    return flux;
  };
  const auto rhs = [&](const Place3& p, double* b) {
    b[0] = exact(p, 0);
    b[1] = (1 + options.dt * options.nonlocal) * exact(p, 1);
    for (int d = 0; d < 3; ++d) {
      if (!open[d]) continue;
      const Vector2 gain = derivatives([&](const Place3& at) { return fluxes(at, d); }, p, d);
      for (int r = 0; r < 2; ++r) b[r] -= options.dt * gain[r];
    }
  };
  return ec::test::solution_error(cahn_hilliard(grid, options), true, exact, rhs);
}

TEST(CahnHilliard, SecondOrderInEveryPlane) {
  for (const auto& [coarse, fine] :
       {std::pair<ec::Grid, ec::Grid>{{24, 24, 1}, {48, 48, 1}}, {{24, 1, 24}, {48, 1, 48}}, {{1, 24, 24}, {1, 48, 48}}}) {
    const auto orders = ec::test::observed_orders({error(coarse), error(fine)});
    EXPECT_NEAR(orders[0], 2, 0.2);
  }
}

TEST(CahnHilliard, SecondOrderInSpace) {
  const auto orders = ec::test::observed_orders({error({16, 16, 16}), error({32, 32, 32})});
  EXPECT_NEAR(orders[0], 2, 0.3);
}

TEST(CahnHilliard, SameBitsForEveryThreadCount) {
  ec::set_threads(1);
  const auto one = cahn_hilliard({12, 9, 8});
  ec::set_threads(4);
  const auto four = cahn_hilliard({12, 9, 8});
  ec::set_threads(0);
  EXPECT_TRUE(std::ranges::equal(one.values(), four.values()));
}

TEST(CahnHilliard, Refusals) {
  EXPECT_ERROR((void)cahn_hilliard({4, 4, 4}, {.dt = -1}), bad_argument, "the time step must be positive");
  EXPECT_ERROR((void)cahn_hilliard({4, 4, 4}, {.interface_width = {0.1, -0.1}}), bad_argument, "the interface width of v");
  EXPECT_ERROR((void)cahn_hilliard({4, 4, 4}, {.coupling = {0, std::nan(""), 0}}), bad_argument, "couplings");
  EXPECT_ERROR((void)cahn_hilliard({4, 4, 4}, {.nonlocal = -1}), bad_argument, "nonlocal strength");
  EXPECT_ERROR((void)cahn_hilliard({4, 4, 4}, {.degeneracy = 1}), bad_argument, "degeneracy");
  const auto large = [](double, double, double) { return PhaseState{2, 0}; };
  EXPECT_ERROR((void)cahn_hilliard({4, 4, 4}, {.base = large}), bad_argument, "mobility is negative");
}

}  // namespace
