// SPDX-License-Identifier: BSD-3-Clause
#include "cli/waiting_threads.hpp"

#include <unistd.h>

#include <climits>
#include <cstdlib>

namespace echelon::cli {
namespace {

/// About 50 microseconds (a `pause` of 140 cycles each): longer than what lies between two kernels of an iteration, and no
/// longer than it takes to wake a sleeper, so that spinning in vain at most doubles what sleeping at once would have cost.
constexpr const char* spins = "1000";
constexpr const char* setting = "GOMP_SPINCOUNT";
/// Says that the setting is ours, so that it is not handed on to programs that this one starts.
constexpr const char* mark = "ECHELON_BEGAN_AGAIN";

}  // namespace

void choose_how_threads_wait(char** argv) noexcept {
#if defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
  if (std::getenv(mark)) {
    unsetenv(mark);
    unsetenv(setting);
    return;
  }
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv(setting)) return;
  // By its own name, and not by the link: that is what `ps` shows.
  char program[PATH_MAX + 1];
  const auto length = readlink("/proc/self/exe", program, PATH_MAX);
  if (length <= 0 || length >= PATH_MAX) return;
  program[length] = 0;
  if (setenv(setting, spins, 1) == 0 && setenv(mark, "1", 1) == 0) execv(program, argv);
  unsetenv(mark);
  unsetenv(setting);
#else
  static_cast<void>(argv);
#endif
}

}  // namespace echelon::cli
