// SPDX-License-Identifier: BSD-3-Clause
// A GPU as the place where steps made of independent threads run (factor/fixed_point/*_steps.inl).
#pragma once

#include <algorithm>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/cuda/prefix_sums.cuh"
#include "echelon/factor/blocks_gpu/attempt.cuh"
#include "echelon/factor/fixed_point/kth_largest.hpp"

namespace echelon {

/// A few neighbouring lanes that work on one row.
struct LaneGroup {
  static constexpr int lanes = 8;
  template <class T>
  struct PerLane {
    T value;
    __device__ T& operator[](int) { return value; }
  };
  int lane;
  unsigned mask;

  template <class Function>
  __device__ int least(const Function& function) const {
    return __reduce_min_sync(mask, static_cast<int>(function(lane)));
  }
  template <class Function>
  __device__ void first(const Function& function) const {
    if (lane == 0) function();
  }
};

struct DevicePlace {
  using Log = DevicePivotLog;
  static constexpr int threads_a_block = 256;

  /// Most find out without an atomic that they are not the largest.
  static __device__ void raise(unsigned long long* largest, double size) {
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(size));
    if (bits > *static_cast<volatile unsigned long long*>(largest)) atomicMax(largest, bits);
  }
  static __device__ void set(int* flag) {
    if (*static_cast<volatile int*>(flag) == 0) *flag = 1;
  }

  template <class Body>
  static void each(int device, std::int64_t n, const Body& body, const char* what);
  template <class Body>
  static void rows(int device, std::int64_t n, const Body& body, const char* what);
  static void scan(int device, std::int64_t* x, std::int64_t n) { sum_prefixes(device, x, n); }
  template <class DigitOf>
  static SelectionCounts histogram(int device, std::int64_t n, const DigitOf& digit_of);

  static unsigned blocks_for(std::int64_t threads) {
    return static_cast<unsigned>((threads + threads_a_block - 1) / threads_a_block);
  }
};

template <class Body>
__global__ void __launch_bounds__(DevicePlace::threads_a_block)
    each_kernel(const __grid_constant__ Body body, std::int64_t n) {
  const std::int64_t t = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (t < n) body(t);
}

/// Groups of lanes are whole: rows that are not there have none of theirs.
template <class Body>
__global__ void __launch_bounds__(DevicePlace::threads_a_block)
    rows_kernel(const __grid_constant__ Body body, std::int64_t n) {
  const std::int64_t t = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x, row = t / LaneGroup::lanes;
  if (row >= n) return;
  const int lane = static_cast<int>(t % LaneGroup::lanes), begin = static_cast<int>(threadIdx.x % 32) - lane;
  body(LaneGroup{lane, ((1u << LaneGroup::lanes) - 1) << begin}, row);
}

/// Equal digits of a warp are counted together: on grids with constant coefficients most are equal.
template <class DigitOf>
__global__ void __launch_bounds__(DevicePlace::threads_a_block)
    histogram_kernel(const __grid_constant__ DigitOf digit_of, std::int64_t n, unsigned long long* counts) {
  __shared__ unsigned own[selection_values];
  for (int v = static_cast<int>(threadIdx.x); v < static_cast<int>(selection_values); v += static_cast<int>(blockDim.x)) {
    own[v] = 0;
  }
  __syncthreads();
  const std::int64_t step = gridDim.x * std::int64_t{blockDim.x};
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (std::int64_t base = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x - lane; base < n; base += step) {
    const int digit = base + lane < n ? digit_of(base + lane) : -1;
    const unsigned same = __match_any_sync(~0u, digit);
    if (digit >= 0 && lane == __ffs(static_cast<int>(same)) - 1) {
      atomicAdd(own + digit, static_cast<unsigned>(__popc(same)));
    }
  }
  __syncthreads();
  for (int v = static_cast<int>(threadIdx.x); v < static_cast<int>(selection_values); v += static_cast<int>(blockDim.x)) {
    if (own[v] > 0) atomicAdd(counts + v, static_cast<unsigned long long>(own[v]));
  }
}

template <class Body>
void DevicePlace::each(int device, std::int64_t n, const Body& body, const char* what) {
  if (n == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  each_kernel<<<blocks_for(n), threads_a_block>>>(body, n);
  check_cuda(cudaGetLastError(), what);
}

template <class Body>
void DevicePlace::rows(int device, std::int64_t n, const Body& body, const char* what) {
  if (n == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  rows_kernel<<<blocks_for(n * LaneGroup::lanes), threads_a_block>>>(body, n);
  check_cuda(cudaGetLastError(), what);
}

template <class DigitOf>
SelectionCounts DevicePlace::histogram(int device, std::int64_t n, const DigitOf& digit_of) {
  constexpr unsigned most_blocks = 1056;
  SelectionCounts found{};
  if (n == 0) return found;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const DeviceScratch scratch(device, sizeof found);
  auto* counts = scratch.as<unsigned long long>();
  check_cuda(cudaMemsetAsync(counts, 0, sizeof found), "counts of digits");
  histogram_kernel<<<std::min(blocks_for(n), most_blocks), threads_a_block>>>(digit_of, n, counts);
  check_cuda(cudaGetLastError(), "counts of digits");
  check_cuda(cudaMemcpy(found.data(), counts, sizeof found, cudaMemcpyDeviceToHost), "counts of digits");
  return found;
}

}  // namespace echelon
