// SPDX-License-Identifier: BSD-3-Clause
// By which power of two a system with a very small or very large b is solved: A (x/2ᵉ) = b/2ᵉ is the same system to the last
// bit, and in it squares of norms neither vanish nor overflow, and a residual is no denormal number whose digits are gone.
// Inside the ordinary range nothing is scaled. Private to krylov/.
#pragma once

#include <algorithm>
#include <cmath>

namespace echelon {

/// ‖b‖ between 2⁻³⁰⁰ and 2³⁰⁰ is left alone: its square, times 10⁻¹⁶ twice, is still an ordinary double.
inline bool in_ordinary_range(double norm) { return norm >= 0x1p-300 && norm <= 0x1p+300; }

/// e for a b whose largest entry is `largest` > 0. ‖b‖ is put at the root of ‖A‖ (NaN: unknown, taken as 1), inside the
/// ordinary range, so that x, which is about b/A, is far from the ends of the range, too.
inline int range_exponent(double largest, double norm_A) {
  constexpr int furthest = 300;
  const int of_A = norm_A > 0 && std::isfinite(norm_A) ? std::ilogb(norm_A) : 0;
  return std::ilogb(largest) - std::clamp(of_A / 2, -furthest, furthest);
}

/// An initial guess this large beside the scaled b is worse than none.
inline constexpr double largest_scaled_guess = 0x1p+900;

/// value·2⁻ᵉ, rounded down where it becomes a denormal number: for tolerances.
inline double scaled_down_to(double value, int exponent) {
  const double scaled = std::ldexp(value, -exponent);
  return std::isfinite(scaled) && std::ldexp(scaled, exponent) > value ? std::nextafter(scaled, 0.0) : scaled;
}

}  // namespace echelon
