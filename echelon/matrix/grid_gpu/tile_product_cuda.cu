// SPDX-License-Identifier: BSD-3-Clause
// The kernels of tile_product_view.hpp. Products of blocks of 1–8 go through tile_product_stream.cuh; this one is for other
// blocks, for stencils that reach so far that the part of the table that a walk needs has no room near it, and for tiles of
// more rows than a block has threads.
#include <cuda_runtime.h>

#include <algorithm>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/error.hpp"
#include "echelon/matrix/grid_gpu/tile_product_stream.cuh"

namespace echelon {
namespace {

using tile_product::warp;

constexpr int threads_a_block = 256;
constexpr int table_threads = 128;
constexpr int shared_bytes = 48 * 1024;

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
    return count(entries) * sizeof(EntryStep) + count(columns) * sizeof(tile_product::TableColumn) +
           count(window) * sizeof(unsigned) + count(threads) * count(entries) * sizeof(int);
  }
};

/// A thread has a line of a tile, and one row of its points, or several with more lines than threads; threads beyond the
/// lines take other levels.
template <class Sum, bool Window>
__global__ void __launch_bounds__(threads_a_block, 3)
    rows_kernel(const __grid_constant__ TileProductView v, const __grid_constant__ SharedPlan plan) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const steps = reinterpret_cast<EntryStep*>(memory);
  auto* const columns = reinterpret_cast<tile_product::TableColumn*>(steps + v.entries);
  auto* const window = reinterpret_cast<unsigned*>(columns + plan.columns);
  const TileView& tiles = v.vector.tiles;
  const Wavefront& front = v.vector.front;
  const TileStretch stretch = v.stretches[blockIdx.x];
  const Tile tile = tiles.tiles[stretch.tile];
  const int first_level = tile.first_level + stretch.first - v.window.reach_level;
  const int b = v.block, own = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  auto* const constants = reinterpret_cast<int*>(window + plan.window) + own;
  const int slots = tiles.shape.y * tiles.shape.z * b;
  const int groups = max(1, threads / slots), group = own / slots, next = max(slots, threads);
  for (int e = own; e < v.entries; e += threads) steps[e] = tile_product::step_of(v, e);
  for (int c = own; c < plan.columns; c += threads) columns[c] = tile_product::window_column(v, stretch.tile, c);
  __syncthreads();
  const int rows = Window ? stretch.last - stretch.first + 2 * v.window.reach_level + 1 : 0;
  for (int n = own / warp; n < rows; n += threads / warp) {
    for (int c = own % warp; c < plan.columns; c += warp) {
      window[n * plan.columns + c] = tile_product::window_value(v, columns[c], first_level + n);
    }
  }
  __syncthreads();
  if (group >= groups) return;
  for (int slot = own - group * slots; slot < slots; slot += next) {
    const int n = slot / b, row = slot - n * b, in_z = n / tiles.shape.y;
    const tile_product::Line line{stretch.tile, tile.y + n - in_z * tiles.shape.y, tile.z + in_z};
    if (!front.has_line(line.y, line.z)) continue;
    for (int e = 0; e < v.entries; ++e) {
      constants[e * threads] = tile_product::neighbour_constant(v, line, e, first_level);
    }
    const auto walk = tile_product::walk_of(v, line, Window ? window : v.line_zero, first_level);
    for (int l = stretch.first + group; l < stretch.last; l += groups) {
      const int level = tile.first_level + l;
      if (static_cast<unsigned>(level - walk.start) >= static_cast<unsigned>(front.nx)) continue;
      tile_product::row<0, Sum>(v, walk, {constants, threads, steps}, level, row);
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

bool few(const TileProductView& v) { return v.block == 1 && v.entries == TileProductView::few_entries; }

template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
  if (bytes <= shared_bytes) return;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, tile_product::most_shared_bytes),
             "cudaFuncSetAttribute");
}

template <class Sum, bool Window>
void launch_plain(const TileProductView& v) {
  const SharedPlan plan(v);
  if (plan.bytes > tile_product::most_shared_bytes) {
    throw Error(ErrorCode::bad_argument, "a product in tile order on a GPU: the stencil has too many entries");
  }
  allow_shared(rows_kernel<Sum, Window>, plan.bytes);
  rows_kernel<Sum, Window>
      <<<static_cast<unsigned>(v.stretch_count), static_cast<unsigned>(plan.threads), plan.bytes>>>(v, plan);
}

template <class Sum, int B, int E = 0>
void launch(const TileProductView& v) {
  const tile_product::StreamPlan plan(v, tile_product::batch<B>, E > 0);
  if (!plan.fits()) return launch_plain<Sum, true>(v);
  const auto kernel = tile_product::streamed_rows_kernel<B, Sum, E>;
  allow_shared(kernel, plan.bytes);
  kernel<<<static_cast<unsigned>(v.stretch_count), static_cast<unsigned>((plan.warps + 1) * warp), plan.bytes>>>(v, plan);
}

template <class Sum>
void rows(int device, const TileProductView& v) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  switch (v.window.levels > 0 ? v.block : 0) {
    case 0: launch_plain<Sum, false>(v); break;
    case 1: few(v) ? launch<Sum, 1, TileProductView::few_entries>(v) : launch<Sum, 1>(v); break;
    case 2: launch<Sum, 2>(v); break;
    case 3: launch<Sum, 3>(v); break;
    case 4: launch<Sum, 4>(v); break;
    case 5: launch<Sum, 5>(v); break;
    case 6: launch<Sum, 6>(v); break;
    case 7: launch<Sum, 7>(v); break;
    case 8: launch<Sum, 8>(v); break;
    default: launch_plain<Sum, true>(v);
  }
  check_cuda(cudaGetLastError(), "the product in tile order");
}

/// None where the plain kernel multiplies.
std::int64_t parts(const TileProductView& v) {
  if (v.window.levels == 0 || v.block > 8) return 0;
  return tile_product::StreamPlan(v, tile_product::batch_of(v.block), few(v)).fits() ? v.stretch_count : 0;
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
                                        rows<tile_product::DottedSum>,
                                        parts,
                                        rows<tile_product::CarefulSum>,
                                        rows<tile_product::SizeSum>,
                                        rows<tile_product::AddedSum>,
                                        entry,
                                        grow};
  return &table;
}

}  // namespace echelon
