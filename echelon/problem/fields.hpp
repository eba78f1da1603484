// SPDX-License-Identifier: BSD-3-Clause
// The built-in coefficients and base flows as formulas of a point, with the same bits on host and GPU. What a user gets of
// them (problems.hpp) are std::functions that hold one of these, so a problem on a GPU can find the formula again and
// evaluate it there; functions of users are evaluated on the host.
#pragma once

#include <bit>
#include <cstdint>

#include "echelon/base/elementary.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/random_value.hpp"

namespace echelon::problems {

struct SmoothCoefficient {
  double half;  // ½ ln C
  ECHELON_FN double operator()(double x, double y, double z) const {
    using elementary::cos_turns;
    return elementary::exp(half * cos_turns(x) * cos_turns(y) * cos_turns(z));
  }
};

struct JumpCoefficient {
  double contrast;
  ECHELON_FN double operator()(double x, double y, double z) const {
    const double cubes = std::floor(4 * x) + std::floor(4 * y) + std::floor(4 * z);
    return cubes != 2 * std::floor(0.5 * cubes) ? contrast : 1.0;
  }
};

struct RandomCoefficient {
  double log_contrast;
  std::uint64_t start;  // mixed_bits(seed)
  ECHELON_FN double operator()(double x, double y, double z) const {
    std::uint64_t bits = mixed_bits(start ^ std::bit_cast<std::uint64_t>(x));
    bits = mixed_bits(bits ^ std::bit_cast<std::uint64_t>(y));
    bits = mixed_bits(bits ^ std::bit_cast<std::uint64_t>(z));
    return elementary::exp(log_contrast * (static_cast<double>(bits >> 11) * 0x1p-53));
  }
};

struct RegionCoefficient {
  double contrast;
  ECHELON_FN PerAxis operator()(double x, double y, double z) const {
    const int axis = ((x >= 0.5) + (y >= 0.5) + (z >= 0.5)) % 3;
    return {axis == 0 ? contrast : 1.0, axis == 1 ? contrast : 1.0, axis == 2 ? contrast : 1.0};
  }
};

struct RecirculatingFlow {
  ECHELON_FN PerAxis operator()(double x, double y, double) const {
    return {4 * x * (1 - x) * (2 * y - 1), -(4 * y * (1 - y) * (2 * x - 1)), 0.0};
  }
};

struct WavedGas {
  double mach;
  ECHELON_FN GasState operator()(double x, double y, double z) const {
    using elementary::cos_turns, elementary::sin_turns;
    constexpr double gamma = 1.4;
    const double sx = sin_turns(x), cy = cos_turns(y), rho = 1 + 0.1 * sx * cy;
    return {rho, mach * (0.8 + 0.3 * sin_turns(y) * cos_turns(z)), mach * (0.5 + 0.3 * sin_turns(z) * cos_turns(x)),
            mach * (0.2 + 0.3 * sx * cy), elementary::power(rho, gamma) / gamma};
  }
};

struct WavedViscous {
  WavedGas gas;
  double mu;
  ECHELON_FN ViscousState operator()(double x, double y, double z) const {
    const GasState s = gas(x, y, z);
    return {s.rho, s.u, s.v, s.w, mu * (1 + 0.5 * elementary::cos_turns(y) * elementary::sin_turns(z))};
  }
};

struct WavedPhases {
  ECHELON_FN PhaseState operator()(double x, double y, double z) const {
    using elementary::cos_turns;
    const double cx = cos_turns(x), cy = cos_turns(y);
    return {0.9 * cx * cy * cos_turns(0.5 * z), 0.6 * cy * cos_turns(z) + 0.3 * cx};
  }
};

}  // namespace echelon::problems
