// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/struct_factor.hpp"

#include <algorithm>

namespace echelon {

EliminationPlan::EliminationPlan(const Stencil& stencil)
    : offsets(stencil.offsets().begin(), stencil.offsets().end()), center(stencil.center()) {
  const int entries = stencil.size();
  first.assign(1, 0);
  diagonal_only = true;
  for (int t = 0; t < entries; ++t) {
    for (int m = 0; m < center; ++m) {
      const Offset& a = offsets[static_cast<std::size_t>(m)];
      const Offset& o = offsets[static_cast<std::size_t>(t)];
      const int u = stencil.find({o.x - a.x, o.y - a.y, o.z - a.z});
      if (u > center) pair.push_back({m, u});
      if (u > center && t != center) diagonal_only = false;
    }
    first.push_back(static_cast<std::int32_t>(pair.size()));
  }
  const auto own_line = [&](int e) {
    const Offset& o = offsets[static_cast<std::size_t>(e)];
    return o.y == 0 && o.z == 0;
  };
  along_begin = along_end = center;
  while (along_begin > 0 && own_line(along_begin - 1)) --along_begin;
  while (along_end < entries && own_line(along_end)) ++along_end;
  for (int e = along_end; e < entries; ++e) across_up.push_back(e);
  std::ranges::stable_sort(across_up, std::ranges::greater{}, [&](int e) { return offsets[static_cast<std::size_t>(e)].x; });
}

}  // namespace echelon
