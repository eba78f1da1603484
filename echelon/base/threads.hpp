// SPDX-License-Identifier: BSD-3-Clause
// How many threads a kernel may use. One number for the library; results never depend on it.
#pragma once

#include <cstdint>
#include <utility>

namespace echelon {

/// Of a parallel region. Never more than can be had: the OpenMP run time ends the process when a thread cannot be created
/// (`ulimit -u`, `ulimit -v`, a container's limit), so before the first region of a size that many are created for a trial.
int threads() noexcept;
/// What set_threads and the environment (OMP_NUM_THREADS, OMP_THREAD_LIMIT) say; `threads()` is less where they cannot be
/// had.
int threads_asked_for() noexcept;
/// 0 means: as many as the machine offers to this process.
void set_threads(int count);
int hardware_threads() noexcept;
/// More are refused: every thread of a factorization has a line of the matrix's size, and none would find a processor.
int most_threads() noexcept;
/// Where the address space is limited (`ulimit -v`): begins the team of this thread's regions now, before that goes to
/// something else. The run time keeps it as long as no region is of another size above one.
void begin_team() noexcept;

/// Threads for `work` elementary operations, of about a nanosecond each: one, where all of them together would save less
/// than what waking them costs when the machine has something else to do; otherwise all, never a number in between: the run
/// time ends the threads that a smaller team leaves over, and creates them again for the next.
int threads_for(std::int64_t work) noexcept;

/// Part `part` of `parts` of the range [0, n), in whole multiples of `grain`.
inline std::pair<std::int64_t, std::int64_t> share(std::int64_t n, int part, int parts, std::int64_t grain = 1) {
  const std::int64_t grains = (n + grain - 1) / grain;
  const auto cut = [&](int p) {
    const std::int64_t at = grains * p / parts * grain;
    return at < n ? at : n;
  };
  return {cut(part), cut(part + 1)};
}

}  // namespace echelon
