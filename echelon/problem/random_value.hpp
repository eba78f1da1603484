// SPDX-License-Identifier: BSD-3-Clause
// Values from a counter-based generator: the bits of (seed, place) mixed by the finalizer of SplitMix64 (Steele, Lea and
// Flood, 2014), 53 of them taken as a number in (−1, 1). No state, so any thread, of a GPU too, may make any value.
#pragma once

#include <cstdint>

#include "echelon/base/device.hpp"

namespace echelon::problems {

ECHELON_FN std::uint64_t mixed_bits(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The blocks of a matrix with so many stencil entries.
struct RandomValues {
  std::uint64_t start;  // mixed_bits(seed)
  int entries;

  /// Where the values of a block begin in the generator's counting.
  ECHELON_FN std::uint64_t block(std::int64_t point, int entry) const {
    return mixed_bits(start ^ mixed_bits(static_cast<std::uint64_t>(point * entries + entry)));
  }
  /// Value s = column · dof + row of a block, an odd multiple of 2⁻⁵³: never −1, 0 or 1.
  ECHELON_FN static double value(std::uint64_t block, std::int64_t s) {
    return (static_cast<double>(mixed_bits(block + static_cast<std::uint64_t>(s)) >> 12) + 0.5) * 0x1p-51 - 1.0;
  }
};

/// What a row's diagonal has over the sum of the others' sizes: 1 to 2, from the value the generator gave it.
ECHELON_FN double diagonal_margin(double drawn) { return 1.5 + 0.5 * drawn; }

}  // namespace echelon::problems
