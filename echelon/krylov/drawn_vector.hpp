// SPDX-License-Identifier: BSD-3-Clause
// A vector of drawn numbers, the same everywhere for the same attempt: a linear congruential sequence (Knuth's MMIX),
// uniform in (−1, 1). On the host, in natural order. Private to krylov/.
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"

namespace echelon {

inline Vector<double> drawn_vector(std::int64_t n, int attempt) {
  Vector<double> v(n);
  std::uint64_t state = 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(attempt);
  for (double& value : v) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(static_cast<std::int64_t>(state) >> 11) * 0x1p-52;
  }
  return v;
}

}  // namespace echelon
