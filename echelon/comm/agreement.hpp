// SPDX-License-Identifier: BSD-3-Clause
// Ranks that stay together. Work may throw on one rank while others wait for its messages: those are freed, and all ranks
// end the work with one error, that of the lowest rank that failed. A rank that is in the middle of its own arithmetic
// notices at its next message.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "echelon/comm/communicator.hpp"

namespace echelon {

/// Thrown out of a call that waits for a rank that failed: to be caught by all_or_none, which every rank is in.
class RankLeft : public std::runtime_error {
 public:
  RankLeft() : std::runtime_error("another rank failed") {}
};

/// Thrown when a rank does not even answer how it ended: there is no way on but to end the job. `rank` is the lowest of
/// those that know, who may speak; what() is what is known.
class RanksLost : public std::runtime_error {
 public:
  RanksLost(const std::string& sentence, int rank) : std::runtime_error(sentence), rank_(rank) {}
  int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

/// What all ranks throw: the error of `rank`, which its sentence names unless it is 0.
class RankError : public Error {
 public:
  RankError(const RankFailure& failure, int ranks);
  const RankFailure& failure() const noexcept { return failure_; }

 private:
  RankFailure failure_;
};

/// Ends on all ranks or on none: where `work` threw on one of them, all throw RankError with the reason of the lowest, or
/// WorkStopped, where that rank was told to end. Pieces may lie in each other. Exchanges that were under way are over and
/// are to be made anew. With one rank it is a call.
void all_or_none(const Communicator& communicator, const std::function<void()>& work);

/// Throws Error(bad_option) on every rank unless `text` is the same on all of them (by its hash): "rank 2 was given another
/// {what} than rank 0".
void require_same(const Communicator& communicator, std::string_view text, std::string_view what);

}  // namespace echelon
