// SPDX-License-Identifier: BSD-3-Clause
// A block of threads walks some levels of a tile: a thread has a line and one row of its points, neighbours in ŷ side by
// side, so that a level's values are read and written in whole sectors; threads beyond the lines take other levels. Where
// the lines of a ẑ stand in their run is counted once for the walk, into shared memory.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "echelon/stencil/layout_view.hpp"

namespace echelon {

/// Launch constants of walks, and their shared memory.
struct TileWalk {
  static constexpr int threads = 256, warp = 32, levels = 16, most_blocks_y = 65535;

  static dim3 blocks(const LayoutView& vector, int longest) {
    return {static_cast<unsigned>((longest + levels - 1) / levels),
            static_cast<unsigned>(std::min(vector.tiles.count, most_blocks_y)), 1};
  }
  static std::size_t shared_bytes(const LayoutView& vector) {
    return sizeof(int) * static_cast<std::size_t>(levels) * static_cast<std::size_t>(vector.tiles.shape.z + 1);
  }
};

/// The run of memory of a (tile, level): of a vector, in scalars.
struct TileRun {
  std::int64_t start;
  unsigned length, used;  // padding is behind what is used
};

/// For the whole block, from level `first` of a tile to before `last`: memory[level][ẑ] ← the rank that the line ŷ = 0 of
/// the ẑ would have at the level, counted in lines; behind the last ẑ how many there are. Begins and ends with a barrier.
__device__ __forceinline__ void rank_lines(const TileView& tiles, const Tile& tile, int first, int last, int* memory) {
  const int own = static_cast<int>(threadIdx.x), columns = tiles.shape.z + 1, depth = tiles.end_z(tile) - tile.z;
  __syncthreads();
  for (int n = own; n < (last - first) * depth; n += TileWalk::threads) {
    const int l = n / depth, z = n - l * depth;
    memory[l * columns + z] = tiles.lines_at(tile, tile.first_level + first + l, tile.z + z).count();
  }
  __syncthreads();
  for (int l = own; l < last - first; l += TileWalk::threads) {
    int before = 0;
    for (int z = 0; z < depth; ++z) {
      const int count = memory[l * columns + z];
      memory[l * columns + z] = before - tiles.lines_at(tile, tile.first_level + first + l, tile.z + z).begin;
      before += count;
    }
    memory[l * columns + depth] = before;
  }
  __syncthreads();
}

/// For a whole warp: zeros behind what is used of each of a run's columns, the first of which begins at `from`.
__device__ __forceinline__ void clear_padding(double* values, std::int64_t from, unsigned length, unsigned used,
                                              unsigned columns) {
  constexpr unsigned most_padding = 8;  // a run is padded by less
  const unsigned padding = length - used;
  if (padding == 0) return;
  for (unsigned n = threadIdx.x % TileWalk::warp; n < columns * most_padding; n += TileWalk::warp) {
    if (n % most_padding < padding) values[from + std::int64_t{n / most_padding} * length + used + n % most_padding] = 0;
  }
}

/// For the whole block: visit_row(p, row, run, rank) for each scalar row, whose rank in its run counts scalars, and
/// visit_run(run) by a whole warp for each run. `block` is the number of rows of a point; `memory` is shared.
template <class VisitRow, class VisitRun>
__device__ __forceinline__ void walk_tiles(const LayoutView& vector, int block, int* memory, const VisitRow& visit_row,
                                           const VisitRun& visit_run) {
  const TileView& tiles = vector.tiles;
  const Wavefront& front = vector.front;
  const int own = static_cast<int>(threadIdx.x), columns = tiles.shape.z + 1;
  const int slots = tiles.shape.y * tiles.shape.z * block;
  const int groups = max(1, TileWalk::threads / slots), group = own / slots;
  const int next = max(slots, TileWalk::threads);
  for (int t = blockIdx.y; t < tiles.count; t += gridDim.y) {
    const Tile tile = tiles.tiles[t];
    const int first = static_cast<int>(blockIdx.x) * TileWalk::levels, last = min(first + TileWalk::levels, tile.levels);
    if (first >= last) continue;
    const int depth = tiles.end_z(tile) - tile.z;
    rank_lines(tiles, tile, first, last, memory);
    const std::int64_t* const starts = vector.run_start + vector.first_run[t];
    const auto run_of = [&](int l) {
      const std::int64_t start = starts[l];
      return TileRun{start, static_cast<unsigned>(starts[l + 1] - start),
                     static_cast<unsigned>(memory[(l - first) * columns + depth] * block)};
    };
    for (int l = first + own / TileWalk::warp; l < last; l += TileWalk::threads / TileWalk::warp) visit_run(run_of(l));
    if (group >= groups) continue;
    for (int slot = own - group * slots; slot < slots; slot += next) {
      const int n = slot / block, row = slot - n * block, in_z = n / tiles.shape.y;
      const int y = tile.y + n - in_z * tiles.shape.y, z = tile.z + in_z;
      if (!front.has_line(y, z)) continue;
      const int start = front.line_start(y, z);
      for (int l = first + group; l < last; l += groups) {
        const int i = tile.first_level + l - start;
        if (static_cast<unsigned>(i) >= static_cast<unsigned>(front.nx)) continue;
        const int rank = (memory[(l - first) * columns + in_z] + y) * block + row;
        visit_row(Ijk{i, y - front.c * z, z}, row, run_of(l), static_cast<unsigned>(rank));
      }
    }
  }
}

}  // namespace echelon
