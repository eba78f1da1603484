// SPDX-License-Identifier: BSD-3-Clause
// Smooth flows to linearise about. They need not be steady solutions: a Newton step is taken about any state.
#include <fmt/format.h>

#include <cmath>

#include "echelon/base/error.hpp"
#include "echelon/problem/fields.hpp"

namespace echelon::problems {
namespace {

void require_number(const char* name, double value, bool zero_allowed) {
  if (std::isfinite(value) && (value > 0 || (zero_allowed && value == 0))) return;
  throw Error(ErrorCode::bad_argument, fmt::format("a {} number is positive and finite; got {}", name, value));
}

}  // namespace

GasFlow waved_gas_flow(double mach) {
  require_number("Mach", mach, true);
  return WavedGas{mach};
}

ViscousFlow waved_viscous_flow(double mach, double reynolds) {
  require_number("Reynolds", reynolds, false);
  require_number("Mach", mach, true);
  return WavedViscous{{mach}, mach / reynolds};
}

PhaseField waved_phases() { return WavedPhases{}; }

}  // namespace echelon::problems
