// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/comm/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include "echelon/base/threads.hpp"

namespace echelon {
namespace {

// Tags: words about failures, then calls of all ranks (a tag for each time after a failure), then exchanges.
constexpr int words_tag = 0, first_tag = 1, tags = 1000, first_exchange_tag = first_tag + tags, exchange_tags = 30000;

constexpr int looks_between_words = 16;
// Looks, of some 100 nanoseconds. Few that yield: on a machine with other work a process that sleeps gets its processor back
// at once, one that yields waits for the others' whole turns: ten times as long for the same messages on a busy machine.
constexpr int spins = 400;
constexpr int yields = 30;
constexpr auto sleep_time = std::chrono::microseconds(20);
constexpr int impatient = spins + yields + 12000;  // looks, about a second

int counted(std::size_t bytes) {
  if (bytes <= INT_MAX) return static_cast<int>(bytes);
  throw Error(ErrorCode::bad_argument, fmt::format("a message of {} bytes; one has at most {}", bytes, INT_MAX));
}

}  // namespace

/// One message under way; given up where it is not waited for to its end.
class Ranks::Message {
 public:
  Message(const Ranks& ranks, int handle) : ranks_(&ranks), handle_(handle) {}
  Message(Message&& other) noexcept : ranks_(other.ranks_), handle_(std::exchange(other.handle_, none)) {}
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  Message& operator=(Message&&) = delete;
  ~Message() {
    if (handle_ != none) ranks_->messages_.drop(ranks_->endpoint_, handle_);
  }
  bool done() {
    if (handle_ != none && ranks_->messages_.done(ranks_->endpoint_, handle_)) handle_ = none;
    return handle_ == none;
  }

 private:
  static constexpr int none = -1;
  const Ranks* ranks_;
  int handle_;
};

class Ranks::Parts final : public Exchange {
 public:
  Parts(const Ranks& ranks, int tag, std::span<const SentPart> sends, std::span<const ReceivedPart> receives)
      : ranks_(ranks), tag_(tag), sends_(sends.begin(), sends.end()), receives_(receives.begin(), receives.end()) {
    under_way_.reserve(sends_.size() + receives_.size());
  }
  void start() override {
    if (!under_way_.empty()) throw Error(ErrorCode::internal, "an exchange was started that had not been finished");
    for (const auto& part : receives_) under_way_.push_back(ranks_.receive(part.from, part.bytes, tag_));
    for (const auto& part : sends_) under_way_.push_back(ranks_.send(part.to, part.bytes, tag_));
  }
  bool arrived() override {
    bool all = true;
    for (auto& message : under_way_) all = message.done() && all;
    return all;
  }
  void finish() override {
    for (auto& message : under_way_) ranks_.wait(message);
    under_way_.clear();
  }

 private:
  const Ranks& ranks_;
  int tag_;
  std::vector<SentPart> sends_;
  std::vector<ReceivedPart> receives_;
  std::vector<Message> under_way_;
};

Ranks::Ranks(const MessageTable& messages, void* endpoint, double patience)
    : messages_(messages),
      endpoint_(endpoint),
      patience_(patience),
      rank_(messages.rank(endpoint)),
      size_(messages.size(endpoint)),
      here_(messages.on_this_machine(endpoint)),
      crowded_(here_ > hardware_threads()),
      tag_(first_tag),
      heard_(static_cast<std::size_t>(size_)) {}

Ranks::~Ranks() { messages_.close(endpoint_); }

Ranks::Message Ranks::send(int to, std::span<const std::byte> bytes, int tag) const {
  return {*this, messages_.send(endpoint_, to, tag, bytes.data(), counted(bytes.size()))};
}

Ranks::Message Ranks::receive(int from, std::span<std::byte> bytes, int tag) const {
  return {*this, messages_.receive(endpoint_, from, tag, bytes.data(), counted(bytes.size()))};
}

Ranks::Message Ranks::send(int to, std::span<const std::byte> bytes) const { return send(to, bytes, tag_); }

Ranks::Message Ranks::receive(int from, std::span<std::byte> bytes) const { return receive(from, bytes, tag_); }

void Ranks::give_way(int looks) const {
  const int first = crowded_ ? 0 : spins;
  if (looks < first) return;
  if (looks < first + yields) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(sleep_time);
  }
}

void Ranks::wait(Message& message) const {
  for (int looks = 0; !message.done(); looks = std::min(looks + 1, INT_MAX - 1)) {
    if (looks % looks_between_words == looks_between_words - 1 && somebody_failed(looks)) throw RankLeft();
    give_way(looks);
  }
}

template <class Combine>
void Ranks::combine(std::span<double> values, Combine combination) const {
  if (other_.size() < values.size()) other_.resize(values.size());
  const auto others = std::span(other_).first(values.size());
  const auto give = [&](int to) {
    auto message = send(to, std::as_bytes(values));
    wait(message);
  };
  const auto take = [&](int from, std::span<double> into) {
    auto message = receive(from, std::as_writable_bytes(into));
    wait(message);
  };
  const auto combine_with_others = [&](bool mine_first) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = mine_first ? combination(values[i], others[i]) : combination(others[i], values[i]);
    }
  };
  const int paired = static_cast<int>(std::bit_floor(static_cast<unsigned>(size_)));
  if (rank_ >= paired) {
    give(rank_ - paired);
    return take(rank_ - paired, values);
  }
  const bool has_guest = rank_ + paired < size_;
  if (has_guest) {
    take(rank_ + paired, others);
    combine_with_others(true);
  }
  for (int distance = 1; distance < paired; distance *= 2) {
    const int partner = rank_ ^ distance;
    auto coming = receive(partner, std::as_writable_bytes(others));
    auto going = send(partner, std::as_bytes(values));
    wait(coming);
    wait(going);
    combine_with_others(rank_ < partner);
  }
  if (has_guest) give(rank_ + paired);
}

void Ranks::sum(std::span<double> values) const {
  combine(values, [](double a, double b) { return a + b; });
}

double Ranks::largest(double value) const {
  combine({&value, 1}, [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
  return value;
}

void Ranks::barrier() const {
  combine({}, [](double a, double) { return a; });
}

void Ranks::broadcast(std::span<std::byte> bytes, int root) const {
  if (root < 0 || root >= size_) {
    throw Error(ErrorCode::bad_argument, fmt::format("a broadcast from rank {} of {}", root, size_));
  }
  // A binomial tree: place p has its bytes of the place without p's lowest bit, and gives them to those that add a lower
  // one.
  const int place = (rank_ - root + size_) % size_;
  const auto rank_at = [&](int p) { return (p + root) % size_; };
  int bit = 1;
  for (; bit < size_ && (place & bit) == 0; bit *= 2) {
  }
  if (place != 0) {
    auto coming = receive(rank_at(place - bit), bytes);
    wait(coming);
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (place + bit >= size_) continue;
    auto going = send(rank_at(place + bit), bytes);
    wait(going);
  }
}

void Ranks::require_room(std::size_t mine, std::size_t all) const {
  if (all == mine * static_cast<std::size_t>(size_)) return;
  throw Error(ErrorCode::size_mismatch,
              fmt::format("a gather of {} bytes from each of {} ranks into {} bytes", mine, size_, all));
}

void Ranks::gather(std::span<const std::byte> mine, std::span<std::byte> all) const {
  if (rank_ != 0) {
    auto going = send(0, mine);
    return wait(going);
  }
  require_room(mine.size(), all.size());
  std::ranges::copy(mine, all.begin());
  std::vector<Message> coming;
  for (int from = 1; from < size_; ++from) {
    coming.push_back(receive(from, all.subspan(mine.size() * static_cast<std::size_t>(from), mine.size())));
  }
  for (auto& message : coming) wait(message);
}

void Ranks::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const {
  require_room(mine.size(), all.size());
  gather(mine, all);
  broadcast(all, 0);
}

std::unique_ptr<Exchange> Ranks::exchange(std::span<const SentPart> sends, std::span<const ReceivedPart> receives) const {
  const int tag = first_exchange_tag + static_cast<int>(exchanges_++ % exchange_tags);
  return std::make_unique<Parts>(*this, tag, sends, receives);
}

std::vector<std::byte> Ranks::Word::packed() const {
  const auto why = failure.value_or(RankFailure{.rank = -1});
  const std::array<std::int64_t, 7> head{number,
                                         begun,
                                         exchanges,
                                         why.rank,
                                         static_cast<std::int64_t>(why.code),
                                         static_cast<std::int64_t>(why.stopped),
                                         static_cast<std::int64_t>(why.sentence.size())};
  const auto text = why.sentence + why.where;
  std::vector<std::byte> bytes(sizeof head + text.size());
  std::memcpy(bytes.data(), head.data(), sizeof head);
  std::ranges::copy(std::as_bytes(std::span(text)), bytes.begin() + sizeof head);
  return bytes;
}

Ranks::Word Ranks::Word::unpacked(std::span<const std::byte> bytes) {
  std::array<std::int64_t, 7> head{};
  std::memcpy(head.data(), bytes.data(), sizeof head);
  const auto [number, begun, exchanges, rank, code, stopped, sentence] = head;
  const std::string text(reinterpret_cast<const char*>(bytes.data()) + sizeof head, bytes.size() - sizeof head);
  Word word{number, begun, exchanges, {}};
  if (rank < 0) return word;
  const auto cut = static_cast<std::size_t>(sentence);
  word.failure = {static_cast<int>(rank), static_cast<ErrorCode>(code), static_cast<Verdict>(stopped), text.substr(0, cut),
                  text.substr(cut)};
  return word;
}

void Ranks::listen() const {
  int bytes = 0;
  for (int from; (from = messages_.waiting(endpoint_, words_tag, &bytes)) >= 0;) {
    std::vector<std::byte> packed(static_cast<std::size_t>(bytes));
    auto coming = receive(from, packed, words_tag);
    while (!coming.done()) std::this_thread::yield();
    heard_[static_cast<std::size_t>(from)].push_back(Word::unpacked(packed));
  }
}

/// A word of a piece of work that this rank has not begun yet is for later: whoever failed there did its share of what is
/// waited for here. After `impatient` looks any word counts.
bool Ranks::somebody_failed(int looks) const {
  listen();
  return std::ranges::any_of(
      heard_, [&](const auto& words) { return !words.empty() && (words.front().number <= begun_ || looks > impatient); });
}

/// Of one piece of work. A larger piece around it that failed on some rank is what all have to end then.
std::vector<Ranks::Word> Ranks::words_of_all(const Word& mine) const {
  const auto packed = mine.packed();
  std::vector<Message> going;
  for (int to = 0; to < size_; ++to) {
    if (to != rank_) going.push_back(send(to, packed, words_tag));
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_);
  std::vector<Word> words(static_cast<std::size_t>(size_), mine);
  for (int from = 0; from < size_; ++from) {
    auto& queue = heard_[static_cast<std::size_t>(from)];
    for (int looks = 0; from != rank_; ++looks) {
      listen();
      while (!queue.empty() && queue.front().number > mine.number) queue.pop_front();  // of pieces in this one, given up
      if (!queue.empty()) break;
      if (std::chrono::steady_clock::now() > end) throw lost(from, mine);
      give_way(std::min(looks, spins + yields));
    }
    if (from == rank_) continue;
    if (queue.front().number < mine.number) {
      if (mine.failure) throw RankError(*mine.failure, size_);
      throw RankLeft();
    }
    words[static_cast<std::size_t>(from)] = std::move(queue.front());
    queue.pop_front();
  }
  for (auto& message : going) {
    while (!message.done()) std::this_thread::yield();
  }
  return words;
}

RanksLost Ranks::lost(int silent, const Word& mine) const {
  const auto why = mine.failure ? mine.failure->sentence : std::string("another rank failed");
  const int lowest = silent == 0 ? 1 : 0;
  return {fmt::format("{}; rank {} of {} has said nothing for {:g} s", why, silent, size_, patience_), lowest};
}

std::optional<RankFailure> Ranks::end_together(std::int64_t number, const WorkEnd& mine) const {
  if (mine.well) {
    try {
      barrier();
      return {};
    } catch (const RankLeft&) {
      // Its reason is among the words.
    }
  }
  const auto words = words_of_all({number, begun_, exchanges_, mine.failure});
  std::optional<RankFailure> lowest;
  for (const auto& word : words) {
    begun_ = std::max(begun_, word.begun);
    exchanges_ = std::max(exchanges_, word.exchanges);
    if (word.failure && (!lowest || word.failure->rank < lowest->rank)) lowest = word.failure;
  }
  tag_ = first_tag + static_cast<int>(++begun_ % tags);
  return lowest;
}

}  // namespace echelon
