// SPDX-License-Identifier: BSD-3-Clause
// Assembly of blocks on the recipe's own stencil: a thread makes a whole block of a point's entry, so that what its rows
// have in common is computed once, and puts it where it belongs among the values of the tile's level, which lie in shared
// memory as they will in the device's: a piece of a level, some of its entries, is one stretch of it. One thread sends the
// stretch off as a bulk copy, and while that is under way the next piece is made beside it. A thread keeps its line, and a
// warp has one entry or few. Bytes a point: 8 b² for each entry, written once.
#pragma once

#include <algorithm>
#include <utility>

#include "echelon/base/cuda/bulk_store.cuh"
#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/matrix/grid_gpu/tile_walk.cuh"
#include "echelon/problem/assembly/assembly.hpp"

namespace echelon::problems {

/// Launch constants, and what shared memory holds: two pieces, rows of points, ranks of lines, where levels begin.
template <class Recipe>
struct BlockStage {
  static constexpr int threads = TileWalk::threads, resident = 2, stages = 2;
  /// Of a walk. Rows that are kept take room.
  static constexpr int levels = Recipe::keeps_rows ? 8 : 16;
  static constexpr int shared_bytes = (228 / resident - 1) * 1024;
  static constexpr int b = Recipe::unknowns, entries = Recipe::Known::plan.entries, columns = entries * b;
  using Row = decltype(std::declval<const Recipe&>().row(Ijk{}));

  int lines, piece_entries;  // of a tile, of a piece: as many entries as there are threads for
  int stage_doubles, rows_at, ranks_at, starts_at, bytes;

  explicit BlockStage(const LayoutView& vector) {
    const TileShape shape = vector.tiles.shape;
    lines = shape.y * shape.z;
    const int most = std::max(1, threads / lines), pieces = (entries + most - 1) / most;
    piece_entries = (entries + pieces - 1) / pieces;
    const auto limited = [](std::int64_t n) { return static_cast<int>(std::min<std::int64_t>(n, 1 << 29)); };
    stage_doubles = limited((std::int64_t{lines} * b + 7) / 8 * 8 * piece_entries * b);
    rows_at = limited(std::int64_t{stages} * stage_doubles * std::int64_t{sizeof(double)});
    const std::int64_t rows = Recipe::keeps_rows ? std::int64_t{lines} * levels * std::int64_t{sizeof(Row)} : 0;
    ranks_at = limited(rows_at + rows);
    starts_at = ranks_at + static_cast<int>(sizeof(int)) * levels * (shape.z + 1);
    bytes = starts_at + static_cast<int>(sizeof(int)) * (levels + 1);
  }
  bool fits() const { return bytes <= shared_bytes && lines <= threads; }
};

/// A block's columns, each `length` values behind the one before; zeros where `make` is not to be asked.
template <class Recipe, class Make>
__device__ __forceinline__ void stage_block(double* to, int length, bool inside, const Make& make) {
  constexpr int b = Recipe::unknowns;
  double column[b] = {};
  const auto store = [&] {
    if constexpr (b % 2 == 0) {
#pragma unroll
      for (int r = 0; r < b; r += 2) *reinterpret_cast<double2*>(to + r) = {column[r], column[r + 1]};
    } else {
#pragma unroll
      for (int r = 0; r < b; ++r) to[r] = column[r];
    }
    to += length;
  };
  if (!inside) {
#pragma unroll
    for (int c = 0; c < b; ++c) store();
    return;
  }
  make([&](const auto& block) {
#pragma unroll
    for (int c = 0; c < b; ++c) {
#pragma unroll
      for (int r = 0; r < b; ++r) column[r] = block.at(r, c);
      store();
    }
  });
}

/// The entry of a slot of a piece, counted from the piece's first. A block that is made in a way of its own comes last, so
/// that few warps have both ways to go.
template <class Row>
__device__ __forceinline__ int entry_of_slot(int slot, int count, int center) {
  if constexpr (OwnBlock<Row>) {
    if (center >= 0 && center < count) return slot < center ? slot : slot + 1 < count ? slot + 1 : center;
  }
  return slot;
}

template <class Recipe>
__global__ void __launch_bounds__(BlockStage<Recipe>::threads, BlockStage<Recipe>::resident)
    block_assembly_kernel(const __grid_constant__ AssemblyView v, const __grid_constant__ Recipe recipe,
                          const __grid_constant__ BlockStage<Recipe> plan) {
  using Stage = BlockStage<Recipe>;
  using Row = typename Stage::Row;
  constexpr int b = Stage::b, center = Recipe::Known::plan.center;
  extern __shared__ __align__(128) unsigned char staged[];
  auto* const rows = reinterpret_cast<Row*>(staged + plan.rows_at);
  int* const ranks = reinterpret_cast<int*>(staged + plan.ranks_at);
  int* const begins = reinterpret_cast<int*>(staged + plan.starts_at);
  const TileView& tiles = v.vector.tiles;
  const Wavefront& front = v.vector.front;
  const int own = static_cast<int>(threadIdx.x), rank_columns = tiles.shape.z + 1;
  const int slot = own / plan.lines, line = own - slot * plan.lines, in_z = line / tiles.shape.y;
  unsigned turn = 0;
  for (int t = blockIdx.y; t < tiles.count; t += gridDim.y) {
    const Tile tile = tiles.tiles[t];
    const int first = static_cast<int>(blockIdx.x) * Stage::levels, last = min(first + Stage::levels, tile.levels);
    if (first >= last) continue;
    const std::int64_t* const starts = v.vector.run_start + v.vector.first_run[t];
    const int depth = tiles.end_z(tile) - tile.z;
    const std::int64_t begin = starts[first];
    rank_lines(tiles, tile, first, last, ranks);
    for (int l = own; l <= last - first; l += Stage::threads) begins[l] = static_cast<int>(starts[first + l] - begin);
    if constexpr (Recipe::keeps_rows) {
      for (int n = own; n < (last - first) * plan.lines; n += Stage::threads) {
        const int l = n / plan.lines, of_z = (n - l * plan.lines) / tiles.shape.y;
        const int y = tile.y + n - l * plan.lines - of_z * tiles.shape.y, z = tile.z + of_z;
        const int i = tile.first_level + first + l - front.line_start(y, z);
        if (front.has_line(y, z) && i >= 0 && i < front.nx) rows[n] = recipe.row({i, y - front.c * z, z});
      }
    }
    __syncthreads();
    const int y = tile.y + line - in_z * tiles.shape.y, z = tile.z + in_z;
    const bool has_line = front.has_line(y, z);
    const int before = tile.first_level + first - front.line_start(y, z);  // the i of the walk's first level
    for (int l = 0; l < last - first; ++l) {
      const int from = begins[l], length = begins[l + 1] - from, i = before + l;
      const int used = ranks[l * rank_columns + depth] * b, padding = length - used;
      for (int e0 = 0; e0 < Stage::entries; e0 += plan.piece_entries) {
        const int count = min(plan.piece_entries, Stage::entries - e0);
        double* const stage = reinterpret_cast<double*>(staged) + (turn++ % Stage::stages) * plan.stage_doubles;
        for (int n = own; n < count * b * padding; n += Stage::threads) {
          stage[n / padding * length + used + n % padding] = 0;
        }
        if (slot < count && has_line && i >= 0 && i < front.nx) {
          const int in_piece = entry_of_slot<Row>(slot, count, center - e0), e = e0 + in_piece;
          const Offset o = v.entries[e].offset;
          const Ijk p{i, y - front.c * z, z}, q = moved(p, o);
          const bool inside = q.i >= 0 && q.i < front.nx && q.j >= 0 && q.j < front.ny && q.k >= 0 && q.k < front.nz;
          double* const to = stage + in_piece * b * length + (ranks[l * rank_columns + in_z] + y) * b;
          stage_block<Recipe>(to, length, inside, [&](const auto& use) {
            if constexpr (Recipe::keeps_rows) {
              with_block(recipe.kept(rows[l * plan.lines + line]), e, o, use);
            } else {
              with_block(recipe.row(p), e, o, use);
            }
          });
        }
        device::stage_is_written();
        // Behind this barrier the other stage is free, and this one full.
        if (own == 0) device::stages_are_read();
        __syncthreads();
        if (own == 0) {
          device::bulk_store(v.values + (begin + from) * Stage::columns + std::int64_t{e0} * b * length,
                             device::shared_address(stage), static_cast<unsigned>(count * b * length * sizeof(double)));
        }
      }
    }
  }
  // Shared memory may not be given away before.
  if (own == 0) device::stages_are_read();
}

/// False when the tiles are too large for it.
template <class Recipe>
bool write_blocks(const AssemblyView& view, const Recipe& recipe) {
  using Stage = BlockStage<Recipe>;
  const Stage plan(view.vector);
  if (!plan.fits()) return false;
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
