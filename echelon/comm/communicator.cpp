// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/comm/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace echelon {
namespace {

class Serial final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void sum(std::span<double>) const override {}
  double largest(double value) const override { return value; }
};

/// A process that sends to itself.
class Copies final : public Exchange {
 public:
  Copies(std::span<const SentPart> sends, std::span<const ReceivedPart> receives)
      : sends_(sends.begin(), sends.end()), receives_(receives.begin(), receives.end()) {}
  void start() override {
    for (std::size_t i = 0; i < sends_.size(); ++i) std::ranges::copy(sends_[i].bytes, receives_[i].bytes.begin());
  }
  bool arrived() override { return true; }
  void finish() override {}

 private:
  std::vector<SentPart> sends_;
  std::vector<ReceivedPart> receives_;
};

void require_one(const Communicator& communicator, const char* what) {
  if (communicator.size() == 1) return;
  throw Error(ErrorCode::internal,
              fmt::format("a communicator of {} ranks that has no {} of its own", communicator.size(), what));
}

void require_same_size(std::size_t got, std::size_t expected, const char* what) {
  if (got == expected) return;
  throw Error(ErrorCode::size_mismatch, fmt::format("{}: got {} bytes, expected {}", what, got, expected));
}

}  // namespace

void Communicator::barrier() const { require_one(*this, "barrier"); }

void Communicator::broadcast(std::span<std::byte>, int root) const {
  require_one(*this, "broadcast");
  if (root != 0) throw Error(ErrorCode::bad_argument, fmt::format("a broadcast from rank {} where there is one", root));
}

void Communicator::gather(std::span<const std::byte> mine, std::span<std::byte> all) const {
  require_one(*this, "gather");
  require_same_size(all.size(), mine.size(), "a gather of one rank");
  std::ranges::copy(mine, all.begin());
}

void Communicator::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const { gather(mine, all); }

std::unique_ptr<Exchange> Communicator::exchange(std::span<const SentPart> sends,
                                                 std::span<const ReceivedPart> receives) const {
  require_one(*this, "exchange");
  bool fits = sends.size() == receives.size();
  for (std::size_t i = 0; fits && i < sends.size(); ++i) {
    fits = sends[i].to == 0 && receives[i].from == 0 && sends[i].bytes.size() == receives[i].bytes.size();
  }
  if (!fits) throw Error(ErrorCode::bad_argument, "an exchange of one rank sends to itself what it receives");
  return std::make_unique<Copies>(sends, receives);
}

std::optional<RankFailure> Communicator::end_together(std::int64_t, const WorkEnd& mine) const {
  require_one(*this, "agreement");
  return mine.failure;
}

const Communicator& serial() {
  static const Serial only;
  return only;
}

}  // namespace echelon
