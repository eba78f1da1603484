// SPDX-License-Identifier: BSD-3-Clause
// Rows of W_p + dt Σ_d [ (3F⁺_p − 4F⁺_{p−1} + F⁺_{p−2}) + (−3F⁻_p + 4F⁻_{p+1} − F⁻_{p+2}) ]/(2h_d),  F^± = A_d^±(base) W.
// A_d has the eigenvalues λ₀ = u_n (three times) and λ_± = u_n ± c; for any function f
//   f(A_d) = f(λ₀) I + Σ_± (f(λ_±) − f(λ₀)) r_± l_±ᵀ,   r_± = (1, V ± c n, H ± c u_n),
//   l_±ᵀW = (δp ± c δs)/(2c²),  δp = (γ−1)(|V|²ρ/2 − V·m + E),  δs = m_n − u_n ρ   for W = (ρ, m, E),
// so A^± = f(A) with f(λ) = (λ ± |λ|)/2, where |λ| is rounded off to sqrt(λ² + (c/10)²): no sonic point is left without
// dissipation, and A^± stay smooth, as second order needs. At the point itself 3(F⁺ − F⁻)/2 is f(λ) = |λ|.
#pragma once

#include "echelon/factor/static_plan.hpp"
#include "echelon/problem/point_samples.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/recipe.hpp"

namespace echelon::problems {

namespace euler_gas {
constexpr double gamma = 1.4;
constexpr double rounding = 0.1;  // of |λ|, in sound speeds
/// Sampled: V, c, and for each axis the rounded |λ₀|, |λ₊|, |λ₋|, whose roots all rows that meet the point would draw again.
constexpr int sound = 3, sizes = 4, components = 13;
}  // namespace euler_gas

/// factor · f(A_d) at a state: what is left to do for a value.
struct SplitJacobian {
  double f0, amplitude[2];  // of λ₀, and of r_± l_±ᵀ
  int d;

  /// f(λ) = whole · λ + part · |λ|
  struct Function {
    double whole, part;
    ECHELON_FN double operator()(double l, double size) const { return whole == 0 ? size : whole * (l + part * size); }
  };
};

struct EulerRows {
  using Known = static_plans::Star13;
  static constexpr bool keeps_rows = false, by_entry = true;
  static constexpr int unknowns = 5;
  static constexpr std::int64_t operations = 8000;
  SampleView<euler_gas::components> flow;
  double step[3], own_step[3];  // dt/h_d and 3/2 of it
  bool open[3];

  struct State {
    double V[3], c, square, enthalpy;
    const double* sizes;  // of the eigenvalues along each axis
  };

  struct Block {
    State s;
    bool diagonal;
    SplitJacobian jacobian[3];  // the first `count` are there
    int count;

    /// Of r_± and l_±.
    ECHELON_FN double right(int n, double sign, int d) const {
      const double list[unknowns] = {1, s.V[0], s.V[1], s.V[2], s.enthalpy + sign * s.c * pick(s.V, d)};
      const double value = pick(list, n);
      return n == 1 + d ? value + sign * s.c : value;
    }
    ECHELON_FN double left(int n, double sign, int d) const {
      constexpr double g = euler_gas::gamma - 1;
      const double list[unknowns] = {g * 0.5 * s.square - sign * s.c * pick(s.V, d), -g * s.V[0], -g * s.V[1], -g * s.V[2],
                                     g};
      const double value = pick(list, n);
      return n == 1 + d ? value + sign * s.c : value;
    }
    ECHELON_FN double at(int row, int column) const {
      double sum = diagonal && row == column ? 1 : 0;
#pragma unroll
      for (int n = 0; n < 3; ++n) {
        if (n >= count) continue;
        const SplitJacobian& J = jacobian[n];
        if (row == column) sum += J.f0;
        sum += J.amplitude[0] * left(column, 1, J.d) * right(row, 1, J.d);
        sum += J.amplitude[1] * left(column, -1, J.d) * right(row, -1, J.d);
      }
      return sum;
    }
  };

  struct Row {
    const EulerRows& of;
    Ijk p;

    ECHELON_FN static SplitJacobian split(const State& s, int d, double factor, const SplitJacobian::Function& f) {
      const double normal = pick(s.V, d), *size = s.sizes + 3 * d, f0 = f(normal, size[0]);
      return {factor * f0,
              {factor * (f(normal + s.c, size[1]) - f0) / (2 * s.c * s.c),
               factor * (f(normal - s.c, size[2]) - f0) / (2 * s.c * s.c)},
              d};
    }

    ECHELON_FN Block block(int, const Offset& o) const {
      const double* at = of.flow.at(p.i + o.x, p.j + o.y, p.k + o.z);
      Block block{};
      State& s = block.s;
      s.V[0] = at[0], s.V[1] = at[1], s.V[2] = at[2], s.c = at[euler_gas::sound];
      s.sizes = at + euler_gas::sizes;
      s.square = s.V[0] * s.V[0] + s.V[1] * s.V[1] + s.V[2] * s.V[2];
      s.enthalpy = s.c * s.c / (euler_gas::gamma - 1) + 0.5 * s.square;
      block.diagonal = o.x == 0 && o.y == 0 && o.z == 0;
      if (!block.diagonal) {
        const int d = axis_of(o), distance = o.x + o.y + o.z;
        const double side = distance < 0 ? 1 : -1;  // the point before feeds A⁺, the one after A⁻
        const double difference = side * (distance == 1 || distance == -1 ? -2.0 : 0.5);
        block.jacobian[0] = split(s, d, difference * pick(of.step, d), {0.5, side});
        block.count = 1;
        return block;
      }
      const SplitJacobian::Function size{0, 1};
#pragma unroll
      for (int d = 0; d < 3; ++d) {
        if (of.open[d]) {
          block.jacobian[d] = split(s, d, of.own_step[d], size);
        } else {
          block.jacobian[d] = {0, {0, 0}, d};
        }
      }
      block.count = 3;
      return block;
    }
  };
  ECHELON_FN Row row(Ijk p) const { return {*this, p}; }
};

/// What is sampled of a base flow: a formula, or a user's function.
template <class Field>
struct GasSampler {
  static constexpr int components = euler_gas::components;
  Field base;
  ECHELON_FN bool operator()(double x, double y, double z, double* at) const {
    const GasState s = base(x, y, z);
    const double c = std::sqrt(euler_gas::gamma * s.p / s.rho);
    at[0] = s.u, at[1] = s.v, at[2] = s.w, at[euler_gas::sound] = std::isfinite(s.rho) ? c : s.rho;
    const double soft = euler_gas::rounding * c;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const double wave[3] = {at[d], at[d] + c, at[d] - c};
#pragma unroll
      for (int n = 0; n < 3; ++n) at[euler_gas::sizes + 3 * d + n] = std::sqrt(wave[n] * wave[n] + soft * soft);
    }
    return !(s.rho <= 0 || s.p <= 0);
  }
  [[noreturn]] void refuse(double x, double y, double z) const;
};

/// The fastest wave of a sample along the open axes.
struct GasWaves {
  static constexpr int components = euler_gas::components;
  bool open[3];
  ECHELON_FN double operator()(const double* s) const {
    double top = 0;
    for (int d = 0; d < 3; ++d) top = open[d] ? std::fmax(top, std::fabs(s[d]) + s[euler_gas::sound]) : top;
    return top;
  }
};

}  // namespace echelon::problems
