// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/array.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/transfers.hpp"

namespace echelon {
namespace {
constexpr std::size_t alignment = 64;
constexpr std::uintptr_t huge_page = std::uintptr_t{2} << 20;
std::atomic<std::int64_t> allocations{0}, live{0}, peak{0};

void count_live(std::int64_t bytes) {
  const std::int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t most = peak.load(std::memory_order_relaxed);
  while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

/// Large arrays ask for huge pages: a first touch then costs one fault in 2 MiB instead of 512, and the TLB covers more.
/// Asked for the pages that lie wholly inside, not by aligning: blocks of odd alignment are not given again by the
/// allocator, and fresh ones have to be cleared.
void* allocate_host(std::size_t bytes) {
  void* pointer = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto first = (address + huge_page - 1) / huge_page * huge_page, end = (address + bytes) / huge_page * huge_page;
  // A wish: kernels without huge pages refuse it.
  if (pointer && end > first) (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  return pointer;
}
}  // namespace

void* allocate_bytes(std::int64_t bytes, Device device) {
  if (bytes < 0) throw Error(ErrorCode::bad_argument, fmt::format("an array of {} bytes was asked for", bytes));
  if (bytes == 0) return nullptr;
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* pointer = nullptr;
  if (device.is_host()) {
    pointer = allocate_host(static_cast<std::size_t>(bytes));
  } else {
    pointer = cuda_backend()->allocate(device.index, static_cast<std::size_t>(bytes));
  }
  if (!pointer) {
    throw Error(ErrorCode::out_of_memory, fmt::format("{} could not be allocated on {} ({} free)", human_bytes(bytes),
                                                      device.name(), human_bytes(available_bytes(device))));
  }
  count_live(bytes);
  return pointer;
}

void release_bytes(void* pointer, std::int64_t bytes, Device device) noexcept {
  if (!pointer) return;
  live.fetch_sub(bytes, std::memory_order_relaxed);
  if (device.is_host()) {
    std::free(pointer);
  } else {
    cuda_backend()->release(device.index, pointer);
  }
}

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::int64_t bytes) {
  if (bytes == 0) return;
  const auto size = static_cast<std::size_t>(bytes);
  if (to_device.is_host() != from_device.is_host()) count_copy(bytes);
  if (to_device.is_host() && from_device.is_host()) {
    std::memcpy(to, from, size);
  } else if (to_device.is_host()) {
    cuda_backend()->copy(from_device.index, to, from, size, CopyKind::device_to_host);
  } else {
    cuda_backend()->copy(to_device.index, to, from, size,
                         from_device.is_host() ? CopyKind::host_to_device : CopyKind::device_to_device);
  }
}

std::int64_t allocation_count() noexcept { return allocations.load(std::memory_order_relaxed); }
std::int64_t live_bytes() noexcept { return live.load(std::memory_order_relaxed); }
std::int64_t peak_bytes() noexcept { return peak.load(std::memory_order_relaxed); }
void restart_peak_bytes() noexcept { peak.store(live_bytes(), std::memory_order_relaxed); }

void throw_size_mismatch(const char* what, std::int64_t got, std::int64_t expected) {
  throw Error(ErrorCode::size_mismatch, fmt::format("{}: got {} elements, expected {}", what, got, expected));
}

}  // namespace echelon
