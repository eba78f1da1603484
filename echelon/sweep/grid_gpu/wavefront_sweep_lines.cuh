// SPDX-License-Identifier: BSD-3-Clause
// The computing warps of a sweeping block: x of one level from r, the coefficients in the ring and the history of x, by fma
// in the order of the sequential sweep. A lane keeps its lines (and its row of the block) from the first level to the last.
#pragma once

#include "echelon/sweep/grid_gpu/wavefront_sweep_places.cuh"

namespace echelon::device {

/// Computing warps; any number of entries, in pieces.
template <int B, int M, class V, class S>
struct SweepLines : LaneLines<B, M, 1, V> {
  using Lines = LaneLines<B, M, 1, V>;
  using Lines::find_points, Lines::history_of;
  using Lines::Lines, Lines::v, Lines::own, Lines::lane, Lines::row, Lines::group, Lines::mask, Lines::at, Lines::position;
  using Lines::s, Lines::stage, Lines::await_stage, Lines::release_stage, Lines::advance, Lines::await_step;
  using Lines::words, Lines::word_y, Lines::word_z, Lines::alive, Lines::on, Lines::start, Lines::word_step, Lines::length;
  V sum[M];

  /// Where this level's points are in the stage, and their r.
  __device__ __forceinline__ void begin() {
    const Address here = stage();
    find_points();
#pragma unroll
    for (int m = 0; m < M; ++m) load(here + v.plan.r_offset + (at[m] + row) * static_cast<int>(sizeof(V)), sum[m]);
    if constexpr (sizeof(S) < sizeof(V)) {
#pragma unroll
      for (int m = 0; m < M; ++m) sum[m] *= static_cast<V>(v.r_scale);
    }
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
  __device__ __forceinline__ void run();
};

/// Piece by piece, several entries' loads under way at once.
template <int B, int M, class V, class S>
__device__ __forceinline__ void SweepLines<B, M, V, S>::run() {
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
        sum[m] = times_inverse<B>(sum[m], lane, row, [&](int col) { return diagonal[m][col]; });
      }
    }
    finish();
  }
}

}  // namespace echelon::device
