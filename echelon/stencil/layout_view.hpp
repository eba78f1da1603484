// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of layouts, for kernels on host and device: a value's index is
//   first(point) + entry · entry_stride + column · column_stride + row,
// and all that a kind decides is `first` and the two strides. 64-bit indices, 32-bit coordinates.
#pragma once

#include <cstdint>

#include "echelon/stencil/layout.hpp"
#include "echelon/stencil/tiles.hpp"

namespace echelon {

/// Stencil entries begin ≤ e < end.
struct EntryRange {
  int begin = 0, end = 0;
  ECHELON_FN int count() const { return end - begin; }
};
EntryRange all_entries(const Stencil& stencil);
EntryRange lower_entries(const Stencil& stencil);
EntryRange upper_entries(const Stencil& stencil);               // without the centre
EntryRange diagonal_and_upper_entries(const Stencil& stencil);  // what an upper sweep reads

/// What is stored at each point: the blocks (rows × columns) of some stencil entries, in scalars of so many bytes.
struct StoredBlocks {
  EntryRange entries;
  int rows = 1, columns = 1;
  int scalar_bytes = 8;

  static StoredBlocks matrix(EntryRange entries, int dof, int scalar_bytes) { return {entries, dof, dof, scalar_bytes}; }
  static StoredBlocks vector(int dof, int scalar_bytes) { return {{0, 1}, dof, 1, scalar_bytes}; }
};

/// The values of one point.
struct Place {
  std::int64_t first = 0, entry_stride = 0, column_stride = 0;
  ECHELON_FN std::int64_t at(int entry, int row, int column) const {
    return first + entry * entry_stride + column * column_stride + row;
  }
};

/// A layout as kernels see it, on host or device.
struct LayoutView {
  LayoutKind kind = LayoutKind::user;
  EntryRange entries;
  int rows = 1, columns = 1;
  std::int64_t points = 0;
  std::int64_t plane = 0;  // skewed: scalars from one (entry, column) to the next
  Wavefront front;         // skewed and tile_contiguous
  TileView tiles;
  const std::int64_t* first_run = nullptr;  // of each tile: where its levels begin in run_start
  const std::int64_t* run_start = nullptr;  // of each (tile, level): its first scalar; the end of all at the end

  /// Rank of a point in skewed order.
  ECHELON_FN std::int64_t skewed_rank(int y, int z, int level) const {
    return (std::int64_t{z} * front.nx + level % front.nx) * front.ny + y % front.ny;
  }
  /// Scalars from one (entry, column) of a (tile, level) to the next; 0 when no entries are held.
  ECHELON_FN std::int64_t run_length(std::int64_t run) const {
    const int runs = entries.count() * columns;
    return runs == 0 ? 0 : (run_start[run + 1] - run_start[run]) / runs;
  }
  /// From the index of the first held entry's first value, and the scalars between columns; not for user order.
  ECHELON_FN Place from_first(std::int64_t first, std::int64_t column_stride) const {
    const std::int64_t entry_stride = column_stride * columns;
    return {first - entries.begin * entry_stride, entry_stride, column_stride};
  }
  /// Where the values of a point live; only entries that are held may be asked for.
  ECHELON_FN Place place(Ijk p) const {
    if (kind == LayoutKind::user) {
      const std::int64_t block = std::int64_t{rows} * columns;
      return {((std::int64_t{p.k} * front.ny + p.j) * front.nx + p.i) * block, points * block, rows};
    }
    const SkewedPoint s = front.map(p);
    const int level = s.x + s.y + s.z;
    if (kind == LayoutKind::skewed) return from_first(skewed_rank(s.y, s.z, level) * rows, plane);
    const int t = tiles.tile_of_line(s.y, s.z);
    const Tile& tile = tiles.tiles[t];
    const std::int64_t run = first_run[t] + (level - tile.first_level);
    const int rank = tiles.lines_before(tile, level, s.z) + s.y - tiles.lines_at(tile, level, s.z).begin;
    return from_first(run_start[run] + std::int64_t{rank} * rows, run_length(run));
  }
};

}  // namespace echelon
