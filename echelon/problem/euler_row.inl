// SPDX-License-Identifier: BSD-3-Clause
// Rows of W_p + dt Σ_d [ (3F⁺_p − 4F⁺_{p−1} + F⁺_{p−2}) + (−3F⁻_p + 4F⁻_{p+1} − F⁻_{p+2}) ]/(2h_d),  F^± = A_d^±(base) W.
// A_d has the eigenvalues λ₀ = u_n (three times) and λ_± = u_n ± c; for any function f
//   f(A_d) = f(λ₀) I + Σ_± (f(λ_±) − f(λ₀)) r_± l_±ᵀ,   r_± = (1, V ± c n, H ± c u_n),
//   l_±ᵀW = (δp ± c δs)/(2c²),  δp = (γ−1)(|V|²ρ/2 − V·m + E),  δs = m_n − u_n ρ   for W = (ρ, m, E),
// so A^± = f(A) with f(λ) = (λ ± |λ|)/2, where |λ| is rounded off to sqrt(λ² + (c/10)²): no sonic point is left without
// dissipation, and A^± stay smooth, as second order needs. At the point itself 3(F⁺ − F⁻)/2 is f(λ) = |λ|.
#pragma once

#include "echelon/problem/assembly/point_samples.hpp"
#include "echelon/problem/assembly/recipe.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/stencil/static_plan.hpp"

namespace echelon::problems {

namespace euler_gas {
constexpr double gamma = 1.4;
constexpr double rounding = 0.1;  // of |λ|, in sound speeds
/// Sampled: V, c; 32 bytes, so that a GPU's thread has a state by one sector.
constexpr int sound = 3, components = 4;
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
  static constexpr bool keeps_rows = false;
  static constexpr int unknowns = 5;
  static constexpr std::int64_t operations = 8000;
  SampleView<euler_gas::components> flow;
  double step[3], own_step[3];  // dt/h_d and 3/2 of it
  bool open[3];

  struct State {
    double V[3], c, square, enthalpy;
  };

  /// I, where the block is the point's own, and the Jacobians of one or all axes.
  template <int Axes>
  struct Block {
    State s;
    SplitJacobian jacobian[Axes];

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
      double sum = Axes > 1 && row == column ? 1 : 0;
#pragma unroll
      for (int n = 0; n < Axes; ++n) {
        const SplitJacobian& J = jacobian[n];
        // The compiler knows the axis of each of several.
        const int d = Axes > 1 ? n : J.d;
        if (row == column) sum += J.f0;
        sum += J.amplitude[0] * left(column, 1, d) * right(row, 1, d);
        sum += J.amplitude[1] * left(column, -1, d) * right(row, -1, d);
      }
      return sum;
    }
  };

  struct Row {
    const EulerRows& of;
    Ijk p;

    ECHELON_FN static double rounded_size(double l, double c) {
      const double soft = euler_gas::rounding * c;
      return std::sqrt(l * l + soft * soft);
    }
    ECHELON_FN static SplitJacobian split(const State& s, int d, double factor, const SplitJacobian::Function& f) {
      const double normal = pick(s.V, d), after = normal + s.c, before = normal - s.c;
      const double f0 = f(normal, rounded_size(normal, s.c));
      return {factor * f0,
              {factor * (f(after, rounded_size(after, s.c)) - f0) / (2 * s.c * s.c),
               factor * (f(before, rounded_size(before, s.c)) - f0) / (2 * s.c * s.c)},
              d};
    }
    ECHELON_FN State state(const Offset& o) const {
      const auto* at = static_cast<const double*>(
          __builtin_assume_aligned(of.flow.at(p.i + o.x, p.j + o.y, p.k + o.z), sizeof(double) * euler_gas::components));
      State s{{at[0], at[1], at[2]}, at[euler_gas::sound], 0, 0};
      s.square = s.V[0] * s.V[0] + s.V[1] * s.V[1] + s.V[2] * s.V[2];
      s.enthalpy = s.c * s.c / (euler_gas::gamma - 1) + 0.5 * s.square;
      return s;
    }

    ECHELON_FN Block<1> neighbour(const Offset& o) const {
      const State s = state(o);
      const int d = axis_of(o), distance = o.x + o.y + o.z;
      const double side = distance < 0 ? 1 : -1;  // the point before feeds A⁺, the one after A⁻
      const double difference = side * (distance == 1 || distance == -1 ? -2.0 : 0.5);
      return {s, {split(s, d, difference * pick(of.step, d), {0.5, side})}};
    }
    ECHELON_FN Block<3> own() const {
      Block<3> block{state({0, 0, 0}), {}};
      const SplitJacobian::Function size{0, 1};
#pragma unroll
      for (int d = 0; d < 3; ++d) {
        if (of.open[d]) {
          block.jacobian[d] = split(block.s, d, of.own_step[d], size);
        } else {
          block.jacobian[d] = {0, {0, 0}, d};
        }
      }
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
    // Rows take squares of the waves' speeds, which must be finite, too.
    const double top = std::fabs(s.u) + std::fabs(s.v) + std::fabs(s.w) + c, square = top * top;
    at[0] = s.u, at[1] = s.v, at[2] = s.w;
    at[euler_gas::sound] = !std::isfinite(s.rho) ? s.rho : std::isfinite(square) ? c : square;
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
