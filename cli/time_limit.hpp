// SPDX-License-Identifier: BSD-3-Clause
// --time-limit before the first iteration. While there is nothing to save (a file is read, waited for, or a problem is
// assembled) the end of the time ends the process, wherever it is: a thread that only waits for that moment calls
// `too_early`, which writes the report and leaves. Afterwards the questions that set-ups and iterations ask end the run in
// order, and the thread goes away. Where no thread can be had, only those questions hold.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace echelon::cli {

class TimeLimit {
 public:
  /// No limit where seconds is 0. `too_early` must not return.
  TimeLimit(double seconds, std::function<void()> too_early);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  /// From now on there is. Does not return when the time was up first.
  void something_to_save();

 private:
  void wait(double seconds, const std::function<void()>& too_early);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool saving_ = false, up_ = false;
  std::thread thread_;
};

}  // namespace echelon::cli
