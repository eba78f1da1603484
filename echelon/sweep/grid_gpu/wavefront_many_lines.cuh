// SPDX-License-Identifier: BSD-3-Clause
// The computing warps of a block that sweeps K vectors: x of one level from their r, the coefficients in the ring and the
// history of x, by fma in the order of the sequential sweep. A lane keeps its lines (and its row of the block) from the
// first level to the last; a coefficient is read once for its K products.
#pragma once

#include "echelon/sweep/grid_gpu/wavefront_many_view.hpp"
#include "echelon/sweep/grid_gpu/wavefront_sweep_places.cuh"

namespace echelon::device {

template <int B, int K, int M>
struct ManyLines : LaneLines<B, M, K, double> {
  using Lines = LaneLines<B, M, K, double>;
  using Lines::await_step, Lines::find_points, Lines::history_of;
  using Lines::slot, Lines::phase, Lines::stage, Lines::await_stage, Lines::release_stage, Lines::advance;
  using Lines::v, Lines::own, Lines::lane, Lines::row, Lines::group, Lines::mask, Lines::at, Lines::position, Lines::words;
  using Lines::word_y, Lines::word_z, Lines::alive, Lines::on, Lines::start, Lines::word_step, Lines::length, Lines::s;
  /// Entries whose loads are under way together.
  static constexpr int together = B * K * M >= 8 ? 1 : B * K * M >= 4 ? 2 : 3;
  const WavefrontManyView& many;
  const int a_plane, a_vector;  // bytes of a vector's plane, words of a vector in a run
  double sum[M][K];

  __device__ __forceinline__ ManyLines(const WavefrontManyView& view, const OwnTile& tile, int warp, int lane_)
      : Lines(view.sweep, tile, warp, lane_),
        many(view),
        a_plane(view.sweep.plan.plane_bytes / K),
        a_vector(tile.slots * B) {}

  /// Where this level's points are in the stage, and their r.
  __device__ __forceinline__ void begin() {
    const Address here = stage();
    find_points();
#pragma unroll
    for (int k = 0; k < K; ++k) {
#pragma unroll
      for (int m = 0; m < M; ++m) load(here + v.plan.r_offset + (k * length + at[m] + row) * 8, sum[m][k]);
    }
  }
  /// N entries from q on; c0 is where the lane's coefficients of the first would be for a line at 0.
  template <int N>
  __device__ __forceinline__ void add(int q, Address c0, int column, int entry_step) {
    double coefficient[N][B][M];
#pragma unroll
    for (int u = 0; u < N; ++u) {
#pragma unroll
      for (int m = 0; m < M; ++m) {
        Address c = c0 + u * entry_step + at[m] * 8;
#pragma unroll
        for (int col = 0; col < B; ++col, c += column) load(c, coefficient[u][col][m]);
      }
    }
    int h[N];
#pragma unroll
    for (int u = 0; u < N; ++u) h[u] = history_of(q + u);
#pragma unroll
    for (int k = 0; k < K; ++k) {
      double x[N][B][M];
#pragma unroll
      for (int u = 0; u < N; ++u) {
#pragma unroll
        for (int m = 0; m < M; ++m) {
#pragma unroll
          for (int col = 0; col < B; ++col) load(position[m] + h[u] + k * a_plane + col * 8, x[u][col][m]);
        }
      }
#pragma unroll
      for (int u = 0; u < N; ++u) {
#pragma unroll
        for (int col = 0; col < B; ++col) {
#pragma unroll
          for (int m = 0; m < M; ++m) sum[m][k] = fma(-coefficient[u][col][m], x[u][col][m], sum[m][k]);
        }
      }
    }
  }
  __device__ __forceinline__ void times_diagonal(const double (&diagonal)[M][B]) {
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
      for (int k = 0; k < K; ++k) {
        sum[m][k] = times_inverse<B>(sum[m][k], lane, row, [&](int col) { return diagonal[m][col]; });
      }
    }
  }
  __device__ __forceinline__ void finish() {
    const int now = (s & mask) * v.plan.plane_bytes + row * 8;
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
      for (int k = 0; k < K; ++k) {
        if (alive[m]) store(position[m] + now + k * a_plane, on[m] ? sum[m][k] : 0.0);
      }
    }
    warp_arrives(own.base + place::done + 8 * (s & mask), lane);
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
      for (int k = 0; k < K; ++k) {
        if (word_y[m] >= 0 && on[m]) store_word(words + k * a_vector + word_y[m], bits_of(sum[m][k]), own.epoch);
        if (word_z[m] >= 0 && on[m]) store_word(words + k * a_vector + word_z[m], bits_of(sum[m][k]), own.epoch);
      }
    }
    words += word_step * v.plan.groups;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      double* x = many.x[k] + start + row;
#pragma unroll
      for (int m = 0; m < M; ++m) {
        if (on[m]) x[at[m]] = sum[m][k];
      }
    }
  }
  __device__ __forceinline__ void run();
};

/// Piece by piece, level by level.
template <int B, int K, int M>
__device__ __forceinline__ void ManyLines<B, K, M>::run() {
  for (s = group; s < own.levels; s += v.plan.groups) {
    double diagonal[M][B];
    bool ready = false;
    for (int p = 0; p < v.plan.pieces; ++p) {
      const int q0 = p * v.plan.entries_a_stage, q1 = min(v.held, q0 + v.plan.entries_a_stage);
      barrier_wait(own.base + place::full + 8 * slot, phase);
      if (p == 0) {
        begin();
        await_step(s - 2);
      }
      const int column = length * 8, entry_step = (v.lower ? B : -B) * column;
      const Address c0 = stage() + v.plan.values_offset + row * 8 + (v.lower ? 0 : (q1 - q0 - 1) * B * column);
      const int last = min(q1, v.count);
      const auto some = [&]<int N>(int q) {
        if (!ready && q + N > v.early) {
          await_step(s - 1);
          ready = true;
        }
        add<N>(q, c0 + (q - q0) * entry_step, column, entry_step);
      };
      int q = q0;
      for (; q + together <= last; q += together) some.template operator()<together>(q);
      for (; q < last; ++q) some.template operator()<1>(q);
      if (!v.lower && q1 == v.held) {
#pragma unroll
        for (int m = 0; m < M; ++m) {
          Address c = c0 + (v.count - q0) * entry_step + at[m] * 8;
#pragma unroll
          for (int col = 0; col < B; ++col, c += column) load(c, diagonal[m][col]);
        }
      }
      release_stage();
      advance(1);
    }
    advance((v.plan.groups - 1) * v.plan.pieces);
    if (!ready) await_step(s - 1);
    if (!v.lower) times_diagonal(diagonal);
    finish();
  }
}

}  // namespace echelon::device
