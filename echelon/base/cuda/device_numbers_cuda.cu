// SPDX-License-Identifier: BSD-3-Clause
// The table of device_numbers.hpp. A kernel behind those that were queued before writes the pieces to pinned memory, a page
// of it a thread of the host, and then the number of the message, which the host looks for.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/cuda/device_numbers.hpp"
#include "echelon/base/cuda/host_watch.cuh"
#include "echelon/base/cuda/launch_behind.cuh"
#include "echelon/base/error.hpp"

namespace echelon {
namespace {

constexpr int threads_a_block = 256, most_blocks = 1024;
constexpr int few_threads = 1024, few_numbers = 1 << 15;
constexpr int gather_threads = 128;
constexpr std::size_t most_pieces = 4, numbers_bytes = 4096, page_bytes = numbers_bytes + 128;

/// Sizes as bit patterns, whose order is theirs, with NaN above all: of x from `first` on in such steps, in a warp's first
/// lane that of all its lanes.
__device__ __forceinline__ unsigned long long largest_of_warp(const double* x, std::int64_t n, std::int64_t first,
                                                              std::int64_t step) {
  unsigned long long own = 0;
  for (std::int64_t i = first; i < n; i += step) {
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(fabs(x[i])));
    own = own > bits ? own : bits;
  }
  for (int half = 16; half > 0; half /= 2) {
    const unsigned long long other = __shfl_down_sync(~0u, own, half);
    own = own > other ? own : other;
  }
  return own;
}

__global__ void largest_number_kernel(const double* x, std::int64_t n, unsigned long long* top) {
  const unsigned long long own =
      largest_of_warp(x, n, blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x, gridDim.x * std::int64_t{blockDim.x});
  if (threadIdx.x % 32 == 0) atomicMax(top, own);
}

/// The same of a few by one block, which need not be added to zero.
__global__ void __launch_bounds__(few_threads)
    largest_of_few_kernel(const double* x, std::int64_t n, unsigned long long* top) {
  device::wait_for_previous();
  __shared__ unsigned long long of_warp[few_threads / 32];
  unsigned long long own = largest_of_warp(x, n, threadIdx.x, few_threads);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const unsigned long long other : of_warp) own = own > other ? own : other;
  *top = own;
}

void largest(int device, const double* x, std::int64_t n, unsigned long long* top) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  if (n <= few_numbers) {
    launch_behind(largest_of_few_kernel, {dim3(1), dim3(few_threads)}, "largest", x, n, top);
    return;
  }
  check_cuda(cudaMemsetAsync(top, 0, sizeof(*top)), "largest");
  const std::int64_t blocks = std::min<std::int64_t>((n + threads_a_block - 1) / threads_a_block, most_blocks);
  largest_number_kernel<<<static_cast<unsigned>(blocks), threads_a_block>>>(x, n, top);
  check_cuda(cudaGetLastError(), "largest");
}

/// Pinned memory of a thread of the host that the GPU writes to, and the number of the last message there.
struct PinnedPage {
  unsigned char* memory = nullptr;
  unsigned turn = 0;
  PinnedPage() {
    void* taken = nullptr;
    check_cuda(cudaHostAlloc(&taken, page_bytes, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
    memory = static_cast<unsigned char*>(taken);
    std::memset(memory, 0, page_bytes);
  }
  ~PinnedPage() { static_cast<void>(cudaFreeHost(memory)); }
  PinnedPage(const PinnedPage&) = delete;
  PinnedPage& operator=(const PinnedPage&) = delete;

  bool has(unsigned message) const {
    return std::atomic_ref(*reinterpret_cast<unsigned*>(memory + numbers_bytes)).load(std::memory_order_acquire) == message;
  }
};

struct Gathered {
  const unsigned* from[most_pieces] = {};
  int end[most_pieces] = {};  // in words, of it and those before it
  int pieces = 0;
};

/// One block. The number of the message comes last.
__global__ void __launch_bounds__(gather_threads)
    gather_numbers_kernel(const __grid_constant__ Gathered what, unsigned* to, unsigned message) {
  device::wait_for_previous();
  int begin = 0;
  for (int n = 0; n < what.pieces; begin = what.end[n++]) {
    for (int w = begin + static_cast<int>(threadIdx.x); w < what.end[n]; w += gather_threads) {
      to[w] = *static_cast<const volatile unsigned*>(what.from[n] + (w - begin));
    }
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  // Of all threads' words, which the barrier puts before it.
  __threadfence_system();
  *static_cast<volatile unsigned*>(to + numbers_bytes / sizeof(unsigned)) = message;
}

void fetch(int device, std::span<const DeviceNumbers> pieces) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  thread_local PinnedPage page;
  Gathered what;
  std::size_t used = 0;
  for (const DeviceNumbers& one : pieces) {
    used += one.bytes;
    if (used > numbers_bytes || pieces.size() > most_pieces || one.bytes % sizeof(unsigned) != 0) {
      throw Error(ErrorCode::bad_argument, "numbers of a GPU: more than 4096 bytes or 4 pieces at once, or parts of words");
    }
    what.from[what.pieces] = static_cast<const unsigned*>(one.from);
    what.end[what.pieces++] = static_cast<int>(used / sizeof(unsigned));
  }
  const unsigned message = ++page.turn;
  launch_behind(gather_numbers_kernel, {dim3(1), dim3(gather_threads)}, "numbers of a GPU", what,
                reinterpret_cast<unsigned*>(page.memory), message);
  watch_for([&] { return page.has(message); }, "numbers of a GPU");
  used = 0;
  for (const DeviceNumbers& one : pieces) {
    std::memcpy(one.to, page.memory + used, one.bytes);
    used += one.bytes;
  }
}

}  // namespace

const NumberKernels* number_kernels() {
  static const NumberKernels table{largest, fetch};
  return &table;
}

}  // namespace echelon
