// SPDX-License-Identifier: BSD-3-Clause
// Runs a tile schedule on paper: at most R tiles are resident, taken by ticket; each step one of those that may advance is
// chosen and runs its next few levels. Every point's dependencies are looked up among what was published before. Says what
// went wrong first, or nothing.
#pragma once

#include <cstdint>
#include <string>

#include "echelon/stencil/tiles.hpp"

namespace echelon::reference {

struct TileSimulation {
  int resident = 1;
  int chunk = 1;  // levels run between two looks at the flags
  enum class Choice { any, oldest, newest } choice = Choice::any;
  std::uint64_t seed = 1;
};

/// "" when every point was computed once, after all it needs, and the run ended.
std::string simulate(const TileView& schedule, const Stencil& stencil, const TileSimulation& how);

}  // namespace echelon::reference
