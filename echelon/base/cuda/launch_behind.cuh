// SPDX-License-Identifier: BSD-3-Clause
// A kernel whose blocks are brought to the processors while the one in front of it still runs, so that short
// ones follow one another sooner: it is launched by launch_behind and calls wait_for_previous before anything else.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "echelon/base/cuda/cuda_check.cuh"

namespace echelon {
namespace device {

/// The next kernel's blocks may come. It still waits for all that this one writes.
__device__ __forceinline__ void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;"); }

/// Until the kernels in front have ended and what they wrote is there; nothing when they have.
__device__ __forceinline__ void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

}  // namespace device

struct LaunchShape {
  dim3 blocks, threads;
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;  // blocks of one
};

namespace detail {

/// The launch as the runtime takes it; points into itself.
struct LaunchBehind {
  cudaLaunchAttribute wanted[2] = {};
  cudaLaunchConfig_t config{};

  explicit LaunchBehind(const LaunchShape& shape) {
    wanted[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    wanted[0].val.programmaticStreamSerializationAllowed = 1;
    wanted[1].id = cudaLaunchAttributeClusterDimension;
    wanted[1].val.clusterDim.x = shape.cluster;
    wanted[1].val.clusterDim.y = wanted[1].val.clusterDim.z = 1;
    config.gridDim = shape.blocks;
    config.blockDim = shape.threads;
    config.dynamicSmemBytes = shape.shared_bytes;
    config.attrs = wanted;
    config.numAttrs = shape.cluster > 1 ? 2 : 1;
  }
  LaunchBehind(const LaunchBehind&) = delete;
  LaunchBehind& operator=(const LaunchBehind&) = delete;
};

}  // namespace detail

/// On the default stream.
template <class... Arguments>
void launch_behind(void (*kernel)(Arguments...), const LaunchShape& shape, const char* what, const Arguments&... arguments) {
  const detail::LaunchBehind launch(shape);
  check_cuda(cudaLaunchKernelEx(&launch.config, kernel, arguments...), what);
}

/// Clusters of that shape which the device can hold at once.
template <class... Arguments>
cudaError_t active_clusters(void (*kernel)(Arguments...), const LaunchShape& shape, int* count) {
  const detail::LaunchBehind launch(shape);
  return cudaOccupancyMaxActiveClusters(count, kernel, &launch.config);
}

}  // namespace echelon
