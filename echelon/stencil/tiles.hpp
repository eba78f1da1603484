// SPDX-License-Identifier: BSD-3-Clause
// A wavefront cut into tiles of shape.y × shape.z lines (ŷ, ẑ). One worker (a thread, a GPU's block) runs a tile along its
// levels and publishes how many it has finished. Dependencies never point forward in ŷ or ẑ, so tiles wait acyclically:
// they stand in an order in which each waits only for earlier ones, and whoever takes them by a ticket never waits for a
// tile that has not begun, however few workers there are. Edges are ragged: only lines inside the grid belong to a tile,
// and at a level only those that have a point there; of each ẑ they form one range of ŷ.
#pragma once

#include "echelon/base/array.hpp"
#include "echelon/stencil/wavefront.hpp"

namespace echelon {

/// Lines of a tile in either direction.
struct TileShape {
  int y = 32, z = 32;
};

struct Tile {
  int y, z;                 // its first line (which may be outside the grid)
  int first_level, levels;  // of its points
};

/// Before a tile runs its level l, `tile` has finished all its levels up to l − behind.
struct TileWait {
  int tile, behind;
};

/// A schedule as kernels see it, on host or device.
struct TileView {
  Wavefront front;
  TileShape shape;
  int count = 0;                    // tiles with at least one line
  int tiles_y = 0;                  // tiles in ŷ, the ones without lines included
  const Tile* tiles = nullptr;      // in ticket order
  const int* tile_of = nullptr;     // ticket of the tile (y, z) at [z·tiles_y + y]; −1 without lines
  const int* wait_start = nullptr;  // of each tile, and the end
  const TileWait* waits = nullptr;

  ECHELON_FN int tile_of_line(int y, int z) const { return tile_of[(z / shape.z) * tiles_y + y / shape.y]; }
  ECHELON_FN int end_z(const Tile& tile) const { return tile.z + shape.z < front.nz ? tile.z + shape.z : front.nz; }

  /// The tile's lines of ẑ = z that have a point at this level.
  ECHELON_FN LineRange lines_at(const Tile& tile, int level, int z) const {
    return front.lines_at(level, z, {tile.y, tile.y + shape.y});
  }
  /// Points of the tile at this level with ẑ < z: the rank of the first one of ẑ = z; all of them for z = end_z(tile).
  ECHELON_FN int lines_before(const Tile& tile, int level, int z) const {
    int sum = 0;
    for (int below = tile.z; below < z; ++below) sum += lines_at(tile, level, below).count();
    return sum;
  }
  /// How many levels of the other tile must be finished before a tile that waits for it may run `level`.
  ECHELON_FN static int needed(const Tile& other, int behind, int level) {
    const int levels = level - behind + 1 - other.first_level;
    return levels < 0 ? 0 : levels < other.levels ? levels : other.levels;
  }
};

class TileSchedule {
 public:
  /// Throws Error(bad_argument) for a tile without lines and for 2³¹ tiles or more.
  TileSchedule(const Wavefront& front, const Stencil& stencil, TileShape shape);

  const Wavefront& front() const { return front_; }
  int count() const { return static_cast<int>(tiles_.size()); }
  std::span<const Tile> tiles() const { return tiles_.span(); }
  std::span<const TileWait> waits(int tile) const {
    return waits_.span().subspan(static_cast<std::size_t>(wait_start_[tile]),
                                 static_cast<std::size_t>(wait_start_[tile + 1] - wait_start_[tile]));
  }
  /// Largest number of levels of a tile.
  int longest() const { return longest_; }
  /// For kernels on the host; lives as long as the schedule.
  TileView view() const;

 private:
  Wavefront front_;
  TileShape shape_;
  int tiles_y_ = 0, longest_ = 0;
  Array<Tile> tiles_;
  Array<int> tile_of_, wait_start_;
  Array<TileWait> waits_;
};

/// Where the tiles of such a schedule stand, z·tiles_y + y, by their tickets: for those who need nothing else of it.
std::vector<int> tile_places_in_order(const Wavefront& front, const Stencil& stencil, TileShape shape);

}  // namespace echelon
