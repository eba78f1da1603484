// SPDX-License-Identifier: BSD-3-Clause
// Spins for as long as a neighbour needs for a piece of a line; lets others run for a moment, since there may be more
// threads than processors; then sleeps, at first for as short as the system can: the other has lost its processor, and gets
// it back sooner from one that sleeps.
#include "echelon/schedule/spin_wait.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace echelon {
namespace {

constexpr int spins = 1000;  // some 50 microseconds
constexpr int yields = 20;
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
