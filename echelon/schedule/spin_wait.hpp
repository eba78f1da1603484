// SPDX-License-Identifier: BSD-3-Clause
// The one wait of all schedules: for a counter that another thread only raises, by release stores; the acquire load here
// makes its writes before the store visible. Nobody has to wake who waits, so that raising a counter stays a plain store.
#pragma once

#include <atomic>

namespace echelon {

/// Between two looks, the `looks`-th: spins, then lets others run, then sleeps.
void wait_a_moment(int looks) noexcept;

template <class Count>
void wait_until_at_least(const std::atomic<Count>& counter, Count wanted) {
  for (int looks = 0; counter.load(std::memory_order_acquire) < wanted; ++looks) wait_a_moment(looks);
}

}  // namespace echelon
