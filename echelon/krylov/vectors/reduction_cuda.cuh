// SPDX-License-Identifier: BSD-3-Clause
// Reductions on a GPU in the shape of reduction_tree.hpp: a warp a chunk, a lane a lane; a block of threads adds its eight
// chunks pairwise, and a second kernel the blocks. Groups of 2^k neighbours at multiples of 2^k are whole subtrees of the
// pairwise tree, and a lonely last one moves up unchanged, so the bits are those of the host.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "echelon/base/cuda/absent_value.cuh"
#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/fma.hpp"
#include "echelon/base/reduction_tree.hpp"
#include "echelon/krylov/vectors/device_vector_kernels.hpp"

namespace echelon::device {

constexpr int warp_lanes = 32, warps_a_block = 8, reduce_threads = warps_a_block * warp_lanes;
/// Elements of a lane whose loads are under way together.
constexpr int elements_together = 8;
constexpr unsigned whole_warp = 0xffffffffu;
constexpr int finish_threads = 1024;
/// Enough for 2³² elements.
constexpr int largest_group = 128;
static_assert(reduction::lanes == warp_lanes);

inline std::int64_t blocks_of(std::int64_t n) { return (reduction::chunks(n) + warps_a_block - 1) / warps_a_block; }

/// The pairwise tree over `count` ≥ 1 numbers, the first of an aligned group of Size.
template <int Size>
__device__ __forceinline__ double tree(const double* part, int count) {
  if constexpr (Size == 1) {
    return part[0];
  } else {
    const double left = tree<Size / 2>(part, min(count, Size / 2));
    return count <= Size / 2 ? left : left + tree<Size / 2>(part + Size / 2, count - Size / 2);
  }
}

/// The tree over the first `count` lanes of a warp, in lane 0.
__device__ __forceinline__ double tree_of_lanes(double value, int count) {
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
#pragma unroll
  for (int distance = 1; distance < warp_lanes; distance *= 2) {
    const double other = __shfl_down_sync(whole_warp, value, distance);
    if (lane + distance < count) value += other;
  }
  return value;
}

/// The chunk of this warp; empty behind the end.
struct ChunkOfWarp {
  std::int64_t begin, end;
  __device__ __forceinline__ ChunkOfWarp(std::int64_t n, unsigned block) {
    begin = (std::int64_t{block} * warps_a_block + threadIdx.x / warp_lanes) * reduction::chunk;
    end = min(begin + reduction::chunk, n);
  }
};

/// The lanes by halves, the chunks of the block by the tree; sum s < used of the block goes to partial[s · blocks + block].
template <int Sums>
__device__ __forceinline__ void fold(double (&sum)[Sums], std::int64_t n, unsigned block, unsigned blocks, double* partial,
                                     int used = Sums) {
  __shared__ double part[Sums][warps_a_block];
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes, warp = static_cast<int>(threadIdx.x) / warp_lanes;
#pragma unroll
  for (int s = 0; s < Sums; ++s) {
#pragma unroll
    for (int half = warp_lanes / 2; half > 0; half /= 2) sum[s] += __shfl_down_sync(whole_warp, sum[s], half);
    if (lane == 0) part[s][warp] = sum[s];
  }
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < used) {
    const std::int64_t left = reduction::chunks(n) - std::int64_t{block} * warps_a_block;
    const int count = static_cast<int>(min(left, std::int64_t{warps_a_block}));
    partial[std::int64_t{threadIdx.x} * blocks + block] = tree<warps_a_block>(part[threadIdx.x], count);
  }
}

/// Of a work that loads much, fewer: it says so by `together`.
template <class Work>
constexpr int together_of() {
  if constexpr (requires { Work::together; }) {
    return Work::together;
  } else {
    return elements_together;
  }
}

/// Work has `sums`, Loaded, start() for what all elements share, load(i) and use(i, loaded, shared, sum).
template <class Work>
__global__ void __launch_bounds__(reduce_threads)
    reduce_kernel(const __grid_constant__ Work work, std::int64_t n, double* partial) {
  const auto shared = work.start();
  const ChunkOfWarp chunk(n, blockIdx.x);
  constexpr std::int64_t lanes = warp_lanes;
  constexpr int together = together_of<Work>();
  double sum[Work::sums] = {};
  std::int64_t i = chunk.begin + threadIdx.x % warp_lanes;
  for (; i + (together - 1) * lanes < chunk.end; i += together * lanes) {
    typename Work::Loaded in[together];
#pragma unroll
    for (int k = 0; k < together; ++k) in[k] = work.load(i + k * lanes);
#pragma unroll
    for (int k = 0; k < together; ++k) work.use(i + k * lanes, in[k], shared, sum);
  }
  for (; i < chunk.end; i += lanes) work.use(i, work.load(i), shared, sum);
  fold(sum, n, blockIdx.x, gridDim.x, partial);
}

/// A block of threads a sum: a thread takes an aligned group of `group` parts, a power of two.
static __global__ void __launch_bounds__(finish_threads)
    finish_kernel(const double* partial, int parts, int group, double* totals, double* kept) {
  __shared__ double of_warp[warp_lanes];
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes, warp = static_cast<int>(threadIdx.x) / warp_lanes;
  const int begin = static_cast<int>(threadIdx.x) * group, count = min(group, parts - begin);
  const int groups = (parts + group - 1) / group;
  const double* own = partial + std::int64_t{blockIdx.x} * parts + begin;
  double value = 0;
  if (count > 0) {
    switch (group) {
      case 1: value = tree<1>(own, count); break;
      case 2: value = tree<2>(own, count); break;
      case 4: value = tree<4>(own, count); break;
      case 8: value = tree<8>(own, count); break;
      default: value = tree<largest_group>(own, count);
    }
  }
  value = tree_of_lanes(value, groups - warp * warp_lanes);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp > 0) return;
  value = tree_of_lanes(of_warp[lane], (groups + warp_lanes - 1) / warp_lanes);
  if (lane > 0) return;
  *static_cast<volatile double*>(totals + blockIdx.x) = published(value);
  if (kept) kept[blockIdx.x] = value;
}

/// Adds the `parts` parts of each of `sums` sums into at.totals.
inline void add_parts(const DeviceSums& at, const double* partial, std::int64_t parts, int sums) {
  if (parts > std::int64_t{largest_group} * finish_threads) {
    throw Error(ErrorCode::bad_argument, "vectors of more than 2^32 elements on a GPU");
  }
  int group = 1;
  while (std::int64_t{group} * finish_threads < parts) group = group < 8 ? 2 * group : largest_group;
  finish_kernel<<<static_cast<unsigned>(sums), finish_threads>>>(partial, static_cast<int>(parts), group, at.totals,
                                                                 at.kept);
}
inline void finish(const DeviceSums& at, int sums) { add_parts(at, at.partial, blocks_of(at.n), sums); }

inline void select(const DeviceSums& at) { check_cuda(cudaSetDevice(at.device), "cudaSetDevice"); }

/// Totals of vectors without elements; nothing is queued before them that would write there.
inline bool all_zero(const DeviceSums& at, int sums) {
  for (int s = 0; at.n == 0 && s < sums; ++s) at.totals[s] = 0;
  return at.n == 0;
}

template <class Work>
void reduce(const DeviceSums& at, const Work& work, const char* what) {
  if (all_zero(at, Work::sums)) return;
  select(at);
  reduce_kernel<<<static_cast<unsigned>(blocks_of(at.n)), reduce_threads>>>(work, at.n, at.partial);
  finish(at, Work::sums);
  check_cuda(cudaGetLastError(), what);
}

}  // namespace echelon::device
