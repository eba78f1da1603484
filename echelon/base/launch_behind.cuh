// SPDX-License-Identifier: BSD-3-Clause
// A kernel whose blocks are brought to the processors while the one in front of it still runs, which saves a microsecond or
// two between short ones: it is launched by launch_behind and calls wait_for_previous before anything else.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "echelon/base/cuda_check.cuh"

namespace echelon {
namespace device {

/// The next kernel's blocks may come. It still waits for all that this one writes.
__device__ __forceinline__ void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;"); }

/// Until the kernels in front have ended and what they wrote is there; nothing when they have.
__device__ __forceinline__ void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

}  // namespace device

/// On the default stream.
template <class View>
void launch_behind(void (*kernel)(View), dim3 blocks, dim3 threads, std::size_t shared_bytes, const View& view,
                   const char* what) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = &early;
  config.numAttrs = 1;
  check_cuda(cudaLaunchKernelEx(&config, kernel, view), what);
}

}  // namespace echelon
