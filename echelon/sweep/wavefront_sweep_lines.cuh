// SPDX-License-Identifier: BSD-3-Clause
// The computing warps of a sweeping block: x of one level from r, the coefficients in the ring and the history of x, by fma
// in the order of the sequential sweep. A lane keeps its lines (and its row of the block) from the first level to the last.
#pragma once

#include "echelon/sweep/wavefront_sweep_tile.cuh"

namespace echelon::device {

/// Computing warps. NE: entries without the diagonal, known when the kernel is compiled and all in one stage; 0: any number,
/// in pieces.
template <int B, int M, int NE, class V, class S>
struct SweepLines {
  static constexpr int lines_a_warp = warp_size / B;
  const WavefrontSweepView& v;
  const OwnTile& own;
  const int lane, row, group, mask;
  int first[M], rank_at[M], y[M], at[M];
  Address position[M];
  TaggedWord* words;         // of this step's run
  int word_y[M], word_z[M];  // where in it a neighbouring tile reads the line; −1: none does
  bool alive[M], on[M];
  V sum[M];
  std::int64_t start = 0, word_step;
  int length = 0, slot, s = 0;
  unsigned phase;

  __device__ __forceinline__ SweepLines(const WavefrontSweepView& view, const OwnTile& tile, int warp, int lane_)
      : v(view),
        own(tile),
        lane(lane_),
        row(B == 1 ? 0 : lane_ % B),
        group(warp / view.plan.warps),
        mask(view.plan.history - 1) {
    const TileShape shape = v.vector.tiles.shape;
    const int member = warp % v.plan.warps, width = shape.y + v.reach_y;
    word_step = static_cast<std::int64_t>(v.lower ? own.slots : -own.slots) * B;
    slot = group * v.plan.pieces % v.plan.stages;
    phase = static_cast<unsigned>(group * v.plan.pieces / v.plan.stages) & 1;
    words = static_cast<TaggedWord*>(v.words) + (own.first_run + (v.lower ? 0 : own.levels - 1)) * own.slots * B + row +
            group * word_step;
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
  /// Where this level's points are in the stage, and their r.
  __device__ __forceinline__ void begin() {
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
#pragma unroll
    for (int m = 0; m < M; ++m) load(here + v.plan.r_offset + (at[m] + row) * static_cast<int>(sizeof(V)), sum[m]);
    if constexpr (sizeof(S) < sizeof(V)) {
#pragma unroll
      for (int m = 0; m < M; ++m) sum[m] *= static_cast<V>(v.r_scale);
    }
  }
  __device__ __forceinline__ int history_of(int q) const {
    const HistoryPlace from = v.place[q];
    return ((s - from.behind) & mask) * v.plan.plane_bytes + from.at;
  }
  __device__ __forceinline__ void finish() {
    const int now = (s & mask) * v.plan.plane_bytes + row * static_cast<int>(sizeof(V));
#pragma unroll
    for (int m = 0; m < M; ++m) {
      if (alive[m]) store(position[m] + now, on[m] ? sum[m] : V(0));
    }
    warp_arrives(own.base + place::done + 8 * (s & mask), lane);
#pragma unroll
    for (int m = 0; m < M; ++m) {
      if (word_y[m] >= 0 && on[m]) store_word(words + word_y[m], bits_of(sum[m]), own.epoch);
      if (word_z[m] >= 0 && on[m]) store_word(words + word_z[m], bits_of(sum[m]), own.epoch);
    }
    words += word_step * v.plan.groups;
    V* x = static_cast<V*>(v.x) + start + row;
#pragma unroll
    for (int m = 0; m < M; ++m) {
      if (on[m]) x[at[m]] = sum[m];
    }
  }
  __device__ __forceinline__ void run_whole();
  __device__ __forceinline__ void run_pieces();
};

/// Scalars, all entries in one stage: coefficients into registers first, then the stage is free again.
template <int B, int M, int NE, class V, class S>
__device__ __forceinline__ void SweepLines<B, M, NE, V, S>::run_whole() {
  constexpr int chunk = M > 2 ? 3 : M == 2 ? 4 : 7;
  for (s = group; s < own.levels; s += v.plan.groups) {
    S coefficient[NE][M], diagonal[M];
    await_stage();
    begin();
    const int column = length * static_cast<int>(sizeof(S));
    Address c[M];
#pragma unroll
    for (int m = 0; m < M; ++m) {
      const Address base = stage() + v.plan.values_offset + at[m] * static_cast<int>(sizeof(S));
      if (!v.lower) load(base, diagonal[m]);
      c[m] = base + (v.lower ? 0 : NE * column);
    }
#pragma unroll
    for (int q = 0; q < NE; ++q) {
#pragma unroll
      for (int m = 0; m < M; ++m) {
        load(c[m], coefficient[q][m]);
        c[m] += v.lower ? column : -column;
      }
    }
    release_stage();
    advance(v.plan.groups);
    bool ready = false;
    await_step(s - 2);
#pragma unroll
    for (int q0 = 0; q0 < NE; q0 += chunk) {
      V from[chunk][M];
      if (!ready && min(NE, q0 + chunk) > v.early) {
        await_step(s - 1);
        ready = true;
      }
#pragma unroll
      for (int u = 0; u < chunk; ++u) {
        if (q0 + u >= NE) continue;
        const int h = history_of(q0 + u);
#pragma unroll
        for (int m = 0; m < M; ++m) load(position[m] + h, from[u][m]);
      }
#pragma unroll
      for (int u = 0; u < chunk; ++u) {
        if (q0 + u >= NE) continue;
#pragma unroll
        for (int m = 0; m < M; ++m) sum[m] = fma(-widened<V>(coefficient[q0 + u][m]), from[u][m], sum[m]);
      }
    }
    if (!ready) await_step(s - 1);
    if (!v.lower) {
#pragma unroll
      for (int m = 0; m < M; ++m) sum[m] = widened<V>(diagonal[m]) * sum[m];
    }
    finish();
  }
}

/// Blocks, or any number of entries: piece by piece, several entries' loads under way at once.
template <int B, int M, int NE, class V, class S>
__device__ __forceinline__ void SweepLines<B, M, NE, V, S>::run_pieces() {
  constexpr int together = B * M >= 16 ? 1 : B * M >= 8 ? 2 : B * M >= 4 ? 3 : 4;
  for (s = group; s < own.levels; s += v.plan.groups) {
    V diagonal[M][B];
    bool ready = false;
    for (int p = 0; p < v.plan.pieces; ++p) {
      const int q0 = p * v.plan.entries_a_stage, q1 = min(v.held, q0 + v.plan.entries_a_stage);
      await_stage();
      if (p == 0) {
        begin();
        await_step(s - 2);
      }
      const int column = length * static_cast<int>(sizeof(S)), entry_step = (v.lower ? B : -B) * column;
      const Address c0 =
          stage() + v.plan.values_offset + row * static_cast<int>(sizeof(S)) + (v.lower ? 0 : (q1 - q0 - 1) * B * column);
      const int last = min(q1, v.count);
      const auto some = [&]<int N>(int q) {
        S coefficient[N][B][M];
        V from[N][B][M];
        if (!ready && q + N > v.early) {
          await_step(s - 1);
          ready = true;
        }
#pragma unroll
        for (int u = 0; u < N; ++u) {
          const int h = history_of(q + u);
#pragma unroll
          for (int m = 0; m < M; ++m) {
            Address c = c0 + (q + u - q0) * entry_step + at[m] * static_cast<int>(sizeof(S));
#pragma unroll
            for (int col = 0; col < B; ++col) {
              load(c, coefficient[u][col][m]);
              c += column;
            }
            if constexpr (B % 2 == 0) {
#pragma unroll
              for (int col = 0; col < B; col += 2) {
                load2(position[m] + h + col * static_cast<int>(sizeof(V)), from[u][col][m], from[u][col + 1][m]);
              }
            } else {
#pragma unroll
              for (int col = 0; col < B; ++col) load(position[m] + h + col * static_cast<int>(sizeof(V)), from[u][col][m]);
            }
          }
        }
#pragma unroll
        for (int u = 0; u < N; ++u) {
#pragma unroll
          for (int col = 0; col < B; ++col) {
#pragma unroll
            for (int m = 0; m < M; ++m) sum[m] = fma(-widened<V>(coefficient[u][col][m]), from[u][col][m], sum[m]);
          }
        }
      };
      int q = q0;
      for (; q + together <= last; q += together) some.template operator()<together>(q);
      for (; q < last; ++q) some.template operator()<1>(q);
      if (!v.lower && q1 == v.held) {
#pragma unroll
        for (int m = 0; m < M; ++m) {
          Address c = c0 + (v.count - q0) * entry_step + at[m] * static_cast<int>(sizeof(S));
#pragma unroll
          for (int col = 0; col < B; ++col) {
            S value;
            load(c, value);
            diagonal[m][col] = widened<V>(value);
            c += column;
          }
        }
      }
      release_stage();
      advance(1);
    }
    advance((v.plan.groups - 1) * v.plan.pieces);
    if (!ready) await_step(s - 1);
    if (!v.lower) {
#pragma unroll
      for (int m = 0; m < M; ++m) {
        V result = 0;
#pragma unroll
        for (int col = 0; col < B; ++col) {
          const V w = B == 1 ? sum[m] : __shfl_sync(all_lanes, sum[m], lane - row + col);
          result = col == 0 ? diagonal[m][0] * w : fma(diagonal[m][col], w, result);
        }
        sum[m] = result;
      }
    }
    finish();
  }
}

}  // namespace echelon::device
