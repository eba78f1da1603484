// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/stencil/sweep_tile_shape.hpp"

#include <algorithm>
#include <cstdlib>

namespace echelon {

/// Measured on an H200 (bench/sweep/tune_cuda): a level of a tile should move 15 to 50 KB, and there should be more tiles
/// than multiprocessors.
TileShape sweep_tile_shape(const Grid& grid, const Stencil& stencil, int dof) {
  const int entries = stencil.center();
  const bool few = entries <= 3, some = entries <= 6;
  constexpr std::int64_t lines_for_large_tiles = 128 * 1024;
  if (dof == 1) {
    if (few && grid.ny * grid.nz >= lines_for_large_tiles) return {32, 16};
    return some ? TileShape{16, 16} : TileShape{16, 8};
  }
  const int reach_z = std::max(std::abs(stencil.offsets().front().z), std::abs(stencil.offsets().back().z));
  if (dof == 2) return some ? TileShape{16, 8} : reach_z > 1 ? TileShape{8, 8} : TileShape{16, 4};
  if (dof == 3) return some ? TileShape{8, 8} : TileShape{8, 4};
  if (dof == 4) return few ? TileShape{8, 8} : some ? TileShape{8, 4} : TileShape{4, 4};
  if (dof == 5 && !some) return {4, 4};
  if (dof <= 6) return few ? TileShape{8, 4} : some ? TileShape{4, 4} : TileShape{4, 2};
  return few ? TileShape{4, 4} : TileShape{4, 2};
}

}  // namespace echelon
