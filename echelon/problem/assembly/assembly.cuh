// SPDX-License-Identifier: BSD-3-Clause
// The kernels of assembly.hpp and point_samples.hpp for a recipe. A thread writes a scalar row of a point, all its entries
// and columns: what a level's lines write side by side is contiguous. On stencils that the compiler knows, blocks are made
// whole (assembly_blocks.cuh), or all of a point together (assembly_points.cuh). Samples: a thread a point.
#pragma once

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/matrix/grid_gpu/tile_walk.cuh"
#include "echelon/problem/assembly/assembly.hpp"
#include "echelon/problem/assembly/assembly_blocks.cuh"
#include "echelon/problem/assembly/assembly_points.cuh"
#include "echelon/problem/assembly/point_samples.hpp"

namespace echelon::problems {

constexpr int sample_threads = 128;

/// Blocks of threads that are resident on a multiprocessor: more of them hide what a row waits for, until registers spill.
template <class Recipe>
constexpr int assembly_resident = Recipe::unknowns < 4 ? 2 : 3;

template <class Recipe>
__global__ void __launch_bounds__(TileWalk::threads, assembly_resident<Recipe>)
    assembly_kernel(const __grid_constant__ AssemblyView v, const __grid_constant__ Recipe recipe) {
  extern __shared__ int walk_memory[];
  const int b = Recipe::unknowns > 0 ? Recipe::unknowns : v.block;
  const unsigned columns = static_cast<unsigned>(v.entry_count * b);
  walk_tiles(
      v.vector, b, walk_memory,
      [&](Ijk p, int row, const TileRun& run, unsigned rank) {
        write_row(v, recipe, p, row, v.values + run.start * columns + rank, run.length);
      },
      [&](const TileRun& run) { clear_padding(v.values, run.start * columns, run.length, run.used, columns); });
}

template <class Recipe>
void write_on_gpu(int device, const AssemblyView& view, const Recipe& recipe) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  if constexpr (WholeBlocks<Recipe>) {
    if (view.known && write_blocks(view, recipe)) return;
  } else if constexpr (WholePoints<Recipe>) {
    if (view.known) return write_points(view, recipe);
  }
  assembly_kernel<Recipe>
      <<<TileWalk::blocks(view.vector, view.longest), TileWalk::threads, TileWalk::shared_bytes(view.vector)>>>(view,
                                                                                                                recipe);
  check_cuda(cudaGetLastError(), "assembly");
}

/// By whole warps. Speeds are not negative, so their order is that of their bits. Most warps have nothing larger than what
/// is known, and save an atomic operation on a word that all share.
__device__ __forceinline__ void keep_largest(double own, double* top) {
  for (int half = 16; half > 0; half /= 2) own = fmax(own, __shfl_down_sync(0xffffffffu, own, half));
  if (threadIdx.x % 32 != 0 || !(own > *static_cast<const volatile double*>(top))) return;
  atomicMax(reinterpret_cast<unsigned long long*>(top), static_cast<unsigned long long>(__double_as_longlong(own)));
}

template <class Sampler, class Speed>
__global__ void __launch_bounds__(sample_threads)
    sample_kernel(const __grid_constant__ SamplePoints points, const __grid_constant__ Sampler sampler,
                  const __grid_constant__ Speed speed, double* values, SampleFindings* found) {
  constexpr int components = Sampler::components;
  // Written from here in the order of the memory: a thread's own values lie far from its neighbours'.
  __shared__ double staged[sample_threads * components];
  const std::int64_t nx = points.grid.nx + 2 * points.halo, ny = points.grid.ny + 2 * points.halo,
                     nz = points.grid.nz + 2 * points.halo;
  const std::int64_t first = blockIdx.x * std::int64_t{sample_threads}, point = first + threadIdx.x;
  double own = 0;
  if (point < nx * ny * nz) {
    double at[components];
    bool good = sampler(coordinate(point % nx - points.halo, points.grid.nx, points.place),
                        coordinate(point / nx % ny - points.halo, points.grid.ny, points.place),
                        coordinate(point / nx / ny - points.halo, points.grid.nz, points.place), at);
    for (int c = 0; c < components; ++c) {
      good = good && isfinite(at[c]);
      staged[threadIdx.x * components + c] = at[c];
    }
    if (!good) atomicMin(&found->first_bad, static_cast<unsigned long long>(point));
    own = fmax(own, speed(at));
  }
  if constexpr (!std::is_same_v<Speed, NoSpeed>) keep_largest(own, &found->fastest);
  __syncthreads();
  const int count = static_cast<int>(min(std::int64_t{sample_threads}, nx * ny * nz - first)) * components;
  for (int n = threadIdx.x; n < count; n += sample_threads) values[first * components + n] = staged[n];
}

template <class Sampler, class Speed>
void sample_on_gpu(int device, const SamplePoints& points, const Sampler& sampler, const Speed& speed, double* values,
                   SampleFindings* found) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const std::int64_t blocks = (points.with_halo().points() + sample_threads - 1) / sample_threads;
  sample_kernel<<<static_cast<unsigned>(blocks), sample_threads>>>(points, sampler, speed, values, found);
  check_cuda(cudaGetLastError(), "sampling");
}

template <class Recipe>
const AssemblyKernels<Recipe>* assembly_kernels() {
  static const AssemblyKernels<Recipe> table{write_on_gpu<Recipe>};
  return &table;
}
template <class Sampler, class Speed>
const SamplerKernels<Sampler, Speed>* sampler_kernels() {
  static const SamplerKernels<Sampler, Speed> table{sample_on_gpu<Sampler, Speed>};
  return &table;
}

}  // namespace echelon::problems
