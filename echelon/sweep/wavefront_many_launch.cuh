// SPDX-License-Identifier: BSD-3-Clause
// The kernel that sweeps K vectors, a tile a block, and its launch; translation units choose what is compiled.
#pragma once

#include "echelon/base/cuda_check.cuh"
#include "echelon/sweep/wavefront_many.cuh"
#include "echelon/sweep/wavefront_many_lines.cuh"

namespace echelon::device {

/// The block's tile, its barriers and an empty history; false when there is no tile left, which only a test brings about.
__device__ __forceinline__ bool take_tile(const WavefrontSweepView& v, unsigned char* memory, OwnTile& own) {
  const SweepBlock& plan = v.plan;
  own.base = shared_address(memory);
  own.history = own.base + sweep_limits::head_bytes;
  own.ring = own.history + (plan.history * plan.plane_bytes + 127) / 128 * 128;
  if (threadIdx.x == 0) {
    const int ticket = static_cast<int>(atomicAdd(&v.state->ticket, 1u));
    store(own.base + place::tile, v.lower ? ticket : v.vector.tiles.count - 1 - ticket);
    store(own.base + place::epoch, static_cast<std::int64_t>(*const_cast<volatile unsigned long long*>(&v.state->epoch)));
    for (int stage = 0; stage < plan.stages; ++stage) {
      barrier_init(own.base + place::full + 8 * stage, 1);
      warp_barrier_init(own.base + place::empty + 8 * stage, plan.warps);
    }
    for (int level = 0; level < plan.history; ++level) {
      if (plan.border_warps > 0) warp_barrier_init(own.base + place::border + 8 * level, plan.border_warps);
      warp_barrier_init(own.base + place::done + 8 * level, plan.warps);
    }
    barriers_are_ready();
  }
  for (int at = threadIdx.x * 4; at < plan.history * plan.plane_bytes; at += blockDim.x * 4) store(own.history + at, 0);
  __syncthreads();
  std::int64_t epoch;
  load(own.base + place::tile, own.number);
  load(own.base + place::epoch, epoch);
  own.epoch = static_cast<unsigned long long>(epoch);
  if (static_cast<unsigned>(own.number) >= static_cast<unsigned>(v.vector.tiles.count)) return false;
  own.tile = v.vector.tiles.tiles[own.number];
  own.levels = own.tile.levels;
  own.first_run = v.vector.first_run[own.number];
  own.slots = v.reach_z * v.vector.tiles.shape.y + v.reach_y * v.vector.tiles.shape.z;
  return true;
}

template <int B, int K, int M>
__global__ void __launch_bounds__(sweep_limits::threads, 1)
    wavefront_many_kernel(const __grid_constant__ WavefrontManyView many) {
  extern __shared__ __align__(128) unsigned char memory[];
  const WavefrontSweepView& v = many.sweep;
  const SweepBlock& plan = v.plan;
  OwnTile own;
  if (!take_tile(v, memory, own)) return finish_block(v);
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size, computing = plan.warps * plan.groups;
  if (warp == computing) {
    copy_many_ahead<B, K>(many, own, lane);
  } else if (warp > computing) {
    fetch_many_borders<B, K>(many, own, warp - computing - 1, lane);
  } else {
    ManyLines<B, K, M> lines(many, own, warp, lane);
    // Later groups have these behind them with the steps they wait for; they may also come too late to ask.
    for (int s = -v.deepest; s < 0 && plan.border_warps > 0 && lines.group < 2; ++s) {
      barrier_wait(own.base + place::border + 8 * (s & (plan.history - 1)), 0);
    }
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
