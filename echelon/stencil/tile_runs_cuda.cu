// SPDX-License-Identifier: BSD-3-Clause
// The kernels of tile_runs_view.hpp. A block of threads a tile, a thread a level: it counts the lines of every ẑ that have a
// point there, and a prefix sum over the levels places them. 8 bytes a run are written.
#include <cuda_runtime.h>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/stencil/tile_runs_view.hpp"

namespace echelon {
namespace {

constexpr int threads = 256, warp = 32, warps = threads / warp;

__global__ void __launch_bounds__(threads) run_start_kernel(const __grid_constant__ LayoutView vector, int unit,
                                                            const std::int64_t* tile_start, std::int64_t* run_start) {
  __shared__ long long sum_of[warps];
  const TileView& tiles = vector.tiles;
  const Tile tile = tiles.tiles[blockIdx.x];
  const int end_z = tiles.end_z(tile), lane = threadIdx.x % warp, own_warp = threadIdx.x / warp;
  std::int64_t* const starts = run_start + vector.first_run[blockIdx.x];
  long long before = tile_start[blockIdx.x];
  for (int first = 0; first < tile.levels; first += threads) {
    const int l = first + static_cast<int>(threadIdx.x);
    long long own = 0;
    if (l < tile.levels) {
      const std::int64_t scalars = std::int64_t{tiles.lines_before(tile, tile.first_level + l, end_z)} * vector.rows;
      own = (scalars + unit - 1) / unit * unit;
    }
    long long until = own;  // and with the own one
    for (int step = 1; step < warp; step *= 2) {
      const long long other = __shfl_up_sync(0xffffffffu, until, step);
      until += lane >= step ? other : 0;
    }
    if (lane == warp - 1) sum_of[own_warp] = until;
    __syncthreads();
    long long all = 0;
    for (int w = 0; w < warps; ++w) {
      until += w < own_warp ? sum_of[w] : 0;
      all += sum_of[w];
    }
    __syncthreads();
    if (l < tile.levels) starts[l] = before + until - own;
    before += all;
  }
  if (blockIdx.x + 1 == gridDim.x && threadIdx.x == 0) starts[tile.levels] = tile_start[gridDim.x];
}

__global__ void stretch_kernel(const std::int64_t* from, std::int64_t count, std::int64_t factor, std::int64_t* to) {
  const std::int64_t n = blockIdx.x * std::int64_t{threads} + threadIdx.x;
  if (n < count) to[n] = factor * from[n];
}

void run_starts(int device, const LayoutView& vector, int unit, const std::int64_t* tile_start, std::int64_t* run_start) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  run_start_kernel<<<static_cast<unsigned>(vector.tiles.count), threads>>>(vector, unit, tile_start, run_start);
  check_cuda(cudaGetLastError(), "the runs of a tile order");
}

void stretched(int device, const std::int64_t* from, std::int64_t count, std::int64_t factor, std::int64_t* to) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  stretch_kernel<<<static_cast<unsigned>((count + threads - 1) / threads), threads>>>(from, count, factor, to);
  check_cuda(cudaGetLastError(), "the runs of a tile order");
}

}  // namespace

const TileRunKernels* tile_run_kernels() {
  static const TileRunKernels table{run_starts, stretched};
  return &table;
}

}  // namespace echelon
