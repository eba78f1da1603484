// SPDX-License-Identifier: BSD-3-Clause
// The computing warps of a sweeping block for a triangle that is known when the kernel is compiled: what SweepLines does, in
// fewer instructions. Between the end of one level and the end of the next stand only the wait, the loads of x,
// the fma's and the stores: coefficients are in registers by then.
#pragma once

#include "echelon/sweep/grid_gpu/wavefront_sweep_known.hpp"
#include "echelon/sweep/grid_gpu/wavefront_sweep_serve.cuh"

namespace echelon::device {

/// In a register from now on: the compiler would ask for it where it is needed, and wait.
__device__ __forceinline__ int kept(int value) {
  int result;
  asm volatile("mov.b32 %0, %1;" : "=r"(result) : "r"(value));
  return result;
}

/// Registers of a lane that coefficients should leave. With fewer many of U's kernels spilled, up to 1.2 times as slow.
constexpr int registers_beside = 56;

template <class K, bool Lower, class V, class S>
__device__ __forceinline__ void sweep_known_lines(const WavefrontSweepView& v, const OwnTile& own, int warp, int lane) {
  constexpr int B = K::block, M = K::lines_a_thread, NE = K::entries, G = K::groups, mask = K::history - 1;
  constexpr int vb = static_cast<int>(sizeof(V)), sb = static_cast<int>(sizeof(S)), lines_a_warp = warp_size / B;
  // Coefficients that registers hold while the last level is waited for: as many of the last entries as fit. Those before
  // come from the stage: two levels old before the wait, others after it.
  constexpr int registers_an_entry = B * M * (sb > 4 ? 2 : 1);
  constexpr int fit = (K::registers - registers_beside) / registers_an_entry - (Lower ? 0 : 1);
  constexpr int held = fit < 1 ? 1 : fit < NE ? fit : NE, held_from = NE - held;
  constexpr bool stage_is_free = held_from <= K::early;  // before the wait
  const int group = warp / K::warps, member = warp % K::warps, row = B == 1 ? 0 : lane % B;
  const int nx = kept(v.vector.front.nx), stages = kept(v.plan.stages), stage_bytes = kept(v.plan.stage_bytes);
  const int r_offset = kept(v.plan.r_offset), values_offset = kept(v.plan.values_offset);
  const Address border = own.base + place::border, done = own.base + place::done, full = own.base + place::full;
  int first[M], y[M], rank_at[M], word_y[M], word_z[M];
  bool alive[M];
  Address position[M];
#pragma unroll
  for (int m = 0; m < M; ++m) {
    const int line = (m * K::warps + member) * lines_a_warp + lane / B, yy = line % K::tile_y, zz = line / K::tile_y;
    const int z = line_z(v, own.tile, zz);
    y[m] = line_y(v, own.tile, yy);
    alive[m] = lane < lines_a_warp * B && zz < K::tile_z;
    const bool there = alive[m] && v.vector.front.has_line(y[m], z);
    first[m] = there ? first_step(v, own, y[m], z) : 1 << 30;
    rank_at[m] = static_cast<int>(sizeof(RunHead)) + (there ? 4 * (z - own.tile.z) : 0);
    position[m] =
        own.history +
        (alive[m] ? (zz + K::reach_z) * K::width + yy + K::reach_y : K::reach_z * K::width + K::reach_y) * (B * vb);
    const int from_y = yy - (K::tile_y - K::reach_y), from_z = zz - (K::tile_z - K::reach_z);
    word_y[m] = there && from_y >= 0 ? (K::reach_z * K::tile_y + from_y * K::tile_z + zz) * B : -1;
    word_z[m] = there && from_z >= 0 ? (from_z * K::tile_y + yy) * B : -1;
  }
  if constexpr (lines_a_warp % K::tile_y == 0) {  // whole rows a warp: the distances are constants
#pragma unroll
    for (int m = 1; m < M; ++m) {
      position[m] = position[0] + m * (K::warps * (lines_a_warp / K::tile_y) * K::width * B * vb);
      y[m] = y[0];
    }
  }
  const std::int64_t word_step = static_cast<std::int64_t>(Lower ? own.slots : -own.slots) * B;
  TaggedWord* words = static_cast<TaggedWord*>(v.words) + (own.first_run + (Lower ? 0 : own.levels - 1)) * own.slots * B +
                      row + group * word_step;
  V* const x = static_cast<V*>(v.x) + row;
  int slot = group % stages;
  unsigned phase = static_cast<unsigned>(group / stages) & 1;
  // Later groups have these behind them with the steps they wait for; they may also come too late to ask.
  for (int q = -K::deepest; q < 0 && group < 2; ++q) barrier_wait(border + 8 * (q & mask), 0);

  for (int s = group; s < own.levels; s += G) {
    const Address stage = own.ring + slot * stage_bytes;
    barrier_wait(full + 8 * slot, phase);
    std::int64_t start;
    int length, rank[M], at[M];
    bool on[M];
    load(stage, start);
    load(stage + 8, length);
#pragma unroll
    for (int m = 0; m < M; ++m) load(stage + rank_at[m], rank[m]);
    V sum[M];
    S coefficient[held][B][M], diagonal[B][M];
    Address c[M];  // of the entry after those that are loaded
    const int column = length * sb, entry_step = Lower ? B * column : -B * column;
#pragma unroll
    for (int m = 0; m < M; ++m) {
      on[m] = static_cast<unsigned>(s - first[m]) < static_cast<unsigned>(nx);
      at[m] = on[m] ? (rank[m] + y[m]) * B : 0;
      load(stage + r_offset + (at[m] + row) * vb, sum[m]);
      c[m] = stage + values_offset + (at[m] + row) * sb;
      // U is stored from the diagonal on and swept from its far end.
      if constexpr (!Lower) {
#pragma unroll
        for (int col = 0; col < B; ++col) load(c[m] + col * column, diagonal[col][m]);
        c[m] += NE * B * column;
      }
    }
    if constexpr (sb < vb) {
#pragma unroll
      for (int m = 0; m < M; ++m) sum[m] *= static_cast<V>(v.r_scale);
    }
    const auto load_entry = [&](S(&to)[B][M]) {
#pragma unroll
      for (int m = 0; m < M; ++m) {
#pragma unroll
        for (int col = 0; col < B; ++col) load(c[m] + col * column, to[col][m]);
        c[m] += entry_step;
      }
    };
    const auto load_x = [&](int q, V(&to)[B][M]) {
      const int h = ((s - K::behind(q)) & mask) * K::plane_bytes + K::at(q);
#pragma unroll
      for (int m = 0; m < M; ++m) {
        if constexpr (B % 2 == 0) {
#pragma unroll
          for (int col = 0; col < B; col += 2) load2(position[m] + h + col * vb, to[col][m], to[col + 1][m]);
        } else {
#pragma unroll
          for (int col = 0; col < B; ++col) load(position[m] + h + col * vb, to[col][m]);
        }
      }
    };
    const auto add = [&](const S(&values)[B][M], const V(&from)[B][M]) {
#pragma unroll
      for (int col = 0; col < B; ++col) {
#pragma unroll
        for (int m = 0; m < M; ++m) sum[m] = fma(-widened<V>(values[col][m]), from[col][m], sum[m]);
      }
    };
    const auto await = [&](int q) {
      if (q < 0) return;
      barrier_wait_both(border + 8 * (q & mask), static_cast<unsigned>((q + K::deepest) >> K::log_history) & 1,
                        done + 8 * (q & mask), static_cast<unsigned>(q >> K::log_history) & 1);
    };
    const auto add_from_stage = [&](int q) {
      S values[B][M];
      V from[B][M];
      load_entry(values);
      load_x(q, from);
      add(values, from);
    };
    const auto release = [&] {
      warp_arrives(full + (place::empty - place::full) + 8 * slot, lane);
      slot += G;
      if (slot >= stages) {
        slot -= stages;
        phase ^= 1;
      }
    };
    constexpr int early_from_stage = stage_is_free ? held_from : K::early;
    if constexpr (early_from_stage > 0) {
      await(s - 2);
#pragma unroll
      for (int q = 0; q < early_from_stage; ++q) add_from_stage(q);
    }
    if constexpr (!stage_is_free) {
#pragma unroll
      for (int m = 0; m < M; ++m) c[m] += (held_from - K::early) * entry_step;
    }
#pragma unroll
    for (int q = 0; q < held; ++q) load_entry(coefficient[q]);
    if constexpr (stage_is_free) release();
    if constexpr (stage_is_free && early_from_stage < K::early) {
      if constexpr (early_from_stage == 0) await(s - 2);
#pragma unroll
      for (int q = early_from_stage; q < K::early; ++q) {
        V from[B][M];
        load_x(q, from);
        add(coefficient[q - held_from], from);
      }
    }
    const int now = (s & mask) * K::plane_bytes + row * vb;
    const Address done_now = done + 8 * (s & mask);
    await(s - 1);
    if constexpr (!stage_is_free) {
#pragma unroll
      for (int m = 0; m < M; ++m) c[m] -= (NE - K::early) * entry_step;
#pragma unroll
      for (int q = K::early; q < held_from; ++q) add_from_stage(q);
      release();
    }
    // Several entries' loads under way at once, as many as registers allow.
    constexpr int late_from = stage_is_free ? K::early : held_from, room = B * M > 12 ? 1 : 12 / (B * M);
    constexpr int together = room < NE - late_from ? room : NE - late_from;
#pragma unroll
    for (int q0 = late_from; q0 < NE; q0 += together) {
      V from[together][B][M];
#pragma unroll
      for (int u = 0; u < together; ++u) {
        if (q0 + u < NE) load_x(q0 + u, from[u]);
      }
#pragma unroll
      for (int u = 0; u < together; ++u) {
        if (q0 + u < NE) add(coefficient[q0 + u - held_from], from[u]);
      }
    }
    if constexpr (!Lower) {
#pragma unroll
      for (int m = 0; m < M; ++m) {
        sum[m] = times_inverse<B>(sum[m], lane, row, [&](int col) { return widened<V>(diagonal[col][m]); });
      }
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
      if (B == 1 || alive[m]) store(position[m] + now, on[m] ? sum[m] : V(0));
    }
    warp_arrives(done_now, lane);
#pragma unroll
    for (int m = 0; m < M; ++m) {
      if (on[m] && word_y[m] >= 0) store_word(words + word_y[m], bits_of(sum[m]), own.epoch);
      if (on[m] && word_z[m] >= 0) store_word(words + word_z[m], bits_of(sum[m]), own.epoch);
    }
    words += word_step * G;
#pragma unroll
    for (int m = 0; m < M; ++m) {
      if (on[m]) x[start + at[m]] = sum[m];
    }
  }
}

template <class K, bool Lower, class V, class S>
__global__ void __launch_bounds__(K::threads, 1) known_sweep_kernel(const __grid_constant__ WavefrontSweepView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  constexpr int computing = K::warps * K::groups;
  OwnTile own;
  if (!take_tile(v, memory, own)) return finish_block(v);
  if (warp >= computing && warp < computing + v.plan.copiers) {
    copy_ahead<K::block, 1, V, S>(v, own, warp - computing, lane, [&](int) { return static_cast<const V*>(v.r); });
  } else if (warp > computing) {
    fetch_borders<K::block, V>(v, own, warp - computing - v.plan.copiers, lane);
  } else {
    sweep_known_lines<K, Lower, V, S>(v, own, warp, lane);
  }
  finish_block(v);
}

}  // namespace echelon::device
