// SPDX-License-Identifier: BSD-3-Clause
// Where the lanes of a sweeping block stand, the same for one vector and for K that are swept together: the lines a
// computing lane keeps and what it waits for, and a lane's place on the border of the tile.
#pragma once

#include "echelon/sweep/grid_gpu/wavefront_sweep_tile.cuh"

namespace echelon::device {

/// One lane's place on the border: lines before the tile in the direction of the sweep, of K vectors.
template <int B, int K, class V>
struct BorderPlace {
  bool inside;                       // the border has such a place
  const TaggedWord* word = nullptr;  // of the tile's first level
  int first = 1 << 30, other = -1;   // step of the line's first point, the tile that publishes it
  Address at;                        // in the first plane of the history
  std::int64_t step;                 // words from level to level

  __device__ __forceinline__ BorderPlace(const WavefrontSweepView& v, const OwnTile& own, int q) : at(own.history) {
    const TileView& tiles = v.vector.tiles;
    const int ty = tiles.shape.y, tz = tiles.shape.z, ry = v.reach_y, rz = v.reach_z, width = ty + ry;
    inside = q < ((tz + rz) * width - ty * tz) * B;
    step = static_cast<std::int64_t>(v.lower ? own.slots : -own.slots) * (B * K);
    if (!inside) return;
    const int line = q / B, row = q % B;
    const bool below = line < rz * width;
    const int zz = below ? line / width - rz : (line - rz * width) / ry;
    const int yy = below ? line % width - ry : (line - rz * width) % ry - ry;
    const int y = line_y(v, own.tile, yy), z = line_z(v, own.tile, zz);
    at = own.history + (((zz + rz) * width + yy + ry) * B + row) * static_cast<int>(sizeof(V));
    if ((yy < 0 && zz < 0 && !v.corner) || y < 0 || z < 0 || !v.vector.front.has_line(y, z)) return;
    first = first_step(v, own, y, z);
    other = tiles.tile_of_line(y, z);
    const int slot = zz < 0 ? (zz + rz) * ty + (yy < 0 ? yy + ty : yy) : rz * ty + (yy + ry) * tz + zz;
    const int level = v.lower ? own.tile.first_level : own.tile.first_level + own.levels - 1;
    word = static_cast<const TaggedWord*>(v.words) +
           (v.vector.first_run[other] + level - tiles.tiles[other].first_level) * own.slots * (B * K) + slot * B + row;
  }
};

/// A row of D⁻¹, whose column c is inverse(c), times the sums of its block, which are in the block's lanes. All lanes.
template <int B, class V, class Inverse>
__device__ __forceinline__ V times_inverse(V sum, int lane, int row, const Inverse& inverse) {
  V result = 0;
#pragma unroll
  for (int col = 0; col < B; ++col) {
    const V w = B == 1 ? sum : __shfl_sync(all_lanes, sum, lane - row + col);
    result = col == 0 ? inverse(0) * w : fma(inverse(col), w, result);
  }
  return result;
}

/// The lines that a computing lane keeps from the first level to the last, of K vectors, and its place in the ring.
template <int B, int M, int K, class V>
struct LaneLines {
  static constexpr int lines_a_warp = warp_size / B;
  const WavefrontSweepView& v;
  const OwnTile& own;
  const int lane, row, group, mask;
  int first[M], rank_at[M], y[M], at[M];
  Address position[M];
  TaggedWord* words;         // of this step's run
  int word_y[M], word_z[M];  // where in it a neighbouring tile reads the line; −1: none does
  bool alive[M], on[M];
  std::int64_t start = 0, word_step;
  int length = 0, slot, s = 0;
  unsigned phase;

  __device__ __forceinline__ LaneLines(const WavefrontSweepView& view, const OwnTile& tile, int warp, int lane_)
      : v(view),
        own(tile),
        lane(lane_),
        row(B == 1 ? 0 : lane_ % B),
        group(warp / view.plan.warps),
        mask(view.plan.history - 1) {
    const TileShape shape = v.vector.tiles.shape;
    const int member = warp % v.plan.warps, width = shape.y + v.reach_y;
    word_step = static_cast<std::int64_t>(v.lower ? own.slots : -own.slots) * (B * K);
    slot = group * v.plan.pieces % v.plan.stages;
    phase = static_cast<unsigned>(group * v.plan.pieces / v.plan.stages) & 1;
    words = static_cast<TaggedWord*>(v.words) + (own.first_run + (v.lower ? 0 : own.levels - 1)) * own.slots * (B * K) +
            row + group * word_step;
#pragma unroll
    for (int m = 0; m < M; ++m) {
      const int line = (m * v.plan.warps + member) * lines_a_warp + lane / B;
      const int yy = line % shape.y, zz = line / shape.y;
      const int z = line_z(v, own.tile, zz);
      y[m] = line_y(v, own.tile, yy);
      alive[m] = lane < lines_a_warp * B && zz < shape.z;
      const bool there = alive[m] && v.vector.front.has_line(y[m], z);
      first[m] = there ? first_step(v, own, y[m], z) : 1 << 30;
      rank_at[m] = static_cast<int>(sizeof(RunHead)) + (there ? (z - own.tile.z) * 4 : 0);
      const int place_ = alive[m] ? (zz + v.reach_z) * width + yy + v.reach_y : v.reach_z * width + v.reach_y;
      position[m] = own.history + place_ * B * static_cast<int>(sizeof(V));
      const int from_y = yy - (shape.y - v.reach_y), from_z = zz - (shape.z - v.reach_z);
      word_y[m] = there && from_y >= 0 ? (v.reach_z * shape.y + from_y * shape.z + zz) * B : -1;
      word_z[m] = there && from_z >= 0 ? (from_z * shape.y + yy) * B : -1;
    }
  }

  __device__ __forceinline__ Address stage() const { return own.ring + slot * v.plan.stage_bytes; }
  __device__ __forceinline__ void await_stage() const { barrier_wait(own.base + place::full + 8 * slot, phase); }
  __device__ __forceinline__ void release_stage() const { warp_arrives(own.base + place::empty + 8 * slot, lane); }
  __device__ __forceinline__ void advance(int by) {
    slot += by;
    while (slot >= v.plan.stages) {
      slot -= v.plan.stages;
      phase ^= 1;
    }
  }
  /// Step q of the tile and of its borders are complete.
  __device__ __forceinline__ void await_step(int q) const {
    if (q >= -v.deepest && v.plan.border_warps > 0) {
      barrier_wait(own.base + place::border + 8 * (q & mask), static_cast<unsigned>((q + v.deepest) >> v.log_history) & 1);
    }
    if (q >= 0) barrier_wait(own.base + place::done + 8 * (q & mask), static_cast<unsigned>(q >> v.log_history) & 1);
  }
  /// Before the first step: the borders of the steps before it. Later groups have these behind them with the steps they wait
  /// for; they may also come too late to ask.
  __device__ __forceinline__ void await_first_borders() const {
    for (int q = -v.deepest; q < 0 && v.plan.border_warps > 0 && group < 2; ++q) {
      barrier_wait(own.base + place::border + 8 * (q & mask), 0);
    }
  }
  /// Where this level's points are in the stage.
  __device__ __forceinline__ void find_points() {
    const Address here = stage();
    int rank[M];
    load(here, start);
    load(here + 8, length);
#pragma unroll
    for (int m = 0; m < M; ++m) load(here + rank_at[m], rank[m]);
#pragma unroll
    for (int m = 0; m < M; ++m) {
      on[m] = static_cast<unsigned>(s - first[m]) < static_cast<unsigned>(v.vector.front.nx);
      at[m] = on[m] ? (rank[m] + y[m]) * B : 0;
    }
  }
  __device__ __forceinline__ int history_of(int q) const {
    const HistoryPlace from = v.place[q];
    return ((s - from.behind) & mask) * v.plan.plane_bytes + from.at;
  }
};

}  // namespace echelon::device
