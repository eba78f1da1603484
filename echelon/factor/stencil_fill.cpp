// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/stencil_fill.hpp"

#include <fmt/format.h>

#include <map>

#include "echelon/base/error.hpp"

namespace echelon {

Stencil grown(const Stencil& stencil, int fill) {
  constexpr std::size_t most_points = 1000;
  std::map<Offset, int> level;
  for (const Offset& o : stencil.offsets()) level[o] = 0;
  const Offset center{};
  for (bool changed = true; changed;) {
    changed = false;
    const auto known = level;
    for (const auto& [l, level_l] : known) {
      if (!(l < center)) continue;
      for (const auto& [u, level_u] : known) {
        const int merged = level_l + level_u + 1;
        if (!(center < u) || merged > fill) continue;
        const auto [at, inserted] = level.try_emplace(Offset{l.x + u.x, l.y + u.y, l.z + u.z}, merged);
        changed = changed || inserted || merged < at->second;
        at->second = std::min(at->second, merged);
      }
    }
    if (level.size() > most_points) {
      throw Error(ErrorCode::bad_argument, fmt::format("fill {} grows the {} points of the stencil '{}' above {}", fill,
                                                       stencil.size(), stencil.name(), most_points));
    }
  }
  std::vector<Offset> offsets;
  for (const auto& [o, l] : level) offsets.push_back(o);
  return Stencil(std::move(offsets), fmt::format("{} with fill {}", stencil.name(), fill));
}

}  // namespace echelon
