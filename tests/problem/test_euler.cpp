// SPDX-License-Identifier: BSD-3-Clause
// One implicit step of linearised Euler: its Jacobians against differences of the flux itself, its differences against the
// differential equation, its bits over threads.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "tests/expect_error.hpp"
#include "tests/reference/continuous.hpp"

namespace ec = echelon;
using ec::problems::euler;
using ec::problems::EulerOptions;
using ec::problems::GasState;
using ec::test::Place3;
namespace {

constexpr double pi = std::numbers::pi;
using Vector5 = std::array<double, 5>;

Vector5 conservative(const GasState& s) {
  return {s.rho, s.rho * s.u, s.rho * s.v, s.rho * s.w, s.p / 0.4 + 0.5 * s.rho * (s.u * s.u + s.v * s.v + s.w * s.w)};
}

Vector5 flux(const Vector5& W, int d) {
  const double p = 0.4 * (W[4] - 0.5 * (W[1] * W[1] + W[2] * W[2] + W[3] * W[3]) / W[0]);
  const double u = W[1 + d] / W[0];
  Vector5 F{u * W[0], u * W[1], u * W[2], u * W[3], u * (W[4] + p)};
  F[1 + d] += p;
  return F;
}

/// A_d(base) q as the derivative of the flux in the direction q.
Vector5 linear_flux(const GasState& base, const Vector5& q, int d) {
  const Vector5 W = conservative(base);
  const auto along = [&](const Place3& s) {
    Vector5 moved = W;
    for (int c = 0; c < 5; ++c) moved[c] += s.x * q[c];
    return flux(moved, d);
  };
  return ec::test::derivatives(along, {}, 0);
}

TEST(Euler, SplitJacobiansAddUpToTheFluxDerivative) {
  const GasState base{1.2, 0.3, -0.7, 1.9, 0.8};  // subsonic along x and y, supersonic along z
  EulerOptions options{.step = {.dt = 1}, .base = [&](double, double, double) { return base; }};
  const auto A = euler({5, 5, 5}, options);
  const auto& stencil = A.stencil();
  const auto center = A.grid().index(2, 2, 2);
  for (int d = 0; d < 3; ++d) {
    const ec::Offset after{d == 0, d == 1, d == 2}, before{-after.x, -after.y, -after.z};
    const auto plus = A.block(center, stencil.find(before)), minus = A.block(center, stencil.find(after));
    for (int c = 0; c < 5; ++c) {
      Vector5 unit{};
      unit[c] = 1;
      for (int r = 0; r < 5; ++r) {
        const double jacobian = (minus[c * 5 + r] - plus[c * 5 + r]) / (2 * 6);  // h = 1/6
        EXPECT_NEAR(jacobian, linear_flux(base, unit, d)[r], 1e-9) << d << r << c;
      }
    }
  }
}

TEST(Euler, AUniformStateIsKeptByItsDifferences) {
  const auto A = euler({7, 7, 7}, {.step = {.cfl = 3}, .base = [](double, double, double) {
                                     return GasState{1, 0.4, 0.2, -0.1, 0.7};
                                   }});
  const auto center = A.grid().index(3, 3, 3);
  for (int i = 0; i < 25; ++i) {
    double sum = 0;
    for (int e = 0; e < 13; ++e) sum += A.block(center, e)[i];
    EXPECT_NEAR(sum, i % 6 == 0 ? 1 : 0, 1e-12);
  }
}

TEST(Euler, TheCflNumberSetsTheStep) {
  // c = 1 and u = 0.5: the fastest wave 1.5, h = 1/8, dt = 6·(1/8)/1.5 = 0.5.
  const auto still = [](double, double, double) { return GasState{1.4, 0.5, 0, 0, 1}; };
  const auto by_cfl = euler({7, 7, 7}, {.step = {.cfl = 6}, .base = still});
  const auto by_step = euler({7, 7, 7}, {.step = {.dt = 0.5}, .base = still});
  for (std::size_t i = 0; i < by_cfl.values().size(); ++i) ASSERT_NEAR(by_cfl.values()[i], by_step.values()[i], 1e-13);
}

/// Bumps of unequal height in the five components, zero with two derivatives on the boundary.
double bump(const ec::Grid& grid, const Place3& p, int component) {
  const std::int64_t sides[3] = {grid.nx, grid.ny, grid.nz};
  double value = 1 + 0.3 * component;
  for (int d = 0; d < 3; ++d) {
    if (sides[d] > 1) value *= std::pow(std::sin(pi * p[d]), 3) * (1 + 0.2 * std::cos(pi * p[d] + component));
  }
  return value;
}

double error(const ec::Grid& grid) {
  constexpr double dt = 0.1;
  const EulerOptions options{.step = {.dt = dt}};
  const std::int64_t sides[3] = {grid.nx, grid.ny, grid.nz};
  const auto rhs = [&](const Place3& p, double* b) {
    for (int c = 0; c < 5; ++c) b[c] = bump(grid, p, c);
    for (int d = 0; d < 3; ++d) {
      if (sides[d] == 1) continue;
      const auto along = [&](const Place3& at) {
        Vector5 q;
        for (int c = 0; c < 5; ++c) q[c] = bump(grid, at, c);
        return linear_flux(options.base(at.x, at.y, at.z), q, d);
      };
      const Vector5 divergence = ec::test::derivatives(along, p, d);
      for (int c = 0; c < 5; ++c) b[c] += dt * divergence[c];
    }
  };
  return ec::test::solution_error(
      euler(grid, options), false, [&](const Place3& p, int c) { return bump(grid, p, c); }, rhs);
}

TEST(Euler, SecondOrderInEveryPlane) {
  for (const auto& [coarse, fine] :
       {std::pair<ec::Grid, ec::Grid>{{31, 31, 1}, {63, 63, 1}}, {{31, 1, 31}, {63, 1, 63}}, {{1, 31, 31}, {1, 63, 63}}}) {
    const auto orders = ec::test::observed_orders({error(coarse), error(fine)});
    EXPECT_NEAR(orders[0], 2, 0.25);
  }
}

TEST(EulerFull, SecondOrderInSpace) {
  const auto orders = ec::test::observed_orders({error({15, 15, 15}), error({31, 31, 31})});
  EXPECT_NEAR(orders[0], 2, 0.3);
}

TEST(Euler, SameBitsForEveryThreadCount) {
  ec::set_threads(1);
  const auto one = euler({12, 9, 8});
  ec::set_threads(4);
  const auto four = euler({12, 9, 8});
  ec::set_threads(0);
  EXPECT_TRUE(std::ranges::equal(one.values(), four.values()));
}

TEST(Euler, Refusals) {
  const auto vacuum = [](double, double, double) { return GasState{1, 0, 0, 0, 0}; };
  EXPECT_ERROR((void)euler({4, 4, 4}, {.base = vacuum}), bad_argument, "density and pressure");
  const auto unknown = [](double, double, double) { return GasState{1, std::nan(""), 0, 0, 1}; };
  EXPECT_ERROR((void)euler({4, 4, 4}, {.base = unknown}), bad_argument, "must be finite");
  const auto too_fast = [](double, double, double) { return GasState{1, 0, 1e200, 0, 1}; };  // its square is not finite
  EXPECT_ERROR((void)euler({4, 4, 4}, {.base = too_fast}), bad_argument, "must be finite");
  EXPECT_ERROR((void)euler({4, 4, 4}, {.step = {.dt = -1}}), bad_argument, "the time step must be positive");
  EXPECT_ERROR((void)euler({4, 4, 4}, {.step = {.cfl = 0}}), bad_argument, "the CFL number must be positive");
  EXPECT_ERROR((void)ec::problems::waved_gas_flow(-1), bad_argument, "Mach");
}

}  // namespace
