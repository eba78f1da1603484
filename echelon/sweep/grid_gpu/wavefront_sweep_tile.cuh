// SPDX-License-Identifier: BSD-3-Clause
// What the roles of a sweeping block share: the tile it has taken, where its barriers and buffers are, and where lines are
// in the direction of the sweep.
#pragma once

#include "echelon/base/cuda/warp_barrier.cuh"
#include "echelon/sweep/grid_gpu/sweep_state.cuh"

namespace echelon::device {

struct RunHead {
  std::int64_t start;  // scalars of a vector
  int length, unused;
};
static_assert(sizeof(RunHead) == sweep_limits::run_head_bytes);

constexpr int warp_size = 32;
constexpr unsigned all_lanes = ~0u;
constexpr unsigned polls_before_sleep = 4, polls_a_look = 1024;

/// The block's shared memory, in bytes from its beginning.
namespace place {
constexpr int full = 0, empty = 128, border = 256, done = 512, tile = 768, epoch = 776;
}  // namespace place

/// What every role knows of its tile.
struct OwnTile {
  int number;
  Tile tile;
  std::int64_t first_run;
  int levels;
  Address base, history, ring;
  unsigned long long epoch;
  int slots;  // border lines that are published a level
};

/// Step (0 = the tile's first level in the direction of the sweep) of a line's first point.
__device__ __forceinline__ int first_step(const WavefrontSweepView& v, const OwnTile& own, int y, int z) {
  const Wavefront& front = v.vector.front;
  const int start = front.line_start(y, z);
  return v.lower ? start - own.tile.first_level : own.tile.first_level + own.levels - front.nx - start;
}

/// Line (yy, zz) of the tile counted in the direction of the sweep.
__device__ __forceinline__ int line_y(const WavefrontSweepView& v, const Tile& tile, int yy) {
  return v.lower ? tile.y + yy : tile.y + v.vector.tiles.shape.y - 1 - yy;
}
__device__ __forceinline__ int line_z(const WavefrontSweepView& v, const Tile& tile, int zz) {
  return v.lower ? tile.z + zz : tile.z + v.vector.tiles.shape.z - 1 - zz;
}

/// The block's tile, its barriers and an empty history; false when there is no tile left, which only a test brings about.
__device__ __forceinline__ bool take_tile(const WavefrontSweepView& v, unsigned char* memory, OwnTile& own) {
  const SweepBlock& plan = v.plan;
  own.base = shared_address(memory);
  own.history = own.base + sweep_limits::head_bytes;
  own.ring = own.history + (plan.history * plan.plane_bytes + 127) / 128 * 128;
  if (threadIdx.x == 0) {
    const int ticket = static_cast<int>(atomicAdd(&v.state->ticket, 1u));
    store(own.base + place::tile, v.lower ? ticket : v.vector.tiles.count - 1 - ticket);
    store(own.base + place::epoch, static_cast<std::int64_t>(*const_cast<volatile unsigned long long*>(&v.state->epoch)));
    for (int stage = 0; stage < plan.stages; ++stage) {
      barrier_init(own.base + place::full + 8 * stage, 1);
      warp_barrier_init(own.base + place::empty + 8 * stage, plan.warps);
    }
    for (int level = 0; level < plan.history; ++level) {
      if (plan.border_warps > 0) warp_barrier_init(own.base + place::border + 8 * level, plan.border_warps);
      warp_barrier_init(own.base + place::done + 8 * level, plan.warps);
    }
    barriers_are_ready();
  }
  for (int at = threadIdx.x * 4; at < plan.history * plan.plane_bytes; at += blockDim.x * 4) store(own.history + at, 0);
  __syncthreads();
  std::int64_t epoch;
  load(own.base + place::tile, own.number);
  load(own.base + place::epoch, epoch);
  own.epoch = static_cast<unsigned long long>(epoch);
  if (static_cast<unsigned>(own.number) >= static_cast<unsigned>(v.vector.tiles.count)) return false;
  own.tile = v.vector.tiles.tiles[own.number];
  own.levels = own.tile.levels;
  own.first_run = v.vector.first_run[own.number];
  own.slots = v.reach_z * v.vector.tiles.shape.y + v.reach_y * v.vector.tiles.shape.z;
  return true;
}

}  // namespace echelon::device
