// SPDX-License-Identifier: BSD-3-Clause
// Products with a matrix in tile order (tile_order.hpp) as their kernels see them, and the table of launches that host code
// calls. Pointers are those of the place where the order lives.
#pragma once

#include <cstdint>

#include "echelon/matrix/layout_view.hpp"

namespace echelon {

/// Where an entry's neighbour is: in the grid, and in lines and levels of the wavefront.
struct TileNeighbour {
  int x, y, z;
  int line_y, line_z, level;
  int far;  // 1: may lie beyond the tiles next to the own one
};

struct TileProductView {
  LayoutView vector;
  const TileNeighbour* neighbours;  // an entry each
  int entries, block;
  int longest;        // levels of the longest tile
  std::int64_t runs;  // (tile, level) pairs
  /// Of each run and each ẑ of its tile: where the first value of the line ŷ = 0 would be.
  const std::int64_t* line_zero;
  const double* values;
  const double* x;
  const double* b;  // of the residual
  double* y;
};

struct TileProductKernels {
  void (*line_zeros)(int device, const LayoutView& vector, std::int64_t* line_zero);
  /// y = A x; r = b − A x with rows summed in twice the precision; y = row sums of |A|. Queued, not waited for.
  void (*product)(int device, const TileProductView& view);
  void (*careful_residual)(int device, const TileProductView& view);
  void (*row_sums)(int device, const TileProductView& view);
  /// The values of `from` (entries of the map, −1: zeros) as a matrix of the same points with more entries.
  void (*grow)(int device, const TileProductView& from, const int* source, int entries, double* to);
};

/// Null when the build has no CUDA.
const TileProductKernels* tile_product_kernels();

}  // namespace echelon
