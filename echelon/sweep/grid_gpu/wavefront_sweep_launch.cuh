// SPDX-License-Identifier: BSD-3-Clause
// Choice and launch of a compiled kernel; one translation unit a block size includes this.
#pragma once

#include <type_traits>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/sweep/grid_gpu/wavefront_sweep.cuh"

namespace echelon::device {

using SweepKernel = void (*)(const WavefrontSweepView);

/// A kernel that is compiled for this triangle and plan (wavefront_sweep_known_launch.cuh); null without one.
template <int B>
SweepKernel known_block_kernel(const WavefrontSweepView& v, int vector_bytes, Stored stored);

inline void launch_sweep_kernel(SweepKernel kernel, const WavefrontSweepView& v) {
  const int bytes = static_cast<int>(v.plan.shared_bytes);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "sweep: shared memory");
  kernel<<<static_cast<unsigned>(v.vector.tiles.count), static_cast<unsigned>(v.plan.threads),
           static_cast<std::size_t>(bytes)>>>(v);
  check_cuda(cudaGetLastError(), "sweep");
}

/// Lines a thread there are kernels for.
template <int B, class V, class S>
void launch_sweep_of(const WavefrontSweepView& v) {
  const int M = v.plan.lines_a_thread;
  if (M == 1) return launch_sweep_kernel(wavefront_sweep_kernel<B, 1, V, S>, v);
  if (M == 2) return launch_sweep_kernel(wavefront_sweep_kernel<B, 2, V, S>, v);
  if constexpr (B <= 2) {
    if (M == 4) return launch_sweep_kernel(wavefront_sweep_kernel<B, 4, V, S>, v);
  }
  throw Error(ErrorCode::bad_argument, "sweep: no kernel for " + std::to_string(M) + " lines a thread");
}

/// By block size; `stored` as the kernel's S.
template <int B>
void launch_block_sweep(const WavefrontSweepView& v, int vector_bytes, Stored stored) {
  if (vector_bytes == 4) return launch_sweep_of<B, float, float>(v);
  switch (stored) {
    case Stored::fp64: return launch_sweep_of<B, double, double>(v);
    case Stored::fp32: return launch_sweep_of<B, double, float>(v);
    case Stored::bf16: return launch_sweep_of<B, double, __nv_bfloat16>(v);
    case Stored::fp16: return launch_sweep_of<B, double, __half>(v);
  }
}

#define ECHELON_DECLARE_SWEEP(B)                                                      \
  extern template void launch_block_sweep<B>(const WavefrontSweepView&, int, Stored); \
  extern template SweepKernel known_block_kernel<B>(const WavefrontSweepView&, int, Stored);
ECHELON_DECLARE_SWEEP(1)
ECHELON_DECLARE_SWEEP(2)
ECHELON_DECLARE_SWEEP(3)
ECHELON_DECLARE_SWEEP(4)
ECHELON_DECLARE_SWEEP(5)
ECHELON_DECLARE_SWEEP(6)
ECHELON_DECLARE_SWEEP(7)
ECHELON_DECLARE_SWEEP(8)
#undef ECHELON_DECLARE_SWEEP

}  // namespace echelon::device
