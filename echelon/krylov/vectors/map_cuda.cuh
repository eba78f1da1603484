// SPDX-License-Identifier: BSD-3-Clause
// Element by element on a GPU, with the loads of several elements of a thread under way together.
#pragma once

#include "echelon/krylov/vectors/reduction_cuda.cuh"

namespace echelon::device {

constexpr int map_threads = 256, map_together = 4;

/// Work has Loaded, start(), load(i) and use(i, loaded, shared).
template <class Work>
__global__ void __launch_bounds__(map_threads) map_kernel(const __grid_constant__ Work work, std::int64_t n) {
  const auto shared = work.start();
  const std::int64_t first = blockIdx.x * std::int64_t{map_threads} * map_together + threadIdx.x;
  typename Work::Loaded in[map_together];
#pragma unroll
  for (int k = 0; k < map_together; ++k) {
    if (first + k * map_threads < n) in[k] = work.load(first + k * map_threads);
  }
#pragma unroll
  for (int k = 0; k < map_together; ++k) {
    if (first + k * map_threads < n) work.use(first + k * map_threads, in[k], shared);
  }
}

template <class Work>
void map(const DeviceSums& at, const Work& work, const char* what) {
  if (at.n == 0) return;
  select(at);
  constexpr std::int64_t a_block = std::int64_t{map_threads} * map_together;
  map_kernel<<<static_cast<unsigned>((at.n + a_block - 1) / a_block), map_threads>>>(work, at.n);
  check_cuda(cudaGetLastError(), what);
}

}  // namespace echelon::device
