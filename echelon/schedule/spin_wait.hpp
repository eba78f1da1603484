// SPDX-License-Identifier: BSD-3-Clause
// The one wait of all schedules: for a counter that another thread only raises, by release stores; the acquire load here
// makes its writes before the store visible. Spins for a while and then yields, since there may be more threads than
// processors.
#pragma once

#include <atomic>
#include <thread>

namespace echelon {

/// Between two looks, the `spins`-th.
inline void wait_a_moment(int spins) {
  constexpr int spins_before_yield = 2000;
  if (spins < spins_before_yield) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  } else {
    std::this_thread::yield();
  }
}

template <class Count>
void wait_until_at_least(const std::atomic<Count>& counter, Count wanted) {
  for (int spins = 0; counter.load(std::memory_order_acquire) < wanted; ++spins) wait_a_moment(spins);
}

}  // namespace echelon
