// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/threads.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>

#include "echelon/base/error.hpp"
#include "echelon/base/thread_trial.hpp"
#include "echelon/base/worth_sharing.hpp"

namespace echelon {
namespace {

/// Two threads save 25 microseconds of so many operations, about what it takes to wake one that sleeps.
constexpr std::int64_t usual_worth_sharing = 50'000;
std::atomic<std::int64_t> worth_sharing{usual_worth_sharing};
std::atomic<int> chosen{0};
/// So many there were once: a team of that size is begun without another trial.
std::atomic<int> had{1};

/// Tries whether `wanted` threads can be had, and remembers what it found.
int try_for(int wanted) noexcept {
  static std::mutex one_at_a_time;
  static int refused = std::numeric_limits<int>::max();  // so many could not be had
  const std::lock_guard lock(one_at_a_time);
  const int so_far = had.load(std::memory_order_relaxed);
  if (wanted <= so_far) return wanted;
  if (wanted >= refused) return so_far;
  const int got = std::max(so_far, threads_to_be_had(wanted));
  if (got < wanted) refused = got + 1;
  had.store(got, std::memory_order_relaxed);
  return got;
}

}  // namespace

int hardware_threads() noexcept { return omp_get_num_procs(); }

int threads_asked_for() noexcept {
  const int count = chosen.load(std::memory_order_relaxed);
  // OMP_NUM_THREADS may be any number, and each would be created for a trial.
  return std::max(1, std::min({count > 0 ? count : omp_get_max_threads(), omp_get_thread_limit(), most_threads()}));
}

int threads() noexcept {
  const int wanted = threads_asked_for();
  return wanted <= had.load(std::memory_order_relaxed) ? wanted : try_for(wanted);
}

int threads_for(std::int64_t work) noexcept { return work < worth_sharing.load(std::memory_order_relaxed) ? 1 : threads(); }

void share_work_from(std::int64_t operations) noexcept {
  worth_sharing.store(operations > 0 ? operations : usual_worth_sharing, std::memory_order_relaxed);
}

int most_threads() noexcept { return std::max(64, 4 * hardware_threads()); }

void set_threads(int count) {
  if (count < 0 || count > most_threads()) {
    throw Error(ErrorCode::bad_argument, fmt::format("{} threads were asked for; legal are 0 (all {} that there are) to {}",
                                                     count, hardware_threads(), most_threads()));
  }
  chosen.store(count, std::memory_order_relaxed);
}

void begin_team() noexcept {
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return;
  std::atomic<int> there{0};
#pragma omp parallel num_threads(threads())
  there.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace echelon
