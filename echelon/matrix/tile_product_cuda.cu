// SPDX-License-Identifier: BSD-3-Clause
// The kernels of tile_product_view.hpp. A block of threads walks some levels of a tile, neighbours in ŷ side by side, so
// that coefficients and most of x are read in whole sectors, and all lines of a level together, so that x comes from the L1
// cache but for its first time; where lines are stands in shared memory before the walk begins (tile_product.inl).
// Bytes a scalar row: 8 b an entry, and 16 (residual: 24); 4/shape.y of the table; x of the tiles beside it (star7, tiles of
// 16×16: by count 3–5 bytes a row if they have left the L2 cache). Instructions a row in PTX: 189 for star7, else about 36
// an entry and 25; of them three loads from shared memory an entry. sm_90: 64 registers for b = 1, so 4 × 256 threads are
// resident and have 7 coefficients each under way, 56 KiB an SM where bandwidth times latency asks for about 25; 70–80
// registers and 3 × 256 threads else.
#include <cuda_runtime.h>

#include <algorithm>

#include "echelon/base/cuda_check.cuh"
#include "echelon/base/error.hpp"
#include "echelon/matrix/tile_product.inl"

namespace echelon {
namespace {

constexpr int threads_a_block = 256, warp = 32;
/// So many resident at least, as many as leave registers enough.
template <int B, class Sum>
constexpr int resident = Sum::wide ? 2
                         : B == 1  ? 4
                                   : 3;
/// Levels of a walk without a window.
constexpr int far_levels = 32;
constexpr int table_threads = 128;
/// Known to the compiler, they cost a third fewer instructions.
constexpr int star7_entries = 7;
constexpr int most_blocks_y = 65535;
constexpr int shared_bytes = 48 * 1024, most_shared_bytes = 227 * 1024 - 256;

/// What the threads of a block share, one behind the other.
struct SharedPlan {
  int threads;
  int columns, window;  // numbers of the window's columns and values
  std::size_t bytes;

  /// Whole sets of a tile's lines, fewer for stencils of many entries.
  explicit SharedPlan(const TileProductView& v) {
    const TileShape shape = v.vector.tiles.shape;
    const int slots = shape.y * shape.z * v.block;
    columns = v.window.levels > 0 ? v.window.columns(shape) : 0;
    window = columns * v.window.rows();
    threads = slots < threads_a_block ? (threads_a_block / slots * slots + warp - 1) / warp * warp : threads_a_block;
    while (threads > warp && bytes_for(v.entries) > shared_bytes) threads = (threads / 2 + warp - 1) / warp * warp;
    bytes = bytes_for(v.entries);
  }
  std::size_t bytes_for(int entries) const {
    const auto count = [](int n) { return static_cast<std::size_t>(n); };
    return count(entries) * sizeof(tile_product::EntryStep) + count(columns) * sizeof(tile_product::TableColumn) +
           count(window) * sizeof(unsigned) + count(threads) * count(entries) * sizeof(int);
  }
};

/// A thread has a line of a tile, and one row of its points, or several with more lines than threads; threads beyond the
/// lines take other levels. Without a window only B = 0.
template <int B, class Sum, bool Window, int E>
__global__ void __launch_bounds__(threads_a_block, resident<B, Sum>)
    rows_kernel(const __grid_constant__ TileProductView v, const __grid_constant__ SharedPlan plan, int levels) {
  extern __shared__ tile_product::EntryStep steps[];
  auto* const columns = reinterpret_cast<tile_product::TableColumn*>(steps + v.entries);
  auto* const window = reinterpret_cast<unsigned*>(columns + plan.columns);
  auto* const found = reinterpret_cast<int*>(window + plan.window);
  const TileView& tiles = v.vector.tiles;
  const Wavefront& front = v.vector.front;
  const int b = B > 0 ? B : v.block, own_thread = static_cast<int>(threadIdx.x), all_threads = static_cast<int>(blockDim.x);
  const int slots = tiles.shape.y * tiles.shape.z * b;
  const int groups = max(1, all_threads / slots), group = own_thread / slots;
  const int next = max(slots, all_threads);
  for (int e = own_thread; e < v.entries; e += all_threads) steps[e] = tile_product::step_of(v, e);
  for (int t = blockIdx.y; t < tiles.count; t += gridDim.y) {
    const Tile tile = tiles.tiles[t];
    const int first = static_cast<int>(blockIdx.x) * levels, last = min(first + levels, tile.levels);
    if (first >= last) continue;
    const int window_level = tile.first_level + first - v.window.reach_level;
    __syncthreads();
    for (int c = own_thread; c < plan.columns; c += all_threads) columns[c] = tile_product::window_column(v, t, c);
    __syncthreads();
    // A warp a level: neighbours in ẑ are neighbours in the table.
    const int rows = Window ? last - first + 2 * v.window.reach_level + 1 : 0;
    for (int n = own_thread / warp; n < rows; n += all_threads / warp) {
      for (int c = own_thread % warp; c < plan.columns; c += warp) {
        window[n * plan.columns + c] = tile_product::window_value(v, columns[c], window_level + n);
      }
    }
    __syncthreads();
    if (group >= groups) continue;
    const unsigned* zeros = v.line_zero;
    if constexpr (Window) zeros = window;
    const tile_product::Near near{zeros, steps, found + own_thread, all_threads, window_level};
    for (int slot = own_thread - group * slots; slot < slots; slot += next) {
      const int n = slot / b, row = slot - n * b, in_z = n / tiles.shape.y;
      const int y = tile.y + n - in_z * tiles.shape.y, z = tile.z + in_z;
      if (!front.has_line(y, z)) continue;
      const auto walk = tile_product::begin_walk(v, {t, y, z}, near);
      for (int l = first + group; l < last; l += groups) {
        const int level = tile.first_level + l;
        if (static_cast<unsigned>(level - walk.start) >= static_cast<unsigned>(front.nx)) continue;
        tile_product::row<B, Sum, E>(v, walk, level, row);
      }
    }
  }
}

__global__ void line_zero_kernel(const __grid_constant__ LayoutView vector, std::int64_t runs, unsigned* line_zero) {
  const TileView& tiles = vector.tiles;
  const Tile tile = tiles.tiles[blockIdx.x];
  for (int l = threadIdx.x; l < tile.levels; l += blockDim.x) {
    const std::int64_t run = vector.first_run[blockIdx.x] + l;
    tile_product::line_zeros(vector, tile, run, tile.first_level + l, line_zero + run * (tiles.shape.z + 1));
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) tile_product::table_end(vector, runs, line_zero);
}

/// A block of threads a run.
__global__ void grow_kernel(const __grid_constant__ TileProductView from, const int* source, int entries, double* to) {
  const std::int64_t start = from.vector.run_start[blockIdx.x] * from.block;
  const auto an_entry = static_cast<unsigned>(from.vector.run_start[blockIdx.x + 1] * from.block - start);
  for (int e = 0; e < entries; ++e) {
    const double* in = from.values + start * from.entries + std::int64_t{source[e]} * an_entry;
    double* out = to + start * entries + std::int64_t{e} * an_entry;
    for (unsigned n = threadIdx.x; n < an_entry; n += blockDim.x) out[n] = source[e] < 0 ? 0.0 : in[n];
  }
}

/// A block of threads a tile, a warp a level.
__global__ void entry_kernel(const __grid_constant__ TileProductView from, int entry, double padding, double* to) {
  const Tile tile = from.vector.tiles.tiles[blockIdx.x];
  const int warps = static_cast<int>(blockDim.x) / warp, lane = static_cast<int>(threadIdx.x) % warp;
  for (int l = static_cast<int>(threadIdx.x) / warp; l < tile.levels; l += warps) {
    const auto run = tile_product::entry_run(from, static_cast<int>(blockIdx.x), tile.first_level + l, entry);
    for (int n = lane; n < run.length; n += warp) to[run.to + n] = n < run.points ? from.values[run.from + n] : padding;
  }
}

template <class Sum, int B, bool Window = true, int E = 0>
void launch(const TileProductView& v) {
  const SharedPlan plan(v);
  if (plan.bytes > most_shared_bytes) {
    throw Error(ErrorCode::bad_argument, "a product in tile order on a GPU: the stencil has too many entries");
  }
  if (plan.bytes > shared_bytes) {
    check_cuda(
        cudaFuncSetAttribute(rows_kernel<B, Sum, Window, E>, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared_bytes),
        "cudaFuncSetAttribute");
  }
  const int levels = Window ? v.window.levels : far_levels;
  const dim3 blocks(static_cast<unsigned>((v.longest + levels - 1) / levels),
                    static_cast<unsigned>(std::min(v.vector.tiles.count, most_blocks_y)));
  rows_kernel<B, Sum, Window, E><<<blocks, static_cast<unsigned>(plan.threads), plan.bytes>>>(v, plan, levels);
}

template <class Sum>
void rows(int device, const TileProductView& v) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  switch (v.window.levels > 0 ? v.block : 0) {
    case 0: launch<Sum, 0, false>(v); break;
    case 1: v.entries == star7_entries ? launch<Sum, 1, true, star7_entries>(v) : launch<Sum, 1>(v); break;
    case 2: launch<Sum, 2>(v); break;
    case 3: launch<Sum, 3>(v); break;
    case 4: launch<Sum, 4>(v); break;
    case 5: launch<Sum, 5>(v); break;
    case 6: launch<Sum, 6>(v); break;
    case 7: launch<Sum, 7>(v); break;
    case 8: launch<Sum, 8>(v); break;
    default: launch<Sum, 0>(v);
  }
  check_cuda(cudaGetLastError(), "the product in tile order");
}

void line_zeros(int device, const LayoutView& vector, std::int64_t runs, unsigned* line_zero) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  line_zero_kernel<<<static_cast<unsigned>(vector.tiles.count), table_threads>>>(vector, runs, line_zero);
  check_cuda(cudaGetLastError(), "the lines of a matrix in tile order");
}

void grow(int device, const TileProductView& from, const int* source, int entries, double* to) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  grow_kernel<<<static_cast<unsigned>(from.runs), threads_a_block>>>(from, source, entries, to);
  check_cuda(cudaGetLastError(), "growing a matrix in tile order");
}

void entry(int device, const TileProductView& from, int number, double padding, double* to) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  entry_kernel<<<static_cast<unsigned>(from.vector.tiles.count), threads_a_block>>>(from, number, padding, to);
  check_cuda(cudaGetLastError(), "an entry of a matrix in tile order");
}

}  // namespace

const TileProductKernels* tile_product_kernels() {
  static const TileProductKernels table{line_zeros,
                                        rows<tile_product::PlainSum>,
                                        rows<tile_product::CarefulSum>,
                                        rows<tile_product::SizeSum>,
                                        rows<tile_product::AddedSum>,
                                        entry,
                                        grow};
  return &table;
}

}  // namespace echelon
