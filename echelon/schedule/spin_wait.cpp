// SPDX-License-Identifier: BSD-3-Clause
// Spins for a trip between the cores; then lets others run, which costs a fraction of a microsecond where there are none: with
// more threads than processors, the one waited for may need this very processor; then sleeps, at first for as short as the
// system can. A long spin (50 microseconds) made two programs on two processors up to nine times slower than one alone.
#include "echelon/schedule/spin_wait.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace echelon {
namespace {

constexpr int spins = 30;  // a microsecond or two
constexpr int yields = 30;
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
