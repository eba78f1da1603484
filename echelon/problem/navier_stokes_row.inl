// SPDX-License-Identifier: BSD-3-Clause
// Rows for perturbations (ρ, V) of a state (R, U, μ), sound speed 1, all multiplied by dt:
//   ρ/dt + U·∇ρ + R ∇·V + V·∇R + ρ ∇·U
//   V/dt + U·∇V + V·∇U + (ρ/R) U·∇U + ∇ρ/R − (1/R) ∇·[μ(∇V + ∇Vᵀ − ⅔ ∇·V I)]
// with ∇·[…]_a = μ(ΔV_a + ⅓ ∂_a∇·V) + Σ_b ∂_bμ (∂_b V_a + ∂_a V_b) − ⅔ ∂_aμ ∇·V. Every derivative is the product of
// (−1, 0, 1)/2h or (1, −2, 1)/h² along its axes and (1, 10, 1)/12 along the others: second order, all 27 points at work.
// Gradients of the base state are central differences of it.
#pragma once

#include "echelon/problem/assembly/point_samples.hpp"
#include "echelon/problem/assembly/recipe.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/stencil/static_plan.hpp"

namespace echelon::problems {

namespace viscous_gas {
constexpr int components = 5;  // of the base state: R, U, μ
constexpr int viscosity = 4;
}  // namespace viscous_gas

/// What a neighbour weighs in each derivative.
struct Difference {
  double value;         // 1 at the point itself
  double first[3];      // ∂_a
  double second[3][3];  // ∂_a ∂_b
  double laplacian;     // Σ ∂_a ∂_a
};

/// The base state at a point with its gradients.
struct BasePoint {
  double R, U[3], mu;
  double grad_R[3], grad_U[3][3], grad_mu[3];  // grad_U[a][b] = ∂_b U_a
  double div_U, acceleration[3];               // ∇·U, U·∇U
  double per_R, third_mu, sheared[3];          // 1/R, μ/3, ⅔ ∇μ
};

struct NavierStokesRows {
  using Known = static_plans::Box27;
  static constexpr bool keeps_rows = true;
  static constexpr int unknowns = 4, entries = 27;
  static constexpr std::int64_t operations = 3000;
  SampleView<viscous_gas::components> flow;  // with one point around the grid
  Difference differences[entries];           // by value: kernels have it among their constants
  double h[3];
  bool open[3];
  double dt;

  struct Block {
    const BasePoint& p;
    const Difference& D;
    double dt;
    double transport, common;

    /// (1 + a, 1 + b)
    ECHELON_FN double stressed(int a, int b) const {
      double grad_U = 0, second = 0;
#pragma unroll
      for (int n = 0; n < 3; ++n) {
#pragma unroll
        for (int m = 0; m < 3; ++m) {
          const bool here = n == a && m == b;
          grad_U = here ? p.grad_U[n][m] : grad_U;
          second = here ? D.second[n][m] : second;
        }
      }
      const double stress =
          p.third_mu * second + pick(p.grad_mu, b) * pick(D.first, a) - pick(p.sheared, a) * pick(D.first, b);
      const double sum = dt * (grad_U * D.value - p.per_R * stress);
      return a == b ? sum + common : sum;
    }
    ECHELON_FN double at(int row, int column) const {
      if (row == 0 && column == 0) return D.value + dt * (transport + p.div_U * D.value);
      const int a = row - 1, b = column - 1;
      if (row == 0) return dt * (p.R * pick(D.first, b) + pick(p.grad_R, b) * D.value);
      if (column == 0) return dt * p.per_R * (pick(D.first, a) + pick(p.acceleration, a) * D.value);
      return stressed(a, b);
    }
  };

  struct Row {
    const Difference* differences;
    BasePoint p;
    double dt;

    ECHELON_FN Block block(int e, const Offset&) const {
      const Difference& D = differences[e];
      const double transport = p.U[0] * D.first[0] + p.U[1] * D.first[1] + p.U[2] * D.first[2];
      const double stretched = p.grad_mu[0] * D.first[0] + p.grad_mu[1] * D.first[1] + p.grad_mu[2] * D.first[2];
      return {p, D, dt, transport, D.value + dt * (transport - p.per_R * (p.mu * D.laplacian + stretched))};
    }
  };

  /// A row that was kept elsewhere, with the differences of this recipe, which kernels have nearer.
  ECHELON_FN Row kept(const Row& row) const { return {differences, row.p, row.dt}; }

  ECHELON_FN Row row(Ijk at) const {
    const double* here = flow.at(at.i, at.j, at.k);
    Row row{differences, {}, dt};
    BasePoint& p = row.p;
    p.R = here[0], p.mu = here[viscous_gas::viscosity], p.per_R = 1 / p.R, p.third_mu = p.mu / 3;
#pragma unroll
    for (int a = 0; a < 3; ++a) p.U[a] = here[1 + a];
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      if (!open[b]) continue;
      const double* after = flow.at(at.i + (b == 0), at.j + (b == 1), at.k + (b == 2));
      const double* before = flow.at(at.i - (b == 0), at.j - (b == 1), at.k - (b == 2));
      const double across = 2 * h[b];
      p.grad_R[b] = (after[0] - before[0]) / across;
      p.grad_mu[b] = (after[viscous_gas::viscosity] - before[viscous_gas::viscosity]) / across;
#pragma unroll
      for (int a = 0; a < 3; ++a) p.grad_U[a][b] = (after[1 + a] - before[1 + a]) / across;
    }
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      p.sheared[a] = 2.0 / 3 * p.grad_mu[a];
      p.div_U += p.grad_U[a][a];
#pragma unroll
      for (int b = 0; b < 3; ++b) p.acceleration[a] += p.U[b] * p.grad_U[a][b];
    }
    return row;
  }
};

/// The base flow: a formula, or a user's function.
template <class Field>
struct ViscousSampler {
  static constexpr int components = viscous_gas::components;
  Field base;
  ECHELON_FN bool operator()(double x, double y, double z, double* at) const {
    const ViscousState s = base(x, y, z);
    at[0] = s.rho, at[1] = s.u, at[2] = s.v, at[3] = s.w, at[viscous_gas::viscosity] = s.mu;
    return !(s.rho <= 0 || s.mu < 0);
  }
  [[noreturn]] void refuse(double x, double y, double z) const;
};

/// The fastest flow of a sample along the open axes.
struct ViscousSpeed {
  static constexpr int components = viscous_gas::components;
  bool open[3];
  ECHELON_FN double operator()(const double* s) const {
    double top = 0;
    for (int d = 0; d < 3; ++d) top = open[d] ? std::fmax(top, std::fabs(s[1 + d])) : top;
    return top;
  }
};

}  // namespace echelon::problems
