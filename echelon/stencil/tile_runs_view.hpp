// SPDX-License-Identifier: BSD-3-Clause
// Where the runs of a tile order begin (tile_order.hpp), made on the GPU that needs it: the table has a number for each
// level of each tile, and only the tiles' own beginnings are sent there.
#pragma once

#include <cstdint>

#include "echelon/stencil/layout_view.hpp"

namespace echelon {

struct TileRunKernels {
  /// Of a vector whose `run_start` is not there yet; runs are padded to whole multiples of `unit` scalars. `tile_start` has
  /// the end of all behind the last tile's. Queued, not waited for.
  void (*run_starts)(int device, const LayoutView& vector, int unit, const std::int64_t* tile_start,
                     std::int64_t* run_start);
  /// to[n] = factor · from[n], queued.
  void (*stretched)(int device, const std::int64_t* from, std::int64_t count, std::int64_t factor, std::int64_t* to);
};

/// Null when the build has no CUDA.
const TileRunKernels* tile_run_kernels();

}  // namespace echelon
