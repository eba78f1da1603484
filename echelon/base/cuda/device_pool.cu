// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/cuda/device_pool.cuh"

#include <cuda_runtime.h>

#include <cstdint>
#include <map>
#include <mutex>

#include "echelon/base/cuda/cuda_check.cuh"

namespace echelon {
namespace {

constexpr std::uint64_t kept_part = 4;  // of the device's memory, one in so many

/// Null where the device has no pools.
cudaMemPool_t make_pool(int device) {
  int supported = 0;
  check_cuda(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device), "cudaDeviceGetAttribute");
  if (!supported) return nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  std::uint64_t kept = total / kept_part;
  check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "cudaMemPoolSetAttribute");
  return pool;
}

/// Pools live as long as the process: what still holds memory at its end may be freed after every static object is gone.
cudaMemPool_t pool_of(int device) {
  static std::mutex& mutex = *new std::mutex;
  static auto& pools = *new std::map<int, cudaMemPool_t>;
  const std::lock_guard lock(mutex);
  const auto known = pools.find(device);
  if (known != pools.end()) return known->second;
  return pools[device] = make_pool(device);
}

}  // namespace

void* pool_allocate(int device, std::size_t bytes) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const cudaMemPool_t pool = pool_of(device);
  void* pointer = nullptr;
  const auto status = pool ? cudaMallocFromPoolAsync(&pointer, bytes, pool, nullptr) : cudaMalloc(&pointer, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check_cuda(status, "memory of the device");
  return pointer;
}

void pool_release(int device, void* pointer) {
  cudaSetDevice(device);
  if (pool_of(device)) {
    cudaFreeAsync(pointer, nullptr);
  } else {
    cudaFree(pointer);
  }
}

std::size_t pool_unused_bytes(int device) {
  const cudaMemPool_t pool = pool_of(device);
  if (!pool) return 0;
  std::uint64_t reserved = 0, used = 0;
  check_cuda(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "cudaMemPoolGetAttribute");
  check_cuda(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), "cudaMemPoolGetAttribute");
  return static_cast<std::size_t>(reserved - used);
}

}  // namespace echelon
