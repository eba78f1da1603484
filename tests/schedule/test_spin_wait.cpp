// SPDX-License-Identifier: BSD-3-Clause
// The wait of all schedules sees what was written before the counter was raised, and sleeps when that takes long: a thread
// that spins takes its processor from the one it waits for.
#include "echelon/schedule/spin_wait.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace echelon {
namespace {

double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

TEST(SpinWait, ALongWaitTakesHardlyAnyProcessorTime) {
  std::atomic<std::int64_t> counter{0};
  double used = 1;
  {
    std::jthread waiting([&] {
      const double before = processor_seconds();
      wait_until_at_least(counter, std::int64_t{1});
      used = processor_seconds() - before;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    counter.store(1, std::memory_order_release);
  }
  EXPECT_LT(used, 0.1);
}

TEST(SpinWait, WhatWasWrittenBeforeIsThere) {
  constexpr std::int64_t turns = 2'000;
  std::atomic<std::int64_t> there{0}, back{0};
  std::int64_t value = 0, wrong = 0;
  {
    std::jthread other([&] {
      for (std::int64_t turn = 1; turn <= turns; ++turn) {
        wait_until_at_least(there, turn);
        wrong += value != turn;
        back.store(turn, std::memory_order_release);
      }
    });
    for (std::int64_t turn = 1; turn <= turns; ++turn) {
      value = turn;
      there.store(turn, std::memory_order_release);
      wait_until_at_least(back, turn);
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace echelon
