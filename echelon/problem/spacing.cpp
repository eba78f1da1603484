// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/problem/spacing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "echelon/base/error.hpp"

namespace echelon::problems {

Spacing spacing(const char* problem, const Grid& grid, const Stencil& stencil, Intervals intervals) {
  const auto refuse = [&](const std::string& why) -> Error {
    return Error(ErrorCode::bad_argument,
                 fmt::format("{} is not defined on the stencil '{}': {}", problem, stencil.name(), why));
  };
  if (stencil.size() == 1) throw refuse("it has no neighbours");
  if (!stencil.symmetric()) throw refuse("it is not symmetric (−o is missing for some offset o)");
  const std::int64_t sides[3] = {grid.nx, grid.ny, grid.nz};
  Spacing result{};
  result.smallest = 1;
  for (int d = 0; d < 3; ++d) {
    result.coupled[d] = std::any_of(stencil.offsets().begin(), stencil.offsets().end(), [&](const Offset& o) {
      return (d == 0 ? o.x : d == 1 ? o.y : o.z) != 0;
    });
    if (!result.coupled[d] && sides[d] > 1) {
      throw refuse(fmt::format("it couples nothing along {}, where the grid has {} points", "xyz"[d], sides[d]));
    }
    result.h[d] = 1.0 / static_cast<double>(std::max<std::int64_t>(1, sides[d] + static_cast<int>(intervals)));
    if (result.coupled[d]) result.smallest = std::min(result.smallest, result.h[d]);
  }
  return result;
}

void require_neighbours(const char* problem, const Grid& grid, const Spacing& space) {
  const std::int64_t sides[3] = {grid.nx, grid.ny, grid.nz};
  for (int d = 0; d < 3; ++d) {
    if (space.coupled[d] && sides[d] > 1) return;
  }
  throw Error(ErrorCode::bad_argument, fmt::format("{}: without flux through the boundary one point has no neighbours and "
                                                   "its row is 0; two points along an axis are needed",
                                                   problem));
}

bool is_unit_star(const Stencil& stencil) {
  return std::all_of(stencil.offsets().begin(), stencil.offsets().end(),
                     [](const Offset& o) { return std::abs(o.x) + std::abs(o.y) + std::abs(o.z) <= 1; });
}

bool is_full_box(const Stencil& stencil, const Spacing& space) {
  const int axes = space.coupled[0] + space.coupled[1] + space.coupled[2];
  const int full = axes == 3 ? 27 : 9;
  const auto near = [](const Offset& o) { return std::abs(o.x) <= 1 && std::abs(o.y) <= 1 && std::abs(o.z) <= 1; };
  return axes >= 2 && stencil.size() == full && std::all_of(stencil.offsets().begin(), stencil.offsets().end(), near);
}

}  // namespace echelon::problems
