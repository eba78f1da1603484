// SPDX-License-Identifier: BSD-3-Clause
// Spins for a trip between the cores; then lets others run, again and again: that costs a fraction of a microsecond where
// there are none, and with more threads than processors the one waited for may need this very processor; then sleeps. A sleep
// takes 50 microseconds at the least, which is many pieces of a line: sixteen threads that slept after 50 microseconds were two
// to seven times slower on an idle machine than those that wait for a third of a millisecond. Spinning for as long is no way
// out: two programs on two processors then took nine times as long as one (docs/lab/host-grids.md).
#include "echelon/schedule/spin_wait.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace echelon {
namespace {

constexpr int spins = 30;  // a microsecond or two
constexpr int yields = 1000;  // a third of a millisecond
constexpr int longest_sleep_us = 500;

}  // namespace

void wait_a_moment(int looks) noexcept {
  if (looks < spins) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  } else if (looks < spins + yields) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(looks - spins - yields + 1, longest_sleep_us)));
  }
}

}  // namespace echelon
