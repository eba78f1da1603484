// SPDX-License-Identifier: BSD-3-Clause
// The exact sweep of wavefront_sweep.cuh on K vectors that share the coefficients' way through memory: each vector's sums in
// its own order, so each has the bits of a sweep alone. Bytes a point: held entries · 8 b², and 16 b a vector. Roles, waits
// and what makes reads safe are those of wavefront_sweep.cuh; a lane has its line (and row) of all K vectors, publishes K
// words for it, and a border's lane asks for K.
#pragma once

#include "echelon/sweep/wavefront_many_view.hpp"
#include "echelon/sweep/wavefront_sweep_tile.cuh"

namespace echelon::device {

/// Copies run after run into the ring: the record, the vectors' r and the first piece of a level, then its other pieces.
template <int B, int K>
__device__ __forceinline__ void copy_many_ahead(const WavefrontManyView& many, const OwnTile& own, int lane) {
  const WavefrontSweepView& v = many.sweep;
  const SweepBlock& plan = v.plan;
  const int n = own.levels, direction = v.lower ? 1 : -1;
  const std::int64_t run = own.first_run + (v.lower ? 0 : n - 1);
  const std::int64_t* starts = v.vector.run_start + run;
  const std::uint8_t* record = v.records + run * plan.record_bytes;
  const auto* values = static_cast<const double*>(v.values);
  const int unit = v.matrix.entries.count() * B;
  int slot = 0;
  unsigned phase = 1;
  const auto start_of = [&](int s, int more) { return __ldg(starts + direction * min(s, n - 1) + more); };
  std::int64_t next_start = start_of(lane, 0);
  int next_length = static_cast<int>(start_of(lane, 1) - next_start);
  for (int s0 = 0; s0 < n; s0 += warp_size) {
    store(own.base + place::starts + lane * 8, next_start);
    store(own.base + place::lengths + lane * 4, next_length);
    next_start = start_of(s0 + warp_size + lane, 0);
    next_length = static_cast<int>(start_of(s0 + warp_size + lane, 1) - next_start);
    __syncwarp();
    if (lane == 0) {
      for (int s = s0; s < min(n, s0 + warp_size); ++s) {
        std::int64_t start;
        int length;
        load(own.base + place::starts + (s - s0) * 8, start);
        load(own.base + place::lengths + (s - s0) * 4, length);
        const double* from = values + start * unit + std::int64_t{v.first_entry} * B * length;
        const unsigned r_bytes = static_cast<unsigned>(length) * 8;
        for (int p = 0; p < plan.pieces; ++p) {
          const int q0 = p * plan.entries_a_stage, q1 = min(v.held, q0 + plan.entries_a_stage);
          const int e0 = v.lower ? q0 : v.held - q1;
          const Address to = own.ring + slot * plan.stage_bytes, barrier = own.base + place::full + 8 * slot;
          const unsigned bytes = static_cast<unsigned>((q1 - q0) * B * length * 8);
          barrier_wait_idle(own.base + place::empty + 8 * slot, phase);
          barrier_expect(barrier, bytes + (p == 0 ? K * r_bytes + static_cast<unsigned>(plan.record_bytes) : 0));
          if (p == 0) {
            bulk_copy(to, record + std::int64_t{direction} * s * plan.record_bytes, static_cast<unsigned>(plan.record_bytes),
                      barrier);
            for (int k = 0; k < K; ++k) {
              bulk_copy(to + plan.r_offset + static_cast<unsigned>(k) * r_bytes, many.r[k] + start, r_bytes, barrier);
            }
          }
          if (bytes > 0) bulk_copy(to + plan.values_offset, from + std::int64_t{e0} * B * length, bytes, barrier);
          if (++slot == plan.stages) {
            slot = 0;
            phase ^= 1;
          }
        }
      }
    }
    __syncwarp();
  }
}

/// A lane owns a place of the border in all vectors; groups of warps take the steps in turn.
template <int B, int K>
__device__ __forceinline__ void fetch_many_borders(const WavefrontManyView& many, const OwnTile& own, int warp, int lane) {
  const WavefrontSweepView& v = many.sweep;
  const SweepBlock& plan = v.plan;
  const TileView& tiles = v.vector.tiles;
  const Wavefront& front = v.vector.front;
  const int ty = tiles.shape.y, tz = tiles.shape.z, ry = v.reach_y, rz = v.reach_z, width = ty + ry;
  const int count = ((tz + rz) * width - ty * tz) * B, q = warp % plan.border_warps * warp_size + lane;
  const int mask = plan.history - 1, n = own.levels, a_vector = own.slots * B;
  const TaggedWord* word = nullptr;
  int first = 1 << 30, other = -1;
  Address at = own.history;
  if (q < count) {
    const int line = q / B, row = q % B;
    const bool below = line < rz * width;
    const int zz = below ? line / width - rz : (line - rz * width) / ry;
    const int yy = below ? line % width - ry : (line - rz * width) % ry - ry;
    const int y = line_y(v, own.tile, yy), z = line_z(v, own.tile, zz);
    at = own.history + (((zz + rz) * width + yy + ry) * B + row) * 8;
    if ((yy >= 0 || zz >= 0 || v.corner) && y >= 0 && z >= 0 && front.has_line(y, z)) {
      first = first_step(v, own, y, z);
      other = tiles.tile_of_line(y, z);
      const int slot = zz < 0 ? (zz + rz) * ty + (yy < 0 ? yy + ty : yy) : rz * ty + (yy + ry) * tz + zz;
      const int level = v.lower ? own.tile.first_level : own.tile.first_level + n - 1;
      word = static_cast<const TaggedWord*>(v.words) +
             (v.vector.first_run[other] + level - tiles.tiles[other].first_level) * a_vector * K + slot * B + row;
    }
  }
  const std::int64_t step = static_cast<std::int64_t>(v.lower ? a_vector : -a_vector) * K;
  for (int s = warp / plan.border_warps - v.deepest; s < n - 1; s += plan.border_groups) {
    double value[K] = {};
    bool here = static_cast<unsigned>(s - first) >= static_cast<unsigned>(front.nx);
    unsigned polls = 0;
    unsigned long long begun = 0;
    for (;;) {
      if (!here) {
        unsigned __int128 found[K];
#pragma unroll
        for (int k = 0; k < K; ++k) found[k] = load_word(word + s * step + k * a_vector);
        here = true;
#pragma unroll
        for (int k = 0; k < K; ++k) here = here && tag_of(found[k]) == own.epoch;
#pragma unroll
        for (int k = 0; k < K; ++k) from_bits(value_of(found[k]), value[k]);
      }
      if (__all_sync(all_lanes, here)) break;
      if (++polls == 1) begun = nanoseconds();
      if (polls >= polls_before_sleep) __nanosleep(static_cast<unsigned>(plan.poll_sleep));
      if (!here && polls % polls_a_look == 0 && give_up(v.state, begun, {own.number, other, v.lower})) here = true;
    }
    // One step after the last that reads what this overwrites: a wait two steps back would be ambiguous.
    const int last = s - plan.history + v.deepest + 1;
    if (last >= 0) {
      barrier_wait_idle(own.base + place::done + 8 * (last & mask), static_cast<unsigned>(last >> v.log_history) & 1);
    }
    if (q < count) {
#pragma unroll
      for (int k = 0; k < K; ++k) store(at + (s & mask) * plan.plane_bytes + k * (plan.plane_bytes / K), value[k]);
    }
    warp_arrives(own.base + place::border + 8 * (s & mask), lane);
  }
}

}  // namespace echelon::device
