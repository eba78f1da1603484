// SPDX-License-Identifier: BSD-3-Clause
// The table of row_depth_view.hpp: depths by one launch, rows in their order by a stable radix sort of as many bits as the
// deepest row needs.
#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/cuda/device_scratch.cuh"
#include "echelon/schedule/rows_gpu/row_depth.cuh"

namespace echelon {
namespace {

constexpr int plain_threads = 256;

__global__ void count_up_kernel(std::int32_t* to, std::int64_t n) {
  const std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i < n) to[i] = static_cast<std::int32_t>(i);
}

unsigned useful_blocks(int device, std::int64_t rows) {
  int processors = 0;
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  const std::int64_t useful = (2 * rows + device::row_depth_threads - 1) / device::row_depth_threads;
  return static_cast<unsigned>(std::min(useful, std::int64_t{processors} * device::row_depth_blocks_a_processor));
}

RowDepths measure(int device, const RowDepthView& v) {
  RowDepths found;
  if (v.rows == 0) return found;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  device::RowDepthState state;
  state.waits.ticket = v.first_ticket;
  state.waits.patience = static_cast<unsigned long long>(v.patience_seconds * 1e9);
  const DeviceScratch scratch(device, sizeof(state));
  auto* there = scratch.as<device::RowDepthState>();
  check_cuda(cudaMemcpyAsync(there, &state, sizeof(state), cudaMemcpyHostToDevice), "state of depths");
  for (const auto& triangle : v.triangle) {
    check_cuda(cudaMemsetAsync(triangle.depth, 0xff, static_cast<std::size_t>(v.rows) * sizeof(std::int32_t)), "depths");
  }
  device::row_depth_kernel<<<useful_blocks(device, v.rows), device::row_depth_threads>>>(v, there);
  check_cuda(cudaMemcpy(&state, there, sizeof(state), cudaMemcpyDeviceToHost), "depths of rows");
  for (int which = 0; which < 2; ++which) found.levels[which] = state.deepest[which] + 1;
  if (state.waits.first_wait != RowSweepState::no_wait) {
    found.waited = static_cast<std::int64_t>(state.waits.first_wait & 0xffffffffu);
    found.waited_for = static_cast<std::int64_t>(state.waits.first_wait >> 32);
  }
  return found;
}

void sort(int device, const RowDepthView& v, const RowDepths& depths, std::int32_t* const order[2]) {
  if (v.rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const auto n = static_cast<int>(v.rows);
  const DeviceScratch numbers(device, sizeof(std::int32_t) * static_cast<std::size_t>(v.rows)),
      sorted(device, sizeof(std::uint32_t) * static_cast<std::size_t>(v.rows));
  const auto* own = numbers.as<std::int32_t>();
  count_up_kernel<<<(n + plain_threads - 1) / plain_threads, plain_threads>>>(numbers.as<std::int32_t>(), v.rows);
  check_cuda(cudaGetLastError(), "numbers of rows");
  for (int which = 0; which < 2; ++which) {
    const auto* depth = reinterpret_cast<const std::uint32_t*>(v.triangle[which].depth);
    const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(depths.levels[which] - 1))));
    const auto call = [&](void* memory, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(memory, bytes, depth, sorted.as<std::uint32_t>(), own, order[which], n, 0,
                                             bits);
    };
    std::size_t bytes = 0;
    check_cuda(call(nullptr, bytes), "rows by depth: size");
    const DeviceScratch scratch(device, bytes);
    check_cuda(call(scratch.as<void>(), bytes), "rows by depth");
  }
}

}  // namespace

const RowDepthKernels* row_depth_kernels() {
  static const RowDepthKernels table{measure, sort};
  return &table;
}

}  // namespace echelon
