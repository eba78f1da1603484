// SPDX-License-Identifier: BSD-3-Clause
// The kernels of assembly.hpp and point_samples.hpp for a recipe. A thread writes a scalar row of a point, all its entries
// and columns: what a level's lines write side by side is contiguous. Where the recipe says so, blocks are made whole instead
// (assembly_blocks.cuh). Samples: a thread a point.
#pragma once

#include "echelon/base/cuda_check.cuh"
#include "echelon/matrix/tile_walk.cuh"
#include "echelon/problem/assembly.hpp"
#include "echelon/problem/assembly_blocks.cuh"
#include "echelon/problem/point_samples.hpp"

namespace echelon::problems {

constexpr int sample_threads = 128, speed_blocks = 1024, speed_threads = 256;
constexpr unsigned most_padding = 8;  // a run is padded by less

/// Blocks of threads that are resident on a multiprocessor: more of them hide what a row waits for, until registers spill.
template <class Recipe>
constexpr int assembly_resident = Recipe::unknowns < 4 ? 2 : 3;

/// Known: on the recipe's own stencil, which the compiler knows.
template <class Recipe, bool Known>
__global__ void __launch_bounds__(TileWalk::threads, assembly_resident<Recipe>)
    assembly_kernel(const __grid_constant__ AssemblyView v, const __grid_constant__ Recipe recipe) {
  extern __shared__ int walk_memory[];
  const int b = Recipe::unknowns > 0 ? Recipe::unknowns : v.block;
  const unsigned columns = static_cast<unsigned>(v.entry_count * b);
  walk_tiles(
      v.vector, b, walk_memory,
      [&](Ijk p, int row, const TileRun& run, unsigned rank) {
        double* const first = v.values + run.start * columns + rank;
        if constexpr (Known) {
          write_known_row(v, recipe, p, row, first, run.length);
        } else {
          write_row(v, recipe, p, row, first, run.length);
        }
      },
      [&](const TileRun& run) {
        const unsigned padding = run.length - run.used;
        if (padding == 0) return;
        for (unsigned n = threadIdx.x; n < columns * most_padding; n += TileWalk::threads) {
          if (n % most_padding < padding) {
            v.values[run.start * columns + std::int64_t{n / most_padding} * run.length + run.used + n % most_padding] = 0;
          }
        }
      });
}

template <class Recipe>
void write_on_gpu(int device, const AssemblyView& view, const Recipe& recipe) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  auto* kernel = assembly_kernel<Recipe, false>;
  if constexpr (WholeBlocks<Recipe>) {
    if (view.known && write_blocks(view, recipe)) return;
  } else if constexpr (KnownRecipe<Recipe>) {
    if (view.known) kernel = assembly_kernel<Recipe, true>;
  }
  kernel<<<TileWalk::blocks(view.vector, view.longest), TileWalk::threads, TileWalk::shared_bytes(view.vector)>>>(view,
                                                                                                                  recipe);
  check_cuda(cudaGetLastError(), "assembly");
}

template <class Sampler>
__global__ void __launch_bounds__(sample_threads)
    sample_kernel(const __grid_constant__ SamplePoints points, const __grid_constant__ Sampler sampler, double* values,
                  unsigned long long* first_bad) {
  constexpr int components = Sampler::components;
  // Written from here in the order of the memory: a thread's own values lie far from its neighbours'.
  __shared__ double staged[sample_threads * components];
  const std::int64_t nx = points.grid.nx + 2 * points.halo, ny = points.grid.ny + 2 * points.halo,
                     nz = points.grid.nz + 2 * points.halo;
  const std::int64_t first = blockIdx.x * std::int64_t{sample_threads}, point = first + threadIdx.x;
  if (point < nx * ny * nz) {
    double at[components];
    bool good = sampler(coordinate(point % nx - points.halo, points.grid.nx, points.place),
                        coordinate(point / nx % ny - points.halo, points.grid.ny, points.place),
                        coordinate(point / nx / ny - points.halo, points.grid.nz, points.place), at);
    for (int c = 0; c < components; ++c) {
      good = good && isfinite(at[c]);
      staged[threadIdx.x * components + c] = at[c];
    }
    if (!good) atomicMin(first_bad, static_cast<unsigned long long>(point));
  }
  __syncthreads();
  const int count = static_cast<int>(min(std::int64_t{sample_threads}, nx * ny * nz - first)) * components;
  for (int n = threadIdx.x; n < count; n += sample_threads) values[first * components + n] = staged[n];
}

template <class Sampler>
void sample_on_gpu(int device, const SamplePoints& points, const Sampler& sampler, double* values,
                   unsigned long long* first_bad) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const std::int64_t blocks = (points.with_halo().points() + sample_threads - 1) / sample_threads;
  sample_kernel<<<static_cast<unsigned>(blocks), sample_threads>>>(points, sampler, values, first_bad);
  check_cuda(cudaGetLastError(), "sampling");
}

/// Speeds are not negative, so their order is that of their bits.
template <class Speed>
__global__ void __launch_bounds__(speed_threads)
    speed_kernel(const __grid_constant__ Speed speed, const double* samples, std::int64_t points, unsigned long long* top) {
  double own = 0;
  const std::int64_t step = gridDim.x * std::int64_t{blockDim.x};
  for (std::int64_t p = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; p < points; p += step) {
    own = fmax(own, speed(samples + p * Speed::components));
  }
  for (int half = 16; half > 0; half /= 2) own = fmax(own, __shfl_down_sync(0xffffffffu, own, half));
  if (threadIdx.x % 32 == 0) atomicMax(top, static_cast<unsigned long long>(__double_as_longlong(own)));
}

template <class Speed>
double largest_on_gpu(int device, const Speed& speed, const double* samples, std::int64_t points) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const Device place{Device::Kind::cuda, device};
  const Array<unsigned long long> zero{0};
  auto top = zero.to(place);
  const std::int64_t blocks = std::min<std::int64_t>((points + speed_threads - 1) / speed_threads, speed_blocks);
  speed_kernel<<<static_cast<unsigned>(blocks), speed_threads>>>(speed, samples, points, top.data());
  check_cuda(cudaGetLastError(), "the largest speed");
  return std::bit_cast<double>(top.to(Device::host())[0]);
}

template <class Recipe>
const AssemblyKernels<Recipe>* assembly_kernels() {
  static const AssemblyKernels<Recipe> table{write_on_gpu<Recipe>};
  return &table;
}
template <class Sampler>
const SamplerKernels<Sampler>* sampler_kernels() {
  static const SamplerKernels<Sampler> table{sample_on_gpu<Sampler>};
  return &table;
}
template <class Speed>
const SpeedKernels<Speed>* speed_kernels() {
  static const SpeedKernels<Speed> table{largest_on_gpu<Speed>};
  return &table;
}

}  // namespace echelon::problems
