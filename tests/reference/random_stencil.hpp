// SPDX-License-Identifier: BSD-3-Clause
// Stencils and grids drawn at random for the properties of schedules and layouts.
#pragma once

#include <cstdlib>
#include <random>
#include <vector>

#include "echelon/stencil/stencil.hpp"

namespace echelon::reference {

/// Up to `most` offsets of size ≤ reach; flat ones have z = 0. About one in four has no point at all in some direction of
/// the lower part, and none need be symmetric.
inline Stencil random_stencil(std::mt19937_64& random, int most, int reach, bool flat) {
  const auto within = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const int wanted = within(0, most), missing = within(0, 7);
  std::vector<Offset> offsets;
  for (int n = 0; n < wanted; ++n) {
    const Offset o{within(-reach, reach), within(-reach, reach), flat ? 0 : within(-reach, reach)};
    if (o == Offset{} || (missing == 0 && o.z < 0) || (missing == 1 && o.z == 0 && o.y < 0)) continue;
    bool twice = false;
    for (const Offset& other : offsets) twice = twice || other == o;
    if (!twice) offsets.push_back(o);
  }
  return Stencil(offsets, "random");
}

/// Sides up to `most`, thin ones (1×N×M, N×1×1) often among them.
inline Grid random_grid(std::mt19937_64& random, int most, bool flat) {
  const auto side = [&] { return std::uniform_int_distribution<std::int64_t>(1, most)(random); };
  const auto thin = [&] { return random() % 5 == 0; };
  return {thin() ? 1 : side(), thin() ? 1 : side(), flat || thin() ? 1 : side()};
}

}  // namespace echelon::reference
