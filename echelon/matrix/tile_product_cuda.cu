// SPDX-License-Identifier: BSD-3-Clause
// The kernels of tile_product_view.hpp. A block of threads runs some levels of a tile, neighbours in ŷ side by side, so that
// coefficients and most of x are read in whole sectors.
// Bytes a scalar row: 8 b an entry, and 16 (residual: 24); x of the neighbours comes from the caches.
#include <cuda_runtime.h>

#include <algorithm>

#include "echelon/base/cuda_check.cuh"
#include "echelon/matrix/tile_product.inl"

namespace echelon {
namespace {

constexpr int threads = 256;
/// Scalar rows that a block of threads is given, and the fewest levels.
constexpr int rows_a_block = 4096, least_levels = 8;
constexpr int table_threads = 128;
constexpr int most_blocks_y = 65535;

template <int B, class Sum>
__global__ void __launch_bounds__(threads) rows_kernel(const __grid_constant__ TileProductView v, int levels) {
  __shared__ std::int64_t origins[tile_product::around];
  const TileView& tiles = v.vector.tiles;
  const Wavefront& front = v.vector.front;
  const int b = B > 0 ? B : v.block;
  const int slots = tiles.shape.y * tiles.shape.z * b;
  for (int t = blockIdx.y; t < tiles.count; t += gridDim.y) {
    const Tile tile = tiles.tiles[t];
    const int first = static_cast<int>(blockIdx.x) * levels, last = min(first + levels, tile.levels);
    if (first >= last) continue;
    __syncthreads();
    if (threadIdx.x < tile_product::around) {
      origins[threadIdx.x] = tile_product::origin_around(v.vector, tile, static_cast<int>(threadIdx.x));
    }
    __syncthreads();
    for (int item = threadIdx.x; item < slots * (last - first); item += threads) {
      const int l = item / slots, slot = item - l * slots;
      const int n = slot / b, row = slot - n * b, in_z = n / tiles.shape.y;
      const int y = tile.y + n - in_z * tiles.shape.y, z = tile.z + in_z;
      const int level = tile.first_level + first + l;
      const int i = level - front.line_start(y, z);
      if (!front.has_line(y, z) || i < 0 || i >= front.nx) continue;
      tile_product::row<B, Sum>(v, {tile, origins, y, z}, level, row);
    }
  }
}

__global__ void line_zero_kernel(const __grid_constant__ LayoutView vector, std::int64_t* line_zero) {
  const TileView& tiles = vector.tiles;
  const Tile tile = tiles.tiles[blockIdx.x];
  for (int l = threadIdx.x; l < tile.levels; l += blockDim.x) {
    const std::int64_t run = vector.first_run[blockIdx.x] + l;
    tile_product::line_zeros(vector, tile, run, tile.first_level + l, line_zero + run * tiles.shape.z);
  }
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

template <class Sum, int B>
void launch(const TileProductView& v) {
  const TileShape shape = v.vector.tiles.shape;
  const int levels = std::max(least_levels, rows_a_block / (shape.y * shape.z * v.block));
  const dim3 blocks(static_cast<unsigned>((v.longest + levels - 1) / levels),
                    static_cast<unsigned>(std::min(v.vector.tiles.count, most_blocks_y)));
  rows_kernel<B, Sum><<<blocks, threads>>>(v, levels);
}

template <class Sum>
void rows(int device, const TileProductView& v) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  switch (v.block) {
    case 1: launch<Sum, 1>(v); break;
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

void line_zeros(int device, const LayoutView& vector, std::int64_t* line_zero) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  line_zero_kernel<<<static_cast<unsigned>(vector.tiles.count), table_threads>>>(vector, line_zero);
  check_cuda(cudaGetLastError(), "the lines of a matrix in tile order");
}

void grow(int device, const TileProductView& from, const int* source, int entries, double* to) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  grow_kernel<<<static_cast<unsigned>(from.runs), threads>>>(from, source, entries, to);
  check_cuda(cudaGetLastError(), "growing a matrix in tile order");
}

}  // namespace

const TileProductKernels* tile_product_kernels() {
  static const TileProductKernels table{line_zeros, rows<tile_product::PlainSum>, rows<tile_product::CarefulSum>,
                                        rows<tile_product::SizeSum>, grow};
  return &table;
}

}  // namespace echelon
