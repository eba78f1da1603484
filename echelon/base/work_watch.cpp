// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/work_watch.hpp"

#include <utility>

namespace echelon {

const char* WorkStopped::what() const noexcept {
  return verdict_ == Verdict::time_limit ? "the work was ended by its time limit" : "the work was interrupted";
}

WorkWatch::WorkWatch(Question question) : question_(std::move(question)) {
  if (!question_) return;
  outer_ = current_;
  current_ = this;
}

WorkWatch::~WorkWatch() {
  if (current_ == this) current_ = outer_;
}

Verdict WorkWatch::ask() {
  left_ = operations_a_question;
  if (answer() == Verdict::proceed) answer_.store(question_(), std::memory_order_relaxed);
  return answer();
}

bool SharedWork::asked(std::int64_t operations) noexcept {
  if (stopped_.load(std::memory_order_relaxed)) return false;
  try {
    if (watch_->count(operations) == Verdict::proceed) return true;
  } catch (...) {
    thrown_ = std::current_exception();
  }
  stopped_.store(true, std::memory_order_relaxed);
  return false;
}

void SharedWork::finish() const {
  if (thrown_) std::rethrow_exception(thrown_);
  if (stopped_.load(std::memory_order_relaxed)) throw WorkStopped(watch_->answer());
}

}  // namespace echelon
