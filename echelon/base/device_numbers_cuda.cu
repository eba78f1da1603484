// SPDX-License-Identifier: BSD-3-Clause
// The table of device_numbers.hpp. Pieces go to pinned memory, one piece of it a thread of the host, so that none of the
// copies waits by itself.
#include <algorithm>
#include <cstring>

#include "echelon/base/cuda_check.cuh"
#include "echelon/base/device_numbers.hpp"
#include "echelon/base/error.hpp"

namespace echelon {
namespace {

constexpr int threads_a_block = 256, most_blocks = 1024;
constexpr std::size_t pinned_bytes = 4096;

/// Sizes as bit patterns, whose order is theirs, with NaN above all.
__global__ void largest_number_kernel(const double* x, std::int64_t n, unsigned long long* top) {
  unsigned long long own = 0;
  const std::int64_t step = gridDim.x * std::int64_t{blockDim.x};
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < n; i += step) {
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(fabs(x[i])));
    own = own > bits ? own : bits;
  }
  for (int half = 16; half > 0; half /= 2) {
    const unsigned long long other = __shfl_down_sync(~0u, own, half);
    own = own > other ? own : other;
  }
  if (threadIdx.x % 32 == 0) atomicMax(top, own);
}

void largest(int device, const double* x, std::int64_t n, unsigned long long* top) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  check_cuda(cudaMemsetAsync(top, 0, sizeof(*top)), "largest");
  if (n == 0) return;
  const std::int64_t blocks = std::min<std::int64_t>((n + threads_a_block - 1) / threads_a_block, most_blocks);
  largest_number_kernel<<<static_cast<unsigned>(blocks), threads_a_block>>>(x, n, top);
  check_cuda(cudaGetLastError(), "largest");
}

struct PinnedPage {
  void* memory = nullptr;
  PinnedPage() { check_cuda(cudaHostAlloc(&memory, pinned_bytes, cudaHostAllocPortable), "cudaHostAlloc"); }
  ~PinnedPage() { static_cast<void>(cudaFreeHost(memory)); }
  PinnedPage(const PinnedPage&) = delete;
  PinnedPage& operator=(const PinnedPage&) = delete;
};

void fetch(int device, std::span<const DeviceNumbers> pieces) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  thread_local PinnedPage page;
  auto* const memory = static_cast<unsigned char*>(page.memory);
  std::size_t used = 0;
  for (const DeviceNumbers& one : pieces) {
    if (used + one.bytes > pinned_bytes)
      throw Error(ErrorCode::bad_argument, "numbers of a GPU: more than 4096 bytes at once");
    check_cuda(cudaMemcpyAsync(memory + used, one.from, one.bytes, cudaMemcpyDeviceToHost), "numbers of a GPU");
    used += one.bytes;
  }
  check_cuda(cudaStreamSynchronize(nullptr), "numbers of a GPU");
  used = 0;
  for (const DeviceNumbers& one : pieces) {
    std::memcpy(one.to, memory + used, one.bytes);
    used += one.bytes;
  }
}

}  // namespace

const NumberKernels* number_kernels() {
  static const NumberKernels table{largest, fetch};
  return &table;
}

}  // namespace echelon
