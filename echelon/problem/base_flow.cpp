// SPDX-License-Identifier: BSD-3-Clause
// Smooth flows to linearise about. They need not be steady solutions: a Newton step is taken about any state.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "echelon/base/error.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::problems {
namespace {

constexpr double turn = 2 * std::numbers::pi;

void require_number(const char* name, double value, bool zero_allowed) {
  if (std::isfinite(value) && (value > 0 || (zero_allowed && value == 0))) return;
  throw Error(ErrorCode::bad_argument, fmt::format("a {} number is positive and finite; got {}", name, value));
}

}  // namespace

GasFlow waved_gas_flow(double mach) {
  require_number("Mach", mach, true);
  return [mach](double x, double y, double z) {
    const double sx = std::sin(turn * x), sy = std::sin(turn * y), sz = std::sin(turn * z);
    const double cx = std::cos(turn * x), cy = std::cos(turn * y), cz = std::cos(turn * z);
    constexpr double gamma = 1.4;
    const double rho = 1 + 0.1 * sx * cy;
    return GasState{rho, mach * (0.8 + 0.3 * sy * cz), mach * (0.5 + 0.3 * sz * cx), mach * (0.2 + 0.3 * sx * cy),
                    std::pow(rho, gamma) / gamma};
  };
}

ViscousFlow waved_viscous_flow(double mach, double reynolds) {
  require_number("Reynolds", reynolds, false);
  return [flow = waved_gas_flow(mach), mu = mach / reynolds](double x, double y, double z) {
    const GasState gas = flow(x, y, z);
    return ViscousState{gas.rho, gas.u, gas.v, gas.w, mu * (1 + 0.5 * std::cos(turn * y) * std::sin(turn * z))};
  };
}

PhaseField waved_phases() {
  return [](double x, double y, double z) {
    const double u = 0.9 * std::cos(turn * x) * std::cos(turn * y) * std::cos(0.5 * turn * z);
    const double v = 0.6 * std::cos(turn * y) * std::cos(turn * z) + 0.3 * std::cos(turn * x);
    return PhaseState{u, v};
  };
}

}  // namespace echelon::problems
