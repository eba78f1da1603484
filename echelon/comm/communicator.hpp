// SPDX-License-Identifier: BSD-3-Clause
// The seam between one process and many: every reduction and every message of the library goes through it. Serial here;
// ranks.hpp has it over messages, which MPI brings from a library of its own. Every rank makes the same calls in the same
// order; one thread of a process calls at a time. A call that waits for a rank that failed throws (agreement.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "echelon/base/error.hpp"
#include "echelon/base/work_watch.hpp"

namespace echelon {

struct SentPart {
  int to;
  std::span<const std::byte> bytes;
};
struct ReceivedPart {
  int from;
  std::span<std::byte> bytes;
};

/// Messages between neighbours that are sent again and again, from and into the same memory.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// Posts everything and returns. Until finish() nothing sent may be changed and nothing received be read.
  virtual void start() = 0;
  /// Whether all of it is there, without waiting; lets messages under way go on. For looks between pieces of other work.
  virtual bool arrived() = 0;
  virtual void finish() = 0;
};

/// Why work ended on a rank.
struct RankFailure {
  int rank = 0;
  ErrorCode code = ErrorCode::internal;
  Verdict stopped = Verdict::proceed;  // otherwise told to end, which is no error
  std::string sentence = {}, where = {};
};

/// How a piece of work ended on this rank: well, with a failure of its own, or freed by another's.
struct WorkEnd {
  bool well = true;
  std::optional<RankFailure> failure = {};
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// How many of the ranks run on this machine and share its processors and memory.
  virtual int on_this_machine() const { return size(); }
  /// Sums each element over all ranks in a fixed order, the same bits on every rank.
  virtual void sum(std::span<double> values) const = 0;
  /// The largest value over all ranks; NaN when one of them is NaN.
  virtual double largest(double value) const = 0;

  // What follows is defined here for one process; a class of several ranks has its own.

  /// Returns when every rank has called it.
  virtual void barrier() const;
  /// Of `root` to all.
  virtual void broadcast(std::span<std::byte> bytes, int root = 0) const;
  /// As many bytes from each, in the order of the ranks, on rank 0; `all` may be empty elsewhere.
  virtual void gather(std::span<const std::byte> mine, std::span<std::byte> all) const;
  /// The same on every rank.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const;
  /// Several parts between the same two ranks are matched in the order they are given.
  virtual std::unique_ptr<Exchange> exchange(std::span<const SentPart> sends, std::span<const ReceivedPart> receives) const;
  /// For all_or_none (agreement.hpp) alone. The number of a piece of work that all ranks begin together;
  virtual std::int64_t begin_together() const { return 0; }
  /// whether it ended well: nothing where it did on all ranks, otherwise what the lowest of those says that failed. Ranks
  /// that wait for one that failed are freed by it. Throws RankLeft where it is a larger piece around this one that failed.
  virtual std::optional<RankFailure> end_together(std::int64_t number, const WorkEnd& mine) const;
};

/// The communicator of a single process: sums are what they are.
const Communicator& serial();

}  // namespace echelon
