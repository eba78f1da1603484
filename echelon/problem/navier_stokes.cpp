// SPDX-License-Identifier: BSD-3-Clause
// Perturbations (ρ, V) of a state (R, U, μ), sound speed 1, all multiplied by dt:
//   ρ/dt + U·∇ρ + R ∇·V + V·∇R + ρ ∇·U
//   V/dt + U·∇V + V·∇U + (ρ/R) U·∇U + ∇ρ/R − (1/R) ∇·[μ(∇V + ∇Vᵀ − ⅔ ∇·V I)]
// with ∇·[…]_a = μ(ΔV_a + ⅓ ∂_a∇·V) + Σ_b ∂_bμ (∂_b V_a + ∂_a V_b) − ⅔ ∂_aμ ∇·V. Every derivative is the product of
// (−1, 0, 1)/2h or (1, −2, 1)/h² along its axes and (1, 10, 1)/12 along the others: second order, all 27 points at work.
// Gradients of the base state are central differences of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/problem/point_loop.hpp"
#include "echelon/problem/point_samples.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/time_step.hpp"

namespace echelon::problems {
namespace {

constexpr int unknowns = 4;
constexpr int components = 5;  // of the base state: R, U, μ
constexpr int viscosity = 4;

PointSamples sampled(const ViscousFlow& base, const Grid& grid) {
  return {
      "the base flow of navier_stokes", grid, Place::nodes, 1, components, [&](double x, double y, double z, double* at) {
        const ViscousState s = base(x, y, z);
        if (s.rho <= 0 || s.mu < 0) {
          throw Error(ErrorCode::bad_argument,
                      fmt::format("navier_stokes: the base flow needs a positive density and a viscosity of 0 or more; "
                                  "at ({}, {}, {}) they are {} and {}",
                                  x, y, z, s.rho, s.mu));
        }
        at[0] = s.rho, at[1] = s.u, at[2] = s.v, at[3] = s.w, at[viscosity] = s.mu;
      }};
}

double fastest_wave(const PointSamples& flow, const OpenAxes& axes) {
  double fastest = 0;
  for (const double* s = flow.values().data(); s < flow.values().data() + flow.values().size(); s += components) {
    for (int d = 0; d < 3; ++d) fastest = std::max(fastest, axes.open[d] ? std::abs(s[1 + d]) : 0.0);
  }
  return fastest + 1;
}

/// What a neighbour weighs in each derivative.
struct Difference {
  double value;         // 1 at the point itself
  double first[3];      // ∂_a
  double second[3][3];  // ∂_a ∂_b
};

Difference difference(const Offset& offset, const OpenAxes& axes) {
  const int o[3] = {offset.x, offset.y, offset.z};
  const auto across = [&](int c) { return !axes.open[c] ? 1.0 : o[c] == 0 ? 10.0 / 12 : 1.0 / 12; };
  const auto slope = [&](int d) { return axes.open[d] ? o[d] / (2 * axes.h[d]) : 0.0; };
  const auto curvature = [&](int d) { return axes.open[d] ? (o[d] == 0 ? -2.0 : 1.0) / (axes.h[d] * axes.h[d]) : 0.0; };
  Difference result{};
  result.value = o[0] == 0 && o[1] == 0 && o[2] == 0;
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    result.first[a] = slope(a) * across(b) * across(c);
    result.second[a][a] = curvature(a) * across(b) * across(c);
    result.second[a][b] = result.second[b][a] = slope(a) * slope(b) * across(c);
  }
  return result;
}

/// The base state at a point with its gradients.
struct BasePoint {
  double R, U[3], mu;
  double grad_R[3], grad_U[3][3], grad_mu[3];  // grad_U[a][b] = ∂_b U_a
  double div_U, acceleration[3];               // ∇·U, U·∇U
};

BasePoint base_point(const PointSamples& flow, const OpenAxes& axes, std::int64_t i, std::int64_t j, std::int64_t k) {
  const double* here = flow.at(i, j, k);
  BasePoint p{};
  p.R = here[0], p.mu = here[viscosity];
  for (int a = 0; a < 3; ++a) p.U[a] = here[1 + a];
  for (int b = 0; b < 3; ++b) {
    if (!axes.open[b]) continue;
    const double* after = flow.at(i + (b == 0), j + (b == 1), k + (b == 2));
    const double* before = flow.at(i - (b == 0), j - (b == 1), k - (b == 2));
    const auto slope = [&](int c) { return (after[c] - before[c]) / (2 * axes.h[b]); };
    p.grad_R[b] = slope(0);
    p.grad_mu[b] = slope(viscosity);
    for (int a = 0; a < 3; ++a) p.grad_U[a][b] = slope(1 + a);
  }
  for (int a = 0; a < 3; ++a) {
    p.div_U += p.grad_U[a][a];
    for (int b = 0; b < 3; ++b) p.acceleration[a] += p.U[b] * p.grad_U[a][b];
  }
  return p;
}

void write_block(const BasePoint& p, const Difference& D, double dt, std::span<double> block) {
  const double transport = p.U[0] * D.first[0] + p.U[1] * D.first[1] + p.U[2] * D.first[2];
  const double laplacian = D.second[0][0] + D.second[1][1] + D.second[2][2];
  const double stretched = p.grad_mu[0] * D.first[0] + p.grad_mu[1] * D.first[1] + p.grad_mu[2] * D.first[2];
  const double per_R = 1 / p.R;
  const auto at = [&](int row, int column) -> double& { return block[static_cast<std::size_t>(column * unknowns + row)]; };
  at(0, 0) = D.value + dt * (transport + p.div_U * D.value);
  const double common = D.value + dt * (transport - per_R * (p.mu * laplacian + stretched));
  for (int a = 0; a < 3; ++a) {
    at(0, 1 + a) = dt * (p.R * D.first[a] + p.grad_R[a] * D.value);
    at(1 + a, 0) = dt * per_R * (D.first[a] + p.acceleration[a] * D.value);
    for (int b = 0; b < 3; ++b) {
      const double stress = p.mu / 3 * D.second[a][b] + p.grad_mu[b] * D.first[a] - 2.0 / 3 * p.grad_mu[a] * D.first[b];
      at(1 + a, 1 + b) = dt * (p.grad_U[a][b] * D.value - per_R * stress);
    }
    at(1 + a, 1 + a) += common;
  }
}

}  // namespace

StructMatrix<double> navier_stokes(Grid grid, const NavierStokesOptions& options) {
  StructMatrix<double> A(grid, stencils::box27(), unknowns);
  const OpenAxes axes(grid);
  const PointSamples flow = sampled(options.base, grid);
  const double dt = chosen_step("navier_stokes", options.step, axes, fastest_wave(flow, axes));
  const Stencil& stencil = A.stencil();
  std::vector<Difference> differences;
  for (const Offset& o : stencil.offsets()) differences.push_back(difference(o, axes));
  constexpr std::int64_t operations = 3000;
  for_each_point(grid, operations, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t point) {
    const BasePoint p = base_point(flow, axes, i, j, k);
    for (int e = 0; e < stencil.size(); ++e) {
      const Offset o = stencil.offsets()[e];
      if (grid.contains(i + o.x, j + o.y, k + o.z))
        write_block(p, differences[static_cast<std::size_t>(e)], dt, A.block(point, e));
    }
  });
  return A;
}

}  // namespace echelon::problems
