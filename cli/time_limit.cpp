// SPDX-License-Identifier: BSD-3-Clause
#include "cli/time_limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace echelon::cli {

TimeLimit::TimeLimit(double seconds, std::function<void()> too_early) {
  if (!(seconds > 0)) return;
  try {
    thread_ = std::thread([this, seconds, too_early = std::move(too_early)] { wait(seconds, too_early); });
  } catch (const std::system_error&) {
    // The head of time_limit.hpp says what is left.
  }
}

TimeLimit::~TimeLimit() {
  if (!thread_.joinable()) return;
  something_to_save();
  thread_.join();
}

void TimeLimit::wait(double seconds, const std::function<void()>& too_early) {
  constexpr double longest = 1e9;  // thirty years; clocks count nanoseconds in 64 bits
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                          std::chrono::duration<double>(std::min(seconds, longest)));
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, end, [this] { return saving_; })) return;
  up_ = true;
  lock.unlock();
  too_early();
}

void TimeLimit::something_to_save() {
  std::unique_lock lock(mutex_);
  // The other thread is writing the report, and ends the process.
  while (up_) {
    lock.unlock();
    pause();
    lock.lock();
  }
  saving_ = true;
  lock.unlock();
  changed_.notify_all();
}

}  // namespace echelon::cli
