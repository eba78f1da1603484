// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/transfers.hpp"

#include <atomic>

namespace echelon {
namespace {
std::atomic<std::int64_t> copies{0}, bytes_copied{0}, waits{0}, scalars_read{0};
}

TransferCounts transfer_counts() noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  return {copies.load(relaxed), bytes_copied.load(relaxed), waits.load(relaxed), scalars_read.load(relaxed)};
}

void count_copy(std::int64_t bytes) noexcept {
  copies.fetch_add(1, std::memory_order_relaxed);
  bytes_copied.fetch_add(bytes, std::memory_order_relaxed);
}

void count_wait(std::int64_t scalars) noexcept {
  waits.fetch_add(1, std::memory_order_relaxed);
  scalars_read.fetch_add(scalars, std::memory_order_relaxed);
}

}  // namespace echelon
