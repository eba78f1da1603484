// SPDX-License-Identifier: BSD-3-Clause
// How a GPU block runs the sweep of one tile: how many lines a tile has, and what the block's shared memory holds.
//   [barriers | history of x: H levels × lines with their border | ring of stages: record, r, coefficients of one piece]
// A piece is some entries of one level; a stage holds one. Warps: groups of computing ones that take the levels in turn,
// one or two that copy ahead, and groups of those that fetch the borders from neighbouring tiles. Pure arithmetic, no device
// needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "echelon/stencil/stencil.hpp"
#include "echelon/stencil/sweep_tile_shape.hpp"
#include "echelon/stencil/tiles.hpp"

namespace echelon {

/// One entry of the triangle as the sweep meets it: the neighbour's line is dy, dz before the own one (both ≥ 0, in the
/// direction of the sweep), its value `behind` ≥ 1 levels old.
struct SweepNeighbour {
  int entry, dy, dz, behind;
};

/// One triangle in sweep order, the farthest entry first. An entry that reaches from no point of the grid to another has
/// only zeros as coefficients and stands as (0, 0, 1).
struct SweepTriangle {
  Triangle triangle = Triangle::lower;
  std::vector<SweepNeighbour> neighbours;
  int reach_y = 0, reach_z = 0, deepest = 1;
  bool corner = false;  // some neighbour is before in both directions
  /// Entries before this one are at least two levels old.
  int early = 0;
};
SweepTriangle sweep_triangle(const Wavefront& front, const Stencil& stencil, Triangle triangle);

/// A tile so many tiles before the own one, in the direction of the sweep, that some line of it reaches.
struct TileReach {
  int dy, dz;
};
std::vector<TileReach> tile_reaches(const SweepTriangle& triangle, TileShape tile);

/// What may be tuned; 0 leaves it to the plan.
struct SweepTuning {
  int lines_a_thread = 0, history = 0, stages = 0, entries_a_stage = 0, groups = 0, border_groups = 0, poll_sleep = 0;
  bool plain = false;  // level by level from global memory, no ring
  int copiers = 0;
};

/// The numbers the kernel takes.
struct SweepBlock {
  int lines_a_thread = 1, history = 2, stages = 2, entries_a_stage = 1, groups = 1, border_groups = 1;
  int pieces = 1, warps = 1, border_warps = 1, threads = 32;  // warps of one group each
  int record_bytes = 16, r_offset = 0, values_offset = 0, stage_bytes = 0, plane_bytes = 0;
  int copiers = 1;       // warps that fill the ring
  int poll_sleep = 100;  // nanoseconds between looks at a border's word
  std::int64_t shared_bytes = 0;
};

/// What plans take where nothing else is asked for: scalars have short levels, whose filling takes two warps, and whose
/// borders are asked for by more.
constexpr int usual_copiers(int dof) { return dof == 1 ? 2 : 1; }
constexpr int usual_border_groups(int dof) { return dof == 1 ? 5 : 3; }

/// Whether so many copying warps, which take the levels in turn, can tell an empty stage from one that was not even read the
/// time before: a barrier says only whether an even or an odd number of its phases is over. Either a stage is always filled
/// by the same warp, which has seen all its phases, or the ring is so long that what a warp waited for last lets it know.
constexpr bool copiers_can_tell(int copiers, int groups, int pieces, int stages) {
  return stages % (copiers * pieces) == 0 || copiers == 1 || stages >= (copiers + groups) * pieces;
}

struct WavefrontPlan : SweepBlock {
  bool pipelined = false;  // false: no room, or a shape without such a kernel; the plain kernel runs
  std::string why_not;
};

struct SweepSizes {
  int dof = 1, vector_bytes = 8, stored_bytes = 8;
};

/// `tile`: as the schedule has it, after it was cut to the grid.
WavefrontPlan wavefront_plan(const SweepTriangle& triangle, TileShape tile, const SweepSizes& sizes,
                             const SweepTuning& wish = {});

namespace sweep_limits {
inline constexpr int entries = 64, stages = 16, history = 32;
inline constexpr int plain_entries = 192, tile_reaches = 64;
inline constexpr std::int64_t shared_bytes = 227 * 1024;
inline constexpr int head_bytes = 896;  // barriers, the tile's number, the launch's epoch
inline constexpr int run_head_bytes = 16;
/// Of a block. The kernels for any triangle are compiled for so many, which leaves 96 registers to each.
inline constexpr int threads = 640, registers = 65536;
}  // namespace sweep_limits

}  // namespace echelon
