// SPDX-License-Identifier: BSD-3-Clause
// Scratch of an object whose const calls several threads may make at once. Who calls alone is lent the object's own: one
// atomic exchange, no lock, no memory. Who comes while that is lent gets a spare of the same size, which stays with the
// object for the next time; so there are as many as there once were callers at one time.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>

namespace echelon {

template <class Scratch>
class LentScratch {
  struct State {
    Scratch own;
    std::atomic<bool> own_is_lent{false};
    std::mutex mutex;           // of the spares
    std::list<Scratch> spares;  // those that nobody has
  };

 public:
  /// Gives back what it holds when it ends.
  class Loan {
   public:
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() {
      if (spare_.empty()) {
        state_.own_is_lent.store(false, std::memory_order_release);
      } else {
        const std::lock_guard lock(state_.mutex);
        state_.spares.splice(state_.spares.begin(), spare_);
      }
    }
    Scratch& operator*() { return spare_.empty() ? state_.own : spare_.front(); }
    Scratch* operator->() { return &**this; }

   private:
    friend class LentScratch;
    template <class Fit>
    Loan(State& state, const Fit& fit) : state_(state) {
      if (!state_.own_is_lent.exchange(true, std::memory_order_acquire)) return;
      {
        const std::lock_guard lock(state_.mutex);
        if (!state_.spares.empty()) spare_.splice(spare_.begin(), state_.spares, state_.spares.begin());
      }
      if (spare_.empty()) spare_.emplace_back();
      fit(spare_.front());
    }

    State& state_;
    std::list<Scratch> spare_;  // one, or none: the object's own is lent
  };

  /// `fit(scratch)` gives a spare, new or from an earlier call, the size of the object's own; on one that has it it must
  /// change nothing. What it throws goes to the caller, and nothing is lent.
  template <class Fit>
  Loan take(const Fit& fit) const {
    return Loan(*state_, fit);
  }
  /// The object's own, for set-up: nobody may call meanwhile.
  Scratch& own() { return state_->own; }
  const Scratch& own() const { return state_->own; }

 private:
  std::unique_ptr<State> state_ = std::make_unique<State>();
};

}  // namespace echelon
