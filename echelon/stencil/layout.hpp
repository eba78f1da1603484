// SPDX-License-Identifier: BSD-3-Clause
// Where the values of a matrix (or vector) on a grid live. Three kinds:
//   user             [entry][point][column][row]            natural order, what users see
//   skewed           [entry][column][ẑ][level mod Nx][ŷ mod Ny][row]   the points of a level and a ẑ side by side, no memory
//   lost tile_contiguous  [tile][level][entry][column][line][row]  a tile streams one run of memory; only lines inside are
//   kept
// A block's columns lie apart in the last two, so that the rows of neighbouring lines are neighbours. Runs of tiles, and
// planes of skewed order, begin at multiples of 32 bytes, padded with zeros. For a fixed ẑ, ŷ mod Ny determines j and then
// level mod Nx determines i: skewed places are all different on any grid.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "echelon/stencil/stencil.hpp"

namespace echelon {

struct LayoutView;
struct StoredBlocks;
struct TileShape;
struct Wavefront;
class TileSchedule;

enum class LayoutKind { user, skewed, tile_contiguous };

/// Cheap to copy: copies share the tables. The arithmetic and what a layout is made of are in layout_view.hpp.
class Layout {
 public:
  /// Entries 0 … entries − 1 of blocks dof × dof.
  static Layout user(Grid grid, int entries, int dof = 1, int scalar_bytes = 8);
  static Layout user(Grid grid, const StoredBlocks& stored);
  static Layout skewed(const Wavefront& front, const StoredBlocks& stored);
  static Layout tile_contiguous(const Wavefront& front, const Stencil& stencil, TileShape shape, const StoredBlocks& stored);

  /// Other blocks of as many rows for the points of a tile-contiguous vector, whose tables it shares: every run is as many
  /// times as long as there are columns.
  static Layout on_points_of(const Layout& vector, const StoredBlocks& stored);

  LayoutKind kind() const { return kind_; }
  Grid grid() const { return grid_; }
  /// User order: the block of (point, entry), counted in blocks.
  std::int64_t at(std::int64_t point, int entry) const { return entry * points_ + point; }
  /// Scalars, padding included.
  std::int64_t size() const;
  /// Bytes of the values and of the layout's own tables.
  std::int64_t bytes() const;
  const StoredBlocks& stored() const;
  /// Where any value lives; lives as long as a copy of the layout. Of tiles, a table with a number for each of their levels
  /// is made when this is first asked for.
  const LayoutView& view() const;
  /// All of it but that table, whose pointer is null.
  const LayoutView& outline() const;
  /// tile_contiguous, unless on the points of another: where each tile's scalars begin, and the end.
  std::span<const std::int64_t> tile_starts() const;
  /// The schedule whose tiles the layout follows; tile_contiguous only.
  const TileSchedule& tiles() const;

 private:
  struct Tables;
  Layout(LayoutKind kind, Grid grid, std::shared_ptr<const Tables> tables);
  LayoutKind kind_;
  Grid grid_;
  std::int64_t points_;
  std::shared_ptr<const Tables> tables_;
};

}  // namespace echelon
