// SPDX-License-Identifier: BSD-3-Clause
// Elementary functions whose bits are the same on every machine and on a GPU, which a C library's are not: argument
// reduction and series by fma in one fixed order. With |r| the reduced argument,
//   sin, cos of 2πr: r ≤ 1/8, Taylor to r¹⁷;   exp: r ≤ ½ ln 2, to r¹³;   log m = 2 artanh s, s = (m−1)/(m+1), to s²³.
// Errors stay below two units in the last place (tests/base/test_elementary.cpp).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "echelon/base/fma.hpp"

namespace echelon::elementary {

namespace series {
/// 1 + x/d(first) (1 + x/d(first + step) (… up to last)), d(n) = n or, two steps of a factorial at once, n(n + 1).
template <int first, int step, int last>
ECHELON_FN double factorials(double x) {
  if constexpr (first > last) {
    return 1;
  } else {
    constexpr double divisor = step == 2 ? double{first} * (first + 1) : double{first};
    return fma(x * (1 / divisor), factorials<first + step, step, last>(x), 1);
  }
}
/// sin and cos of 2πr, |r| ≤ 1/8.
ECHELON_FN double sin_reduced(double r) {
  const double x = 6.283185307179586477 * r;
  const double y = -(x * x);
  return fma(x * (y * (1.0 / 6)), factorials<4, 2, 16>(y), x);
}
ECHELON_FN double cos_reduced(double r) {
  const double x = 6.283185307179586477 * r;
  return factorials<1, 2, 15>(-(x * x));
}
}  // namespace series

/// sin 2πt and cos 2πt; |t| < 2⁵⁰.
ECHELON_FN double sin_turns(double t) {
  const double quarters = std::rint(4 * t), r = fma(-0.25, quarters, t);
  const auto quarter = static_cast<std::int64_t>(quarters) & 3;
  const double value = (quarter & 1) != 0 ? series::cos_reduced(r) : series::sin_reduced(r);
  return (quarter & 2) != 0 ? -value : value;
}
ECHELON_FN double cos_turns(double t) {
  const double quarters = std::rint(4 * t), r = fma(-0.25, quarters, t);
  const auto quarter = static_cast<std::int64_t>(quarters) & 3;
  const double value = (quarter & 1) != 0 ? series::sin_reduced(r) : series::cos_reduced(r);
  return quarter == 1 || quarter == 2 ? -value : value;
}

/// |x| ≤ 700.
ECHELON_FN double exp(double x) {
  constexpr double per_ln2 = 1.4426950408889634074;
  constexpr double ln2_high = 0x1.62e42fefa38p-1,
                   ln2_low = 0x1.ef35793c7673p-45;  // the first has 40 bits: k times it is exact
  const double k = std::rint(x * per_ln2);
  const double r = fma(-k, ln2_low, fma(-k, ln2_high, x));
  const double power = std::bit_cast<double>((static_cast<std::int64_t>(k) + 1023) << 52);
  return power * series::factorials<1, 1, 13>(r);
}

/// x positive, finite and not denormal.
ECHELON_FN double log(double x) {
  constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  const auto bits = std::bit_cast<std::int64_t>(x);
  // The exponent is chosen so that √½ ≤ m < √2.
  constexpr std::int64_t sqrt_half = 0x3fe6a09e667f3bcd;
  const std::int64_t k = (bits - sqrt_half) >> 52;
  const double m = std::bit_cast<double>(bits - (k << 52));
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  for (int odd = 23; odd >= 3; odd -= 2) sum = fma(sum, square, 1.0 / odd);
  const double exponent = static_cast<double>(k);
  return fma(exponent, ln2_high, fma(exponent, ln2_low, 2 * fma(s * square, sum, s)));
}

/// x^y for x as in log and |y log x| ≤ 700; the error grows with that product.
ECHELON_FN double power(double x, double y) { return exp(y * log(x)); }

}  // namespace echelon::elementary
