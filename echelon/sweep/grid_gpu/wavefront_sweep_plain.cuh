// SPDX-License-Identifier: BSD-3-Clause
// The sweep of one tile by one block without ring and history: level by level, everything from global memory, neighbouring
// tiles waited for by progress counters. Any block size, any stencil; it is also the first step of the ablation.
// Bytes a point as in wavefront_sweep.cuh, and x of the neighbours once more from the L2 cache. Reads are safe: the own
// tile's levels by the block's barrier, others' by their counter, which is stored after a fence.
#pragma once

#include "echelon/base/cuda/cuda_async.cuh"
#include "echelon/sweep/grid_gpu/sweep_state.cuh"

namespace echelon::device {

/// Progress of a tile in this launch: the epoch above, the levels it has finished below.
constexpr int progress_bits = 31;

__device__ __forceinline__ bool inside(const Wavefront& f, const Ijk& p) {
  return p.i >= 0 && p.i < f.nx && p.j >= 0 && p.j < f.ny && p.k >= 0 && p.k < f.nz;
}

/// Waits until the tile of line (y, z) has finished its levels before `level` in the direction of the sweep.
__device__ inline void await_tile(const WavefrontSweepView& v, unsigned long long epoch, int own, int other, int level) {
  const Tile& tile = v.vector.tiles.tiles[other];
  int needed = v.lower ? level - tile.first_level : tile.first_level + tile.levels - 1 - level;
  needed = min(max(needed, 0), tile.levels);
  const unsigned long long target = (epoch << progress_bits) + static_cast<unsigned>(needed);
  auto* progress = static_cast<volatile unsigned long long*>(v.words) + other;
  const unsigned long long begun = nanoseconds();
  for (unsigned polls = 1; needed > 0 && *progress < target; ++polls) {
    __nanosleep(50);
    if (polls % 1024 == 0 && give_up(v.state, begun, {own, other, v.lower})) return;
  }
}

template <class V, class S>
__global__ void plain_sweep_kernel(const __grid_constant__ WavefrontSweepView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto* sums = reinterpret_cast<V*>(memory);
  __shared__ int number;
  __shared__ unsigned long long epoch;
  const TileView& tiles = v.vector.tiles;
  const Wavefront& front = v.vector.front;
  const int b = v.dof, lines = tiles.shape.y * tiles.shape.z;
  if (threadIdx.x == 0) {
    const int ticket = static_cast<int>(atomicAdd(&v.state->ticket, 1u));
    number = v.lower ? ticket : tiles.count - 1 - ticket;
    epoch = *const_cast<volatile unsigned long long*>(&v.state->epoch);
  }
  __syncthreads();
  if (static_cast<unsigned>(number) >= static_cast<unsigned>(tiles.count)) return finish_block(v);
  const Tile tile = tiles.tiles[number];
  const auto* values = static_cast<const S*>(v.values);
  const auto* r = static_cast<const V*>(v.r);
  auto* x = static_cast<V*>(v.x);
  for (int step = 0; step < tile.levels; ++step) {
    const int level = v.lower ? tile.first_level + step : tile.first_level + tile.levels - 1 - step;
    // One thread a neighbouring tile: those that this tile's lines reach, in the direction of the sweep.
    const int sign = v.lower ? -1 : 1;
    for (int q = threadIdx.x; q < v.tile_reaches; q += blockDim.x) {
      const int y = tile.y / tiles.shape.y + sign * v.tile_reach[q].dy,
                z = tile.z / tiles.shape.z + sign * v.tile_reach[q].dz;
      if (y < 0 || z < 0 || y >= tiles.tiles_y || z * tiles.shape.z >= front.nz) continue;
      const int other = tiles.tile_of[z * tiles.tiles_y + y];
      if (other >= 0) await_tile(v, epoch, number, other, level);
    }
    __threadfence();
    __syncthreads();
    for (int n = threadIdx.x; n < lines * b; n += blockDim.x) {
      const int line = n / b, row = n % b, y = tile.y + line % tiles.shape.y, z = tile.z + line / tiles.shape.y;
      const int t = level - front.line_start(y, z);
      if (!front.has_line(y, z) || t < 0 || t >= front.nx) continue;
      const Ijk p = front.on_line(y, z, level);
      const Place coefficients = v.matrix.place(p);
      V sum = r[v.vector.place(p).at(0, row, 0)] * static_cast<V>(v.r_scale);
      for (int q = 0; q < v.count; ++q) {
        const Offset o = v.offset[q];
        const Ijk k{p.i + o.x, p.j + o.y, p.k + o.z};
        if (!inside(front, k)) continue;
        const V* from = x + v.vector.place(k).first;
        for (int c = 0; c < b; ++c)
          sum = fma(-widened<V>(values[coefficients.at(v.entry[q], row, c)]), __ldcg(from + c), sum);
      }
      sums[n] = sum;
      if (v.lower) x[v.vector.place(p).at(0, row, 0)] = sum;
    }
    if (!v.lower) {
      __syncthreads();
      for (int n = threadIdx.x; n < lines * b; n += blockDim.x) {
        const int line = n / b, row = n % b, y = tile.y + line % tiles.shape.y, z = tile.z + line / tiles.shape.y;
        const int t = level - front.line_start(y, z);
        if (!front.has_line(y, z) || t < 0 || t >= front.nx) continue;
        const Ijk p = front.on_line(y, z, level);
        const Place coefficients = v.matrix.place(p);
        V result = 0;
        for (int c = 0; c < b; ++c) {
          const V d = widened<V>(values[coefficients.at(v.first_entry, row, c)]), w = sums[n - row + c];
          result = c == 0 ? d * w : fma(d, w, result);
        }
        x[v.vector.place(p).at(0, row, 0)] = result;
      }
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      *(static_cast<volatile unsigned long long*>(v.words) + number) =
          (epoch << progress_bits) + static_cast<unsigned>(step + 1);
    }
  }
  finish_block(v);
}

}  // namespace echelon::device
