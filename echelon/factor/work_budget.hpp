// SPDX-License-Identifier: BSD-3-Clause
// What a factorization costs before it is carried out: elementary operations are the products of an elimination,
// Σ over rows i of Σ over L's entries (i, k) of the length of U's row k, times the cube of the block size. They follow from
// patterns alone, so a choice by them repeats on every machine. A factorization that would take more than its options allow
// (IluOptions::most_operations) is given up while it is counted.
#pragma once

#include <cstdint>
#include <string>

#include "echelon/base/error.hpp"

namespace echelon {

/// Its code is will_not_fit: what it would take is known, and is not there.
class TooCostly : public Error {
 public:
  TooCostly(const std::string& what, std::int64_t allowed);
};

/// Counts, and throws when it is too much. `allowed` 0: anything goes.
class WorkBudget {
 public:
  WorkBudget(std::string what, std::int64_t allowed) : what_(std::move(what)), allowed_(allowed) {}
  void spend(std::int64_t operations) {
    spent_ += operations;
    if (allowed_ > 0 && spent_ > allowed_) throw TooCostly(what_, allowed_);
  }
  std::int64_t spent() const { return spent_; }

 private:
  std::string what_;
  std::int64_t allowed_, spent_ = 0;
};

}  // namespace echelon
