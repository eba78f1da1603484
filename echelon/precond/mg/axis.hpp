// SPDX-License-Identifier: BSD-3-Clause
// One direction of a grid, and what coarsening along it keeps: the points at odd places 1, 3, 5, … Of n points n/2 stay;
// the others, at even places, are (n + 1)/2 and lie between two that stay, or beside one at the ends.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "echelon/stencil/stencil.hpp"

namespace echelon {

enum class Axis { x, y, z };

inline std::int64_t side(const Grid& grid, Axis axis) {
  return axis == Axis::x ? grid.nx : axis == Axis::y ? grid.ny : grid.nz;
}
inline Grid with_side(Grid grid, Axis axis, std::int64_t n) {
  (axis == Axis::x ? grid.nx : axis == Axis::y ? grid.ny : grid.nz) = n;
  return grid;
}
inline Grid coarsened(const Grid& grid, Axis axis) { return with_side(grid, axis, side(grid, axis) / 2); }
/// Of the points at even places.
inline Grid between(const Grid& grid, Axis axis) { return with_side(grid, axis, (side(grid, axis) + 1) / 2); }

inline int step(const Offset& offset, Axis axis) {
  return axis == Axis::x ? offset.x : axis == Axis::y ? offset.y : offset.z;
}
inline Offset with_step(Offset offset, Axis axis, int step) {
  (axis == Axis::x ? offset.x : axis == Axis::y ? offset.y : offset.z) = step;
  return offset;
}
/// "64x64x1"
inline std::string sides_of(const Grid& grid) { return fmt::format("{}x{}x{}", grid.nx, grid.ny, grid.nz); }

}  // namespace echelon
