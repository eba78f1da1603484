// SPDX-License-Identifier: BSD-3-Clause
// Products with a matrix in tile order (tile_order.hpp) as their kernels see them, and the table of launches that host code
// calls. Pointers are those of the place where the order lives.
#pragma once

#include <cstdint>

#include "echelon/stencil/layout_view.hpp"

namespace echelon {

/// Where an entry's neighbour is: in the grid, and in lines and levels of the wavefront.
struct TileNeighbour {
  int x, y, z;
  int line_y, line_z, level;
};

/// What rows need of an entry: the neighbour's x, and scalars from the own line to its line, were they of one ẑ.
struct alignas(8) EntryStep {
  int x, scalars;
};

/// The part of the table of lines that a walk over some levels of a tile asks for, copied to where it is near: for each
/// level a column for every ẑ from the tile's own and `reach_z` beyond, of the own tile in ŷ and `sides` beyond on either
/// side, and where the own run begins.
struct TileWindow {
  int sides = 0, reach_z = 0, reach_level = 0;
  int levels = 0;  // of a walk; 0: there is no room, and the table itself is asked
  ECHELON_FN int width_z(TileShape shape) const { return shape.z + 2 * reach_z; }
  ECHELON_FN int columns(TileShape shape) const { return (2 * sides + 1) * width_z(shape) + 1; }
  /// One more than is reached: a run ends where the next begins.
  ECHELON_FN int rows() const { return levels + 2 * reach_level + 1; }
};

/// Levels first ≤ l < last of a tile, counted from its own first: what a block of threads walks along.
struct TileStretch {
  int tile, first, last;
};

struct TileProductView {
  LayoutView vector;
  const TileNeighbour* neighbours;  // an entry each
  int entries, block;
  int longest;        // levels of the longest tile
  std::int64_t runs;  // (tile, level) pairs
  /// All levels of all tiles, in the order of the levels: tiles side by side are walked at the same time, so that the x
  /// that both read is still near when the second comes.
  const TileStretch* stretches;
  int stretch_count;
  /// Of each run: for each ẑ of its tile where the first value of the line ŷ = 0 would be, then where the run begins; the
  /// end of all behind the last. Counted modulo 2³²: vectors are shorter.
  const unsigned* line_zero;
  TileWindow window;
  const double* values;
  const double* x;
  const double* b;  // of sums that begin with one
  double* y;
  double* parts;  // of x·y, where it is asked for
  /// Of the first entries; of stencils with few these are all, known with the launch.
  static constexpr int few_entries = 7;
  EntryStep steps[few_entries];
  /// From one run of the table to the next.
  ECHELON_FN int table_columns() const { return vector.tiles.shape.z + 1; }
};

struct TileProductKernels {
  void (*line_zeros)(int device, const LayoutView& vector, std::int64_t runs, unsigned* line_zero);
  /// y = A x; y = A x and parts of x·y, as many as `parts` says, in an order that is always the same; r = b − A x with rows
  /// summed in twice the precision; y = row sums of |A|. Queued, not waited for.
  void (*product)(int device, const TileProductView& view);
  void (*product_and_dot)(int device, const TileProductView& view);
  std::int64_t (*parts)(const TileProductView& view);
  void (*careful_residual)(int device, const TileProductView& view);
  void (*row_sums)(int device, const TileProductView& view);
  /// y = b + A x
  void (*added)(int device, const TileProductView& view);
  /// to ← the values of one entry of scalar points, `padding` where there is no point.
  void (*entry)(int device, const TileProductView& from, int entry, double padding, double* to);
  /// The values of `from` (entries of the map, −1: zeros) as a matrix of the same points with more entries.
  void (*grow)(int device, const TileProductView& from, const int* source, int entries, double* to);
};

/// Null when the build has no CUDA.
const TileProductKernels* tile_product_kernels();

}  // namespace echelon
