// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/stencil/stencil_fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "echelon/base/error.hpp"
#include "echelon/base/work_watch.hpp"

namespace echelon {

namespace {

constexpr std::size_t most_points = 1000;

/// Points and their levels; cut short above most_points.
std::map<Offset, int> fill_levels(const Stencil& stencil, int fill) {
  std::map<Offset, int> level;
  for (const Offset& o : stencil.offsets()) level[o] = 0;
  const Offset center{};
  for (bool changed = true; changed && level.size() <= most_points;) {
    changed = false;
    const auto known = level;
    for (const auto& [l, level_l] : known) {
      if (!(l < center)) continue;
      keep_going(16 * static_cast<std::int64_t>(known.size()));  // a look-up in a map each
      for (const auto& [u, level_u] : known) {
        const int merged = level_l + level_u + 1;
        if (!(center < u) || merged > fill) continue;
        const auto [at, inserted] = level.try_emplace(Offset{l.x + u.x, l.y + u.y, l.z + u.z}, merged);
        changed = changed || inserted || merged < at->second;
        at->second = std::min(at->second, merged);
      }
    }
  }
  return level;
}

}  // namespace

bool can_grow(const Stencil& stencil, int fill) { return fill_levels(stencil, fill).size() <= most_points; }

Stencil grown(const Stencil& stencil, int fill) {
  const auto level = fill_levels(stencil, fill);
  if (level.size() > most_points) {
    throw Error(ErrorCode::bad_argument, fmt::format("fill {} grows the {} points of the stencil '{}' above {}", fill,
                                                     stencil.size(), stencil.name(), most_points));
  }
  std::vector<Offset> offsets;
  for (const auto& [o, l] : level) offsets.push_back(o);
  return Stencil(std::move(offsets), fmt::format("{} with fill {}", stencil.name(), fill));
}

}  // namespace echelon
