// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/geometry.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"

namespace echelon::hpcg {
namespace {

constexpr std::int64_t multiple = 8;  // three halvings
constexpr std::int64_t least_side = 16;

std::array<int, 3> sides(const Grid& grid) {
  return {static_cast<int>(grid.nx), static_cast<int>(grid.ny), static_cast<int>(grid.nz)};
}

}  // namespace

Grid Geometry::global() const {
  return {local.nx * processes.sides[0], local.ny * processes.sides[1], local.nz * processes.sides[2]};
}

std::int64_t Geometry::nonzeros() const {
  const Grid g = global();
  return (3 * g.nx - 2) * (3 * g.ny - 2) * (3 * g.nz - 2);
}

int Geometry::neighbours_along(int direction, std::int64_t at) const {
  const auto d = static_cast<std::size_t>(direction);
  const std::int64_t side = std::array{local.nx, local.ny, local.nz}[d];
  const std::int64_t point = place()[d] * side + at;
  return 3 - (point == 0) - (point == processes.sides[d] * side - 1);
}

int Geometry::row_entries(std::int64_t i, std::int64_t j, std::int64_t k) const {
  return neighbours_along(0, i) * neighbours_along(1, j) * neighbours_along(2, k);
}

std::int64_t Geometry::global_row(std::int64_t i, std::int64_t j, std::int64_t k) const {
  const auto at = place();
  return global().index(at[0] * local.nx + i, at[1] * local.ny + j, at[2] * local.nz + k);
}

Geometry Geometry::coarser() const { return {{local.nx / 2, local.ny / 2, local.nz / 2}, processes, rank}; }

void require_local_grid(const Grid& grid) {
  for (const std::int64_t side : {grid.nx, grid.ny, grid.nz}) {
    if (side % multiple != 0 || side < least_side) {
      throw Error(ErrorCode::bad_option,
                  fmt::format("--grid: got {}x{}x{}; HPCG needs sides that are multiples of {} and at least {}", grid.nx,
                              grid.ny, grid.nz, multiple, least_side));
    }
  }
  const std::string flat = too_flat(sides(grid), "the grid of points of a process");
  if (!flat.empty()) throw Error(ErrorCode::bad_option, "--grid: " + flat);
}

void require_process_grid(const ProcessGrid& processes) {
  const std::string flat = too_flat(processes.sides, fmt::format("the grid of {} processes", processes.size()));
  if (!flat.empty()) throw Error(ErrorCode::bad_option, flat);
}

BoxHalo halo_of(const Geometry& geometry, const Communicator& communicator) {
  return {communicator, geometry.processes, sides(geometry.local)};
}

std::vector<Geometry> levels_of(const Geometry& finest) {
  std::vector<Geometry> levels{finest};
  while (static_cast<int>(levels.size()) < level_count) levels.push_back(levels.back().coarser());
  return levels;
}

}  // namespace echelon::hpcg
