// SPDX-License-Identifier: BSD-3-Clause
// Assembly of blocks on the recipe's own stencil: a thread makes a whole block of a point's entry, so that what its rows
// have in common is computed once, and puts it where it belongs among the values of the tile's levels, which lie in shared
// memory as they will in the device's: levels of a tile are one stretch of it. Then the block of threads writes the stretch,
// 16 bytes a thread side by side. Lanes are the lines of a tile, so that a warp has one entry, or few. Bytes a point: 8 b²
// for each entry, written once.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "echelon/base/cuda_check.cuh"
#include "echelon/matrix/tile_walk.cuh"
#include "echelon/problem/assembly.hpp"

namespace echelon::problems {

/// Blocks of threads that are resident on a multiprocessor.
template <class Recipe>
constexpr int stages_resident = 2;

/// Launch constants, and what shared memory holds: values, rows of points, ranks of lines.
template <class Recipe>
struct BlockStage {
  static constexpr int threads = TileWalk::threads, levels = 8, warp = 32, resident = stages_resident<Recipe>;
  static constexpr int shared_bytes = (228 / resident - 1) * 1024;
  static constexpr int b = Recipe::unknowns, entries = Recipe::Known::plan.entries, columns = entries * b;
  using Row = decltype(std::declval<const Recipe&>().row(Ijk{}));

  int lines, together;  // lines of a tile, levels that are staged at once
  int rows_at, ranks_at, bytes;

  explicit BlockStage(const LayoutView& vector) {
    const TileShape shape = vector.tiles.shape;
    lines = shape.y * shape.z;
    // A warp should have one entry.
    for (together = std::clamp(warp / lines, 1, levels); together > 1 && !fits(shape); --together) {
    }
    place(shape);
  }
  bool fits(TileShape shape) {
    place(shape);
    return bytes <= shared_bytes && lines * together <= threads && lines * levels <= threads * most_rows;
  }

 private:
  /// Rows that a thread makes at most, where rows are kept.
  static constexpr int most_rows = Recipe::keeps_rows ? 1 : levels * threads;

  void place(TileShape shape) {
    const std::int64_t a_level = (std::int64_t{lines} * b + 7) / 8 * 8 * columns * std::int64_t{sizeof(double)};
    const std::int64_t rows = Recipe::keeps_rows ? std::int64_t{lines} * levels * std::int64_t{sizeof(Row)} : 0;
    const std::int64_t all = a_level * together + rows + std::int64_t{sizeof(int)} * levels * (shape.z + 1);
    bytes = static_cast<int>(std::min<std::int64_t>(all, 1 << 30));
    rows_at = static_cast<int>(std::min<std::int64_t>(a_level * together, 1 << 30));
    ranks_at = static_cast<int>(std::min<std::int64_t>(rows_at + rows, 1 << 30));
  }
};

/// A point of a walk, its run's length, and where its values begin on the stage; `inside` when there is one.
struct StagedPoint {
  Ijk p;
  bool inside;
  int length;
  double* first;
};

template <class Recipe, class Block>
__device__ __forceinline__ void stage_block(const StagedPoint& at, int e, bool inside, const Block& make) {
  constexpr int b = Recipe::unknowns;
  double* to = at.first + e * b * at.length;
  double column[b] = {};
  const auto store = [&] {
    if constexpr (b % 2 == 0) {
#pragma unroll
      for (int r = 0; r < b; r += 2) *reinterpret_cast<double2*>(to + r) = {column[r], column[r + 1]};
    } else {
#pragma unroll
      for (int r = 0; r < b; ++r) to[r] = column[r];
    }
    to += at.length;
  };
  if (!inside) {
#pragma unroll
    for (int c = 0; c < b; ++c) store();
    return;
  }
  const auto block = make();
#pragma unroll
  for (int c = 0; c < b; ++c) {
#pragma unroll
    for (int r = 0; r < b; ++r) column[r] = block.at(r, c);
    store();
  }
}

/// The block of entry e. Where the recipe asks for it (`by_entry`), each entry has code of its own.
template <class Recipe, class Row>
__device__ __forceinline__ void stage_entry(const AssemblyView& v, const Row& row, const StagedPoint& at, int e) {
  const Wavefront& front = v.vector.front;
  const auto stage = [&](const Offset& o) {
    const Ijk q = moved(at.p, o);
    const bool inside = q.i >= 0 && q.i < front.nx && q.j >= 0 && q.j < front.ny && q.k >= 0 && q.k < front.nz;
    stage_block<Recipe>(at, e, inside, [&] { return row.block(e, o); });
  };
  if constexpr (Recipe::by_entry) {
    const auto stage_known = [&]<int n>(std::integral_constant<int, n>) {
      constexpr Offset o = Recipe::Known::plan.offset[n];
      if (e == n) stage(o);
      return e == n;
    };
    [&]<int... n>(std::integer_sequence<int, n...>) { (void)(stage_known(std::integral_constant<int, n>{}) || ...); }
    (std::make_integer_sequence<int, Recipe::Known::plan.entries>{});
  } else {
    stage(v.entries[e].offset);
  }
}

template <class Recipe>
__global__ void __launch_bounds__(BlockStage<Recipe>::threads, BlockStage<Recipe>::resident)
    block_assembly_kernel(const __grid_constant__ AssemblyView v, const __grid_constant__ Recipe recipe,
                          const __grid_constant__ BlockStage<Recipe> plan) {
  using Stage = BlockStage<Recipe>;
  extern __shared__ __align__(16) unsigned char staged[];
  double* const stage = reinterpret_cast<double*>(staged);
  auto* const rows = reinterpret_cast<typename Stage::Row*>(staged + plan.rows_at);
  int* const ranks = reinterpret_cast<int*>(staged + plan.ranks_at);
  const TileView& tiles = v.vector.tiles;
  const Wavefront& front = v.vector.front;
  const int own = static_cast<int>(threadIdx.x), rank_columns = tiles.shape.z + 1;
  const int slots = plan.lines * plan.together, group = own / slots, groups = Stage::threads / slots;
  for (int t = blockIdx.y; t < tiles.count; t += gridDim.y) {
    const Tile tile = tiles.tiles[t];
    const int first = static_cast<int>(blockIdx.x) * Stage::levels, last = min(first + Stage::levels, tile.levels);
    if (first >= last) continue;
    const std::int64_t* const starts = v.vector.run_start + v.vector.first_run[t];
    const int depth = tiles.end_z(tile) - tile.z;
    // The point that a slot has, counted from a level of the walk.
    const auto point = [&](int slot, int from) {
      const int l = from + slot / plan.lines, n = slot % plan.lines, in_z = n / tiles.shape.y;
      const int y = tile.y + n - in_z * tiles.shape.y, z = tile.z + in_z;
      const int i = tile.first_level + l - front.line_start(y, z);
      StagedPoint at{{i, y - front.c * z, z}, false, 0, stage};
      at.inside = l < last && front.has_line(y, z) && i >= 0 && i < front.nx;
      if (at.inside) {
        const std::int64_t start = starts[l];
        at.length = static_cast<int>(starts[l + 1] - start);
        at.first += (start - starts[from]) * Stage::columns + (ranks[(l - first) * rank_columns + in_z] + y) * Stage::b;
      }
      return at;
    };
    rank_lines(tiles, tile, first, last, ranks);
    if constexpr (Recipe::keeps_rows) {
      if (own < (last - first) * plan.lines) {
        const StagedPoint at = point(own, first);
        if (at.inside) rows[own] = recipe.row(at.p);
      }
      __syncthreads();
    }
    for (int from = first; from < last; from += plan.together) {
      const int until = min(from + plan.together, last);
      const std::int64_t begin = starts[from];
      for (int l = from; l < until; ++l) {
        const int length = static_cast<int>(starts[l + 1] - starts[l]);
        const int used = ranks[(l - first) * rank_columns + depth] * Stage::b, padding = length - used;
        double* const level = stage + (starts[l] - begin) * Stage::columns;
        for (int n = own; n < Stage::columns * padding; n += Stage::threads) {
          level[n / padding * length + used + n % padding] = 0;
        }
      }
      if (group < groups) {
        const StagedPoint at = point(own % slots, from);
        if (at.inside) {
          if constexpr (Recipe::keeps_rows) {
            const auto row = recipe.kept(rows[(from - first) * plan.lines + own % slots]);
            for (int e = group; e < Stage::entries; e += groups) stage_entry<Recipe>(v, row, at, e);
          } else {
            for (int e = group; e < Stage::entries; e += groups) stage_entry<Recipe>(v, recipe.row(at.p), at, e);
          }
        }
      }
      __syncthreads();
      const int pairs = static_cast<int>((starts[until] - begin) * Stage::columns / 2);
      auto* const to = reinterpret_cast<double2*>(v.values + begin * Stage::columns);
      for (int n = own; n < pairs; n += Stage::threads) to[n] = reinterpret_cast<const double2*>(stage)[n];
      __syncthreads();
    }
  }
}

/// False when the tiles are too large for it.
template <class Recipe>
bool write_blocks(const AssemblyView& view, const Recipe& recipe) {
  using Stage = BlockStage<Recipe>;
  Stage plan(view.vector);
  if (!plan.fits(view.vector.tiles.shape)) return false;
  check_cuda(
      cudaFuncSetAttribute(block_assembly_kernel<Recipe>, cudaFuncAttributeMaxDynamicSharedMemorySize, Stage::shared_bytes),
      "cudaFuncSetAttribute");
  const dim3 blocks(static_cast<unsigned>((view.longest + Stage::levels - 1) / Stage::levels),
                    static_cast<unsigned>(std::min(view.vector.tiles.count, TileWalk::most_blocks_y)));
  block_assembly_kernel<Recipe><<<blocks, Stage::threads, static_cast<std::size_t>(plan.bytes)>>>(view, recipe, plan);
  check_cuda(cudaGetLastError(), "assembly of blocks");
  return true;
}

}  // namespace echelon::problems
