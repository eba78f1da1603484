// SPDX-License-Identifier: BSD-3-Clause
// The geometric mean and the least of positive numbers, as text of two digits; "-" for none.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace echelon::bench {

struct GeometricMean {
  double logarithms = 0, least = 0;
  int count = 0;
  void add(double value) {
    if (!(value > 0)) return;
    least = count == 0 ? value : std::min(least, value);
    logarithms += std::log(value);
    ++count;
  }
  double value() const { return count == 0 ? std::nan("") : std::exp(logarithms / count); }
  std::string text() const { return count == 0 ? "-" : fmt::format("{:.2f}", value()); }
  std::string least_text() const { return count == 0 ? "-" : fmt::format("{:.2f}", least); }
};

}  // namespace echelon::bench
