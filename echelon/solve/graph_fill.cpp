// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/solve/graph_fill.hpp"

#include <algorithm>
#include <cstdlib>

#include "echelon/factor/rows/symbolic.hpp"
#include "echelon/stencil/stencil_fill.hpp"

namespace echelon {
namespace {

/// The pattern of a matrix on a grid.
Pattern pattern_on(const Grid& grid, const Stencil& stencil) {
  Pattern pattern{Array<std::int64_t>(grid.points() + 1), Array<std::int32_t>(neighbours_inside(grid, stencil.offsets()))};
  std::int64_t row = 0, entry = 0;
  for (std::int64_t k = 0; k < grid.nz; ++k) {
    for (std::int64_t j = 0; j < grid.ny; ++j) {
      for (std::int64_t i = 0; i < grid.nx; ++i) {
        pattern.start[row++] = entry;
        for (const Offset& o : stencil.offsets()) {
          if (!grid.contains(i + o.x, j + o.y, k + o.z)) continue;
          pattern.column[entry++] = static_cast<std::int32_t>(grid.index(i + o.x, j + o.y, k + o.z));
        }
      }
    }
  }
  pattern.start[row] = entry;
  return pattern;
}

}  // namespace

bool fill_is_the_graphs(const Grid& grid, const Stencil& stencil, int fill) {
  constexpr int most_fill = 2;
  if (fill == 0) return true;
  if (fill > most_fill || !can_grow(stencil, fill)) return false;
  // A path of fill has fill + 1 steps. Points that far from a side know nothing of it, so a grid of twice that has points
  // of every kind.
  Grid small;
  for (const Offset& o : stencil.offsets()) {
    const auto enough = [&](int step) { return 2 * (fill + 1) * std::abs(std::int64_t{step}) + 1; };
    small.nx = std::max(small.nx, enough(o.x));
    small.ny = std::max(small.ny, enough(o.y));
    small.nz = std::max(small.nz, enough(o.z));
  }
  small = {std::min(small.nx, grid.nx), std::min(small.ny, grid.ny), std::min(small.nz, grid.nz)};
  const Pattern filled = filled_pattern(pattern_on(small, stencil).view(), fill);
  const Stencil with_fill = grown(stencil, fill);
  return filled.column.size() == neighbours_inside(small, with_fill.offsets());
}

}  // namespace echelon
