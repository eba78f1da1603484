// SPDX-License-Identifier: BSD-3-Clause
// The kernel that sweeps K vectors, a tile a block, and its launch; translation units choose what is compiled.
#pragma once

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/sweep/grid_gpu/wavefront_many.cuh"
#include "echelon/sweep/grid_gpu/wavefront_many_lines.cuh"

namespace echelon::device {

template <int B, int K, int M>
__global__ void __launch_bounds__(sweep_limits::threads, 1)
    wavefront_many_kernel(const __grid_constant__ WavefrontManyView many) {
  extern __shared__ __align__(128) unsigned char memory[];
  const WavefrontSweepView& v = many.sweep;
  const SweepBlock& plan = v.plan;
  OwnTile own;
  if (!take_tile(v, memory, own)) return finish_block(v);
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size, computing = plan.warps * plan.groups;
  if (warp >= computing && warp < computing + plan.copiers) {
    copy_ahead<B, K, double, double>(v, own, warp - computing, lane, [&](int k) { return many.r[k]; });
  } else if (warp > computing) {
    fetch_many_borders<B, K>(many, own, warp - computing - plan.copiers, lane);
  } else {
    ManyLines<B, K, M> lines(many, own, warp, lane);
    lines.await_first_borders();
    lines.run();
  }
  finish_block(v);
}

template <int B, int K, int M>
void launch_many(const WavefrontManyView& many) {
  const auto kernel = wavefront_many_kernel<B, K, M>;
  const SweepBlock& plan = many.sweep.plan;
  const int bytes = static_cast<int>(plan.shared_bytes);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "sweep of several vectors: shared memory");
  kernel<<<static_cast<unsigned>(many.sweep.vector.tiles.count), static_cast<unsigned>(plan.threads),
           static_cast<std::size_t>(bytes)>>>(many);
  check_cuda(cudaGetLastError(), "sweep of several vectors");
}

/// By block size.
void launch_many_scalars(const WavefrontManyView& many);
void launch_many_blocks(const WavefrontManyView& many);

[[noreturn]] inline void no_many_kernel(const WavefrontManyView& many) {
  throw Error(ErrorCode::bad_argument, "sweep: no kernel for " + std::to_string(many.columns) + " vectors, blocks of " +
                                           std::to_string(many.sweep.dof) + " and " +
                                           std::to_string(many.sweep.plan.lines_a_thread) + " lines a thread");
}

}  // namespace echelon::device
