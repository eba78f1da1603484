// SPDX-License-Identifier: BSD-3-Clause
// W_p + dt Σ_d [ (3F⁺_p − 4F⁺_{p−1} + F⁺_{p−2}) + (−3F⁻_p + 4F⁻_{p+1} − F⁻_{p+2}) ]/(2h_d),  F^± = A_d^±(base) W.
// A_d has the eigenvalues λ₀ = u_n (three times) and λ_± = u_n ± c; for any function f
//   f(A_d) = f(λ₀) I + Σ_± (f(λ_±) − f(λ₀)) r_± l_±ᵀ,   r_± = (1, V ± c n, H ± c u_n),
//   l_±ᵀW = (δp ± c δs)/(2c²),  δp = (γ−1)(|V|²ρ/2 − V·m + E),  δs = m_n − u_n ρ   for W = (ρ, m, E),
// so A^± = f(A) with f(λ) = (λ ± |λ|)/2, where |λ| is rounded off to sqrt(λ² + (c/10)²): no sonic point is left without
// dissipation, and A^± stay smooth, as second order needs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "echelon/base/error.hpp"
#include "echelon/problem/point_samples.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/time_step.hpp"

namespace echelon::problems {
namespace {

constexpr int unknowns = 5;
constexpr double gamma = 1.4;
constexpr double rounding = 0.1;  // of |λ|, in sound speeds

GasState state(const double* s) { return {s[0], s[1], s[2], s[3], s[4]}; }
double sound_speed(const GasState& s) { return std::sqrt(gamma * s.p / s.rho); }

PointSamples sampled(const GasFlow& base, const Grid& grid) {
  return {"the base flow of euler", grid, Place::nodes, 0, unknowns, [&](double x, double y, double z, double* at) {
            const GasState s = base(x, y, z);
            if (s.rho <= 0 || s.p <= 0) {
              throw Error(ErrorCode::bad_argument,
                          fmt::format("euler: density and pressure of the base flow must be positive; at ({}, {}, {}) they "
                                      "are {} and {}",
                                      x, y, z, s.rho, s.p));
            }
            at[0] = s.rho, at[1] = s.u, at[2] = s.v, at[3] = s.w, at[4] = s.p;
          }};
}

double fastest_wave(const PointSamples& flow, const OpenAxes& axes) {
  double fastest = 0;
  for (const double* s = flow.values().data(); s < flow.values().data() + flow.values().size(); s += unknowns) {
    for (int d = 0; d < 3; ++d) {
      if (axes.open[d]) fastest = std::max(fastest, std::abs(s[1 + d]) + sound_speed(state(s)));
    }
  }
  return fastest > 0 ? fastest : 1;
}

/// to += factor · f(A_d), column-major; f takes an eigenvalue.
template <class Function>
void add_jacobian(const GasState& s, int d, double factor, const Function& f, std::span<double> to) {
  const double V[3] = {s.u, s.v, s.w};
  const double c = sound_speed(s), square = s.u * s.u + s.v * s.v + s.w * s.w;
  const double enthalpy = c * c / (gamma - 1) + 0.5 * square;
  const double f0 = f(V[d]);
  for (int r = 0; r < unknowns; ++r) to[static_cast<std::size_t>(r * unknowns + r)] += factor * f0;
  for (const double sign : {1.0, -1.0}) {
    const double amplitude = factor * (f(V[d] + sign * c) - f0) / (2 * c * c);
    double right[unknowns] = {1, V[0], V[1], V[2], enthalpy + sign * c * V[d]};
    right[1 + d] += sign * c;
    double left[unknowns] = {(gamma - 1) * 0.5 * square - sign * c * V[d], -(gamma - 1) * V[0], -(gamma - 1) * V[1],
                             -(gamma - 1) * V[2], gamma - 1};
    left[1 + d] += sign * c;
    for (int col = 0; col < unknowns; ++col) {
      for (int r = 0; r < unknowns; ++r)
        to[static_cast<std::size_t>(col * unknowns + r)] += amplitude * left[col] * right[r];
    }
  }
}

}  // namespace

StructMatrix<double> euler(Grid grid, const EulerOptions& options) {
  StructMatrix<double> A(grid, stencils::star13(), unknowns);
  const OpenAxes axes(grid);
  const PointSamples flow = sampled(options.base, grid);
  const double dt = chosen_step("euler", options.step, axes, fastest_wave(flow, axes));
  const Stencil& stencil = A.stencil();
  A.fill([&](std::int64_t i, std::int64_t j, std::int64_t k, int e, std::span<double> block) {
    const Offset o = stencil.offsets()[e];
    const GasState s = state(flow.at(i + o.x, j + o.y, k + o.z));
    const auto magnitude = [soft = rounding * sound_speed(s)](double l) { return std::sqrt(l * l + soft * soft); };
    std::fill(block.begin(), block.end(), 0.0);
    if (e == stencil.center()) {
      for (int r = 0; r < unknowns; ++r) block[static_cast<std::size_t>(r * unknowns + r)] = 1;
      for (int d = 0; d < 3; ++d) {
        if (axes.open[d]) add_jacobian(s, d, 1.5 * dt / axes.h[d], magnitude, block);
      }
      return;
    }
    const int d = o.x != 0 ? 0 : o.y != 0 ? 1 : 2;
    const int distance = o.x + o.y + o.z;
    const double side = distance < 0 ? 1 : -1;  // the point before feeds A⁺, the one after A⁻
    const double difference = side * (std::abs(distance) == 1 ? -2.0 : 0.5);
    add_jacobian(
        s, d, difference * dt / axes.h[d], [&](double l) { return 0.5 * (l + side * magnitude(l)); }, block);
  });
  return A;
}

}  // namespace echelon::problems
