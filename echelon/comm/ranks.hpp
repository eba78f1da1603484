// SPDX-License-Identifier: BSD-3-Clause
// The communicator of several ranks, over messages.
//   sums    Q, the largest power of two not above the number of ranks P: first rank r < P − Q adds what rank r + Q has, then
//   at
//           distances 1, 2, 4, … below Q each pair adds, the lower rank's number first; last r gives the total to r + Q. A
//           fixed tree: the same bits on every rank and in every repeat with as many ranks.
//   waits   look at their message, and now and then for word of a rank that failed: then they throw RankLeft. They spin for
//           some microseconds (not at all with more ranks than processors), then let others run, then sleep.
//   failure each rank tells all others how it ended, and hears it of all. Messages that nobody took meanwhile have a tag
//   that is
//           not used again.
#pragma once

#include <deque>
#include <vector>

#include "echelon/comm/agreement.hpp"
#include "echelon/comm/communicator.hpp"
#include "echelon/comm/message_table.hpp"

namespace echelon {

class Ranks final : public Communicator {
 public:
  /// Closes the endpoint when it goes away, which must be on all ranks. `patience`: seconds that ranks wait for each other's
  /// word after a failure.
  Ranks(const MessageTable& messages, void* endpoint, double patience = 300);
  ~Ranks() override;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int on_this_machine() const override { return here_; }
  void sum(std::span<double> values) const override;
  double largest(double value) const override;
  void barrier() const override;
  void broadcast(std::span<std::byte> bytes, int root) const override;
  void gather(std::span<const std::byte> mine, std::span<std::byte> all) const override;
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const override;
  std::unique_ptr<Exchange> exchange(std::span<const SentPart> sends, std::span<const ReceivedPart> receives) const override;
  std::int64_t begin_together() const override { return ++begun_; }
  /// Throws RanksLost when a rank has not answered for so long.
  std::optional<RankFailure> end_together(std::int64_t number, const WorkEnd& mine) const override;

 private:
  class Message;
  class Parts;
  /// How a rank ended piece `number` of work, and its counts, so that all go on with the same ones.
  struct Word {
    std::int64_t number = 0, begun = 0, exchanges = 0;
    std::optional<RankFailure> failure;

    std::vector<std::byte> packed() const;
    static Word unpacked(std::span<const std::byte> bytes);
  };

  Message send(int to, std::span<const std::byte> bytes) const;
  Message receive(int from, std::span<std::byte> bytes) const;
  Message send(int to, std::span<const std::byte> bytes, int tag) const;
  Message receive(int from, std::span<std::byte> bytes, int tag) const;
  template <class Combine>
  void combine(std::span<double> values, Combine combination) const;
  void wait(Message& message) const;
  void give_way(int looks) const;
  void listen() const;
  bool somebody_failed(int looks) const;
  std::vector<Word> words_of_all(const Word& mine) const;
  RanksLost lost(int silent, const Word& mine) const;
  void require_room(std::size_t mine, std::size_t all) const;

  const MessageTable& messages_;
  void* endpoint_;
  double patience_;
  int rank_, size_, here_;
  bool crowded_;  // more ranks here than processors
  mutable std::int64_t begun_ = 0, exchanges_ = 0;
  mutable int tag_;                              // of all but exchanges
  mutable std::vector<std::deque<Word>> heard_;  // of each rank, not yet dealt with
  mutable std::vector<double> other_;            // the partner's values in a sum
};

}  // namespace echelon
