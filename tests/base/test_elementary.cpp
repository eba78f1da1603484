// SPDX-License-Identifier: BSD-3-Clause
// The elementary functions with fixed bits: exact where the answer is, near the C library's extended ones elsewhere, and of
// the right symmetry.
#include "echelon/base/elementary.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

namespace echelon {
namespace {

/// Distance in units in the last place of the wanted value.
double units(double got, long double want) {
  const auto rounded = static_cast<double>(want);
  const double unit = std::nextafter(std::fabs(rounded), INFINITY) - std::fabs(rounded);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want)) / unit;
}

TEST(Elementary, QuarterTurnsAreExact) {
  for (const double whole : {-3.0, 0.0, 1.0, 7.0}) {
    EXPECT_EQ(elementary::sin_turns(whole), 0);
    EXPECT_EQ(elementary::sin_turns(whole + 0.25), 1);
    EXPECT_EQ(elementary::sin_turns(whole + 0.5), 0);
    EXPECT_EQ(elementary::sin_turns(whole + 0.75), -1);
    EXPECT_EQ(elementary::cos_turns(whole), 1);
    EXPECT_EQ(elementary::cos_turns(whole + 0.25), 0);
    EXPECT_EQ(elementary::cos_turns(whole + 0.5), -1);
    EXPECT_EQ(elementary::cos_turns(whole + 0.75), 0);
  }
  EXPECT_EQ(elementary::exp(0), 1);
  EXPECT_EQ(elementary::log(1), 0);
}

TEST(Elementary, IsWithinTwoUnits) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> turns(-1, 2), exponents(-700, 700), small(-1, 1), powers(-1000, 1000);
  constexpr long double turn = 2 * std::numbers::pi_v<long double>;
  for (int n = 0; n < 100000; ++n) {
    const double t = turns(random);
    // Near a zero the reference's own argument is not known to its last bits.
    const double r = t - std::rint(4 * t) / 4;
    if (std::fabs(r) > 1e-3) {
      EXPECT_LT(units(elementary::sin_turns(t), std::sin(turn * static_cast<long double>(t))), 2) << t;
      EXPECT_LT(units(elementary::cos_turns(t), std::cos(turn * static_cast<long double>(t))), 2) << t;
    }
    for (const double x : {exponents(random), small(random)}) {
      EXPECT_LT(units(elementary::exp(x), std::exp(static_cast<long double>(x))), 2) << x;
    }
    for (const double x : {std::exp2(powers(random)), 1 + 0.3 * small(random)}) {
      EXPECT_LT(units(elementary::log(x), std::log(static_cast<long double>(x))), 2) << x;
    }
    const double rho = 1 + 0.5 * small(random);
    EXPECT_LT(units(elementary::power(rho, 1.4), std::pow(static_cast<long double>(rho), 1.4L)), 3) << rho;
  }
}

TEST(Elementary, IsOddAndEven) {
  for (double t = 0; t < 1; t += 0.0137) {
    EXPECT_EQ(elementary::sin_turns(-t), -elementary::sin_turns(t));
    EXPECT_EQ(elementary::cos_turns(-t), elementary::cos_turns(t));
  }
}

}  // namespace
}  // namespace echelon
