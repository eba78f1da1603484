// SPDX-License-Identifier: BSD-3-Clause
// What the GPU's sweep kernels are given: one triangle of a matrix in tile order (stencil/tile_order.hpp), vectors in tile
// order, and the plan of a block (wavefront_plan.hpp). Pointers are the device's.
#pragma once

#include <cstdint>

#include "echelon/base/stored.hpp"
#include "echelon/stencil/layout_view.hpp"
#include "echelon/sweep/grid_gpu/wavefront_plan.hpp"

namespace echelon {

/// Kept on the device between launches. The last block of a launch turns it for the next one, so that nothing has to be
/// cleared, also when a captured graph is launched again.
struct SweepState {
  unsigned ticket = 0, finished = 0;
  unsigned long long epoch = 1;  // tags the values of this launch; memory of words begins as 0
  /// The watchdog: in the upper half the earliest tile (in ticket order; an upper sweep's has its bits turned) that some
  /// tile, the lower half, waited for too long.
  static constexpr unsigned long long no_wait = ~0ull;
  unsigned long long first_wait = no_wait;
  unsigned long long patience = 0;  // nanoseconds
};

/// Where a block finds one neighbour: bytes from the own place in a plane of the history, levels behind.
struct HistoryPlace {
  int at, behind;
};

struct WavefrontSweepView {
  LayoutView matrix, vector;
  const std::uint8_t* records = nullptr;  // of each run: its start, its length, the rank of line ŷ = 0 of each ẑ
  const void* values = nullptr;
  const void* r = nullptr;
  void* x = nullptr;  // may be r
  void* words = nullptr;
  SweepState* state = nullptr;
  double r_scale = 1;  // L with narrow storage takes r times this
  bool lower = true;
  int dof = 1, count = 0;         // entries without the diagonal
  int first_entry = 0, held = 0;  // what a run is read of: the lower entries; or the diagonal and the upper ones
  int reach_y = 0, reach_z = 0, deepest = 1, early = 0;
  bool corner = false;
  int log_history = 0;
  bool pipelined = false;
  SweepBlock plan;
  HistoryPlace place[sweep_limits::entries] = {};
  // What the plain kernel takes: the entries in sweep order, and the tiles before the own one that its lines reach.
  Offset offset[sweep_limits::plain_entries] = {};
  std::int16_t entry[sweep_limits::plain_entries] = {};
  int tile_reaches = 0;
  TileReach tile_reach[sweep_limits::tile_reaches] = {};
};

/// Bytes a neighbouring tile reads of a run: a word a border line and component.
inline std::int64_t words_a_run(int reach_y, int reach_z, TileShape tile, int dof) {
  return (std::int64_t{reach_z} * tile.y + std::int64_t{reach_y} * tile.z) * dof;
}

struct WavefrontSweepBackend {
  /// The records of all runs, `record_bytes` each.
  void (*make_records)(int device, const LayoutView& vector, int record_bytes, std::uint8_t* records);
  /// Asynchronous. `vector_bytes` 8 or 4; throws Error(device) when the launch fails.
  void (*launch)(int device, const WavefrontSweepView& view, int vector_bytes, Stored stored);
  /// Whether a kernel is compiled for just this triangle and plan.
  bool (*known)(const WavefrontSweepView& view, int vector_bytes, Stored stored);
};
/// Null when the build has no CUDA.
const WavefrontSweepBackend* wavefront_sweep_backend();

}  // namespace echelon
