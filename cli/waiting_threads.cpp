// SPDX-License-Identifier: BSD-3-Clause
#include "cli/waiting_threads.hpp"

#include <cstdlib>

namespace echelon::cli {
namespace {

constexpr const char* setting = "GOMP_SPINCOUNT";
bool ours = false;

#if defined(ECHELON_OWN_GOMP)
/// About 50 microseconds (a `pause` of 140 cycles each): longer than what lies between two kernels of an iteration, and no
/// longer than it takes to wake a sleeper, so that spinning in vain at most doubles what sleeping at once would have cost.
constexpr const char* spins = "1000";
/// The run time reads its settings in a constructor without a number; those with one come before it.
constexpr int before_the_run_time = 101;

[[gnu::constructor(before_the_run_time)]] void choose_how_threads_wait() {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv(setting)) return;
  ours = setenv(setting, spins, 1) == 0;
}
#endif

}  // namespace

void threads_know_how_to_wait() noexcept {
  if (ours) unsetenv(setting);
}

}  // namespace echelon::cli
