// SPDX-License-Identifier: BSD-3-Clause
// One implicit step of linearised Navier-Stokes against the nonlinear equations themselves, differentiated in the direction
// of the perturbation; values by hand; bits over threads.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "tests/expect_error.hpp"
#include "tests/reference/continuous.hpp"

namespace ec = echelon;
using ec::problems::navier_stokes;
using ec::problems::NavierStokesOptions;
using ec::problems::ViscousState;
using ec::test::derivatives;
using ec::test::Place3;
namespace {

constexpr double pi = std::numbers::pi;
using Vector4 = std::array<double, 4>;

TEST(NavierStokes, AStillGasByHand) {
  // Along x only, R = 2, ν = μ/R = 0.3: u diffuses with 4ν/3, v and w with ν.
  const auto still = [](double, double, double) { return ViscousState{2, 0, 0, 0, 0.6}; };
  const auto A = navier_stokes({3, 1, 1}, {.step = {.dt = 0.1}, .base = still});
  const double nu = 0.3, h = 0.25, dt = 0.1;
  const auto center = A.block(1, A.stencil().center()), after = A.block(1, A.stencil().find({1, 0, 0}));
  EXPECT_DOUBLE_EQ(center[0], 1);
  EXPECT_DOUBLE_EQ(center[5], 1 + dt * 2 * nu * 4 / 3 / (h * h));
  EXPECT_DOUBLE_EQ(center[10], 1 + dt * 2 * nu / (h * h));
  EXPECT_DOUBLE_EQ(after[4], dt * 2 / (2 * h));     // R ∂u/∂x in the first row
  EXPECT_DOUBLE_EQ(after[1], dt / 2 / (2 * h));     // ∂ρ/∂x / R in the second
  EXPECT_DOUBLE_EQ(after[10], -dt * nu / (h * h));  // v diffuses
  EXPECT_EQ(after[9], 0);                           // no mixed derivative on a line
}

TEST(NavierStokes, EveryNeighbourAndMixedDerivativeIsThere) {
  const auto A = navier_stokes({3, 3, 3});
  for (int e = 0; e < 27; ++e) {
    for (const int diagonal : {5, 10, 15}) EXPECT_NE(A.block(13, e)[diagonal], 0) << e;
  }
  EXPECT_NE(A.block(13, A.stencil().find({1, -1, 0}))[6], 0);  // u feels ∂x∂y v
}

/// Continuity and momentum without time derivatives: ∇·(ρV) and ρV·∇V + ∇ρ − ∇·τ for q(place) = (ρ, u, v, w).
template <class State, class Viscosity>
Vector4 equations(const State& q, const Viscosity& mu, const Place3& p, const bool (&open)[3]) {
  const Vector4 here = q(p);
  const auto gradient = [&](const Place3& at) {
    std::array<Vector4, 3> g{};
    for (int d = 0; d < 3; ++d) {
      if (open[d]) g[d] = derivatives(q, at, d);
    }
    return g;
  };
  const auto g = gradient(p);
  Vector4 result{};
  for (int d = 0; d < 3; ++d) {
    result[0] += here[1 + d] * g[d][0] + here[0] * g[d][1 + d];
    for (int a = 0; a < 3; ++a) result[1 + a] += here[0] * here[1 + d] * g[d][1 + a];
    result[1 + d] += g[d][0];
    if (!open[d]) continue;
    const auto stress = [&](const Place3& at) {  // row d of τ
      const auto s = gradient(at);
      const double divergence = s[0][1] + s[1][2] + s[2][3];
      std::array<double, 3> tau{};
      for (int a = 0; a < 3; ++a) tau[a] = mu(at) * (s[d][1 + a] + s[a][1 + d] - (a == d ? 2.0 / 3 * divergence : 0));
      return tau;
    };
    const auto force = derivatives(stress, p, d);
    for (int a = 0; a < 3; ++a) result[1 + a] -= force[a];
  }
  return result;
}

double error(const ec::Grid& grid) {
  constexpr double dt = 0.1;
  const NavierStokesOptions options{.step = {.dt = dt}, .base = ec::problems::waved_viscous_flow(0.5, 10)};
  const bool open[3] = {grid.nx > 1, grid.ny > 1, grid.nz > 1};
  const auto exact = [&](const Place3& p, int component) {
    double value = 1 + 0.3 * component;
    for (int d = 0; d < 3; ++d) {
      if (open[d]) value *= std::sin(pi * p[d]) * (1 + 0.2 * std::cos(pi * p[d] + component));
    }
    return value;
  };
  const auto viscosity = [&](const Place3& p) { return options.base(p.x, p.y, p.z).mu; };
  const auto residual = [&](const Place3& p, double factor) {
    const auto state = [&](const Place3& at) {
      const ViscousState s = options.base(at.x, at.y, at.z);
      Vector4 q{s.rho, s.u, s.v, s.w};
      for (int c = 0; c < 4; ++c) q[c] += factor * exact(at, c);
      return q;
    };
    return equations(state, viscosity, p, open);
  };
  const auto rhs = [&](const Place3& p, double* b) {
    const double R = options.base(p.x, p.y, p.z).rho;
    for (int c = 0; c < 4; ++c) b[c] = exact(p, c);
    for (const int m : {1, 2}) {  // a difference that is exact for cubics, which the equations are
      constexpr double step = 0.1;
      const double weight = m == 1 ? 2.0 / 3 : -1.0 / 12;
      const Vector4 after = residual(p, m * step), before = residual(p, -m * step);
      for (int c = 0; c < 4; ++c) b[c] += dt * weight * (after[c] - before[c]) / step / (c > 0 ? R : 1);
    }
  };
  return ec::test::solution_error(navier_stokes(grid, options), false, exact, rhs);
}

// In the mean: where the flow leaves, a density held at both ends has a layer of one point in which the error falls slower.
TEST(NavierStokes, SecondOrderInEveryPlane) {
  for (const auto& [coarse, fine] :
       {std::pair<ec::Grid, ec::Grid>{{23, 23, 1}, {47, 47, 1}}, {{23, 1, 23}, {47, 1, 47}}, {{1, 23, 23}, {1, 47, 47}}}) {
    const auto orders = ec::test::observed_orders({error(coarse), error(fine)});
    EXPECT_NEAR(orders[0], 2, 0.2);
  }
}

TEST(NavierStokesFull, SecondOrderInSpace) {
  const auto orders = ec::test::observed_orders({error({11, 11, 11}), error({23, 23, 23})});
  EXPECT_NEAR(orders[0], 2, 0.3);
}

TEST(NavierStokes, SameBitsForEveryThreadCount) {
  ec::set_threads(1);
  const auto one = navier_stokes({12, 9, 8});
  ec::set_threads(4);
  const auto four = navier_stokes({12, 9, 8});
  ec::set_threads(0);
  EXPECT_TRUE(std::ranges::equal(one.values(), four.values()));
}

TEST(NavierStokes, Refusals) {
  const auto thin = [](double, double, double) { return ViscousState{0, 0, 0, 0, 1}; };
  EXPECT_ERROR((void)navier_stokes({4, 4, 4}, {.base = thin}), bad_argument, "a positive density");
  const auto unknown = [](double, double, double) { return ViscousState{1, 0, 0, std::nan(""), 1}; };
  EXPECT_ERROR((void)navier_stokes({4, 4, 4}, {.base = unknown}), bad_argument, "must be finite");
  EXPECT_ERROR((void)navier_stokes({4, 4, 4}, {.step = {.dt = std::nan("")}}), bad_argument, "the time step");
  EXPECT_ERROR((void)ec::problems::waved_viscous_flow(0.3, 0), bad_argument, "Reynolds");
}

}  // namespace
