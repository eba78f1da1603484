// SPDX-License-Identifier: BSD-3-Clause
// How work that takes long in one piece is ended in order: whoever starts it installs a question, and the loops that do it
// (factorizations, matchings, orderings, schedules) say how much they did. The question is asked each two million
// elementary operations, some milliseconds, always on the thread that installed it; when it says no, the loop ends by an
// exception. Without a question all this is a comparison. What is computed never depends on it.
//   sequential loops      keep_going(operations)
//   parallel regions      a SharedWork made before the region; its goes_on() says when to leave, finish() throws after it
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>

namespace echelon {

/// The answer: go on, or the reason to end in order.
enum class Verdict { proceed, interrupt, time_limit };

/// Thrown by work that was told to end. No error: what it was making is simply not there.
class WorkStopped : public std::exception {
 public:
  explicit WorkStopped(Verdict verdict) : verdict_(verdict) {}
  Verdict verdict() const noexcept { return verdict_; }
  const char* what() const noexcept override;

 private:
  Verdict verdict_;
};

/// Installs a question for the calling thread until the end of the scope; the one of an outer scope is back then. An empty
/// question installs nothing. After a 'no' every further question of this scope is answered so.
class WorkWatch {
 public:
  using Question = std::function<Verdict()>;
  explicit WorkWatch(Question question);
  ~WorkWatch();
  WorkWatch(const WorkWatch&) = delete;
  WorkWatch& operator=(const WorkWatch&) = delete;

  static constexpr std::int64_t operations_a_question = std::int64_t{1} << 21;

  static WorkWatch* current() noexcept { return current_; }
  /// Of the thread that installed it: counts, and asks when it is time. Throws what the question throws.
  Verdict count(std::int64_t operations) {
    left_ -= operations;
    return left_ < 0 ? ask() : Verdict::proceed;
  }
  /// Of any thread: what was answered last.
  Verdict answer() const noexcept { return answer_.load(std::memory_order_relaxed); }

 private:
  Verdict ask();

  inline static thread_local WorkWatch* current_ = nullptr;
  Question question_;
  WorkWatch* outer_ = nullptr;
  std::int64_t left_ = operations_a_question;
  std::atomic<Verdict> answer_{Verdict::proceed};
};

/// Of a loop on one thread: so much more was done. Throws WorkStopped. In a thread without a watch it does nothing.
inline void keep_going(std::int64_t operations) {
  WorkWatch* watch = WorkWatch::current();
  if (!watch) return;
  const Verdict verdict = watch->count(operations);
  if (verdict != Verdict::proceed) throw WorkStopped(verdict);
}

/// For a parallel region. Made before it, and shared by its threads, the one that made it among them.
class SharedWork {
 public:
  SharedWork() : watch_(WorkWatch::current()) {}
  bool watched() const noexcept { return watch_ != nullptr; }
  /// False: the rest is not wanted; leave, but keep promises that other threads wait for. Never throws.
  bool goes_on(std::int64_t operations) noexcept {
    if (!watch_) return true;
    if (watch_ == WorkWatch::current()) return asked(operations);
    return !stopped_.load(std::memory_order_relaxed);
  }
  /// Behind the region: throws WorkStopped, or what the question threw.
  void finish() const;

 private:
  bool asked(std::int64_t operations) noexcept;

  WorkWatch* watch_;
  std::atomic<bool> stopped_{false};
  std::exception_ptr thrown_;
};

}  // namespace echelon
