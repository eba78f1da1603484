// SPDX-License-Identifier: BSD-3-Clause
// Calls of all ranks against their definitions, over threads: the same code as over MPI, whatever the order of arrivals.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/expect_error.hpp"
#include "tests/reference/threaded_ranks.hpp"

namespace echelon {
namespace {

using test::run_ranks;

/// Of rank r: the last bits of any sum depend on its order.
double drawn(int rank, int i) { return std::sin(1.0 + 7 * rank + 13 * i) * std::pow(10.0, (rank * 5 + i) % 9); }

/// The order that ranks.hpp states, by its tree: what remains after guests have been added, halved again and again.
double stated_sum(int count, int i) {
  std::vector<double> v;
  for (int rank = 0; rank < count; ++rank) v.push_back(drawn(rank, i));
  const auto paired = std::bit_floor(v.size());
  for (std::size_t guest = paired; guest < v.size(); ++guest) v[guest - paired] += v[guest];
  v.resize(paired);
  while (v.size() > 1) {
    for (std::size_t pair = 0; pair < v.size() / 2; ++pair) v[pair] = v[2 * pair] + v[2 * pair + 1];
    v.resize(v.size() / 2);
  }
  return v[0];
}

TEST(Ranks, SumHasItsOrderOnEveryRank) {
  for (int count = 1; count <= 9; ++count) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      run_ranks(
          count,
          [&](const Communicator& ranks) {
            std::vector<double> values(17);
            for (int i = 0; i < 17; ++i) values[static_cast<std::size_t>(i)] = drawn(ranks.rank(), i);
            ranks.sum(values);
            for (int i = 0; i < 17; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], stated_sum(count, i)) << count;
          },
          seed);
    }
  }
}

TEST(Ranks, SumOfNothingAndOfManyFollowEachOther) {
  run_ranks(3, [](const Communicator& ranks) {
    for (int round = 0; round < 50; ++round) {
      ranks.sum({});
      std::vector<double> values(static_cast<std::size_t>(round), 1.0 + ranks.rank());
      ranks.sum(values);
      for (const double value : values) EXPECT_EQ(value, 6);
    }
  });
}

TEST(Ranks, LargestKnowsNan) {
  for (int count : {1, 2, 3, 4, 5, 7}) {
    run_ranks(count, [&](const Communicator& ranks) {
      EXPECT_EQ(ranks.largest(-5.0 + ranks.rank()), -5.0 + count - 1);
      for (int bad = 0; bad < count; ++bad) {
        EXPECT_TRUE(std::isnan(ranks.largest(ranks.rank() == bad ? std::nan("") : 1e300)));
      }
      EXPECT_EQ(ranks.largest(-std::numeric_limits<double>::infinity()), -std::numeric_limits<double>::infinity());
    });
  }
}

TEST(Ranks, BroadcastFromEveryRoot) {
  for (int count = 1; count <= 8; ++count) {
    run_ranks(count, [&](const Communicator& ranks) {
      for (int root = 0; root < count; ++root) {
        std::string text(9, ' ');
        if (ranks.rank() == root) text = "of rank " + std::to_string(root);
        ranks.broadcast(std::as_writable_bytes(std::span(text)), root);
        EXPECT_EQ(text, "of rank " + std::to_string(root));
      }
      std::byte one{};
      EXPECT_ERROR(ranks.broadcast({&one, 1}, count), bad_argument, "a broadcast from rank");
    });
  }
}

TEST(Ranks, GatherIsInOrderOfRanks) {
  for (int count : {1, 2, 3, 4, 6}) {
    run_ranks(count, [&](const Communicator& ranks) {
      const std::array<int, 2> mine{ranks.rank(), 10 * ranks.rank()};
      std::vector<int> all(2 * static_cast<std::size_t>(count), -1), wanted;
      for (int rank = 0; rank < count; ++rank) wanted.insert(wanted.end(), {rank, 10 * rank});
      ranks.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
      EXPECT_EQ(all, wanted);
      std::vector<int> collected(ranks.rank() == 0 ? all.size() : 0);
      ranks.gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(collected)));
      if (ranks.rank() == 0) {
        EXPECT_EQ(collected, wanted);
      }
      std::array<std::byte, 3> short_room{};
      EXPECT_ERROR(ranks.all_gather(std::as_bytes(std::span(mine)), short_room), size_mismatch, "3 bytes");
    });
  }
}

TEST(Ranks, BarrierIsAfterAllHaveCome) {
  for (int count : {2, 3, 5}) {
    std::atomic<int> come{0};
    run_ranks(count, [&](const Communicator& ranks) {
      for (int round = 1; round <= 20; ++round) {
        ++come;
        ranks.barrier();
        EXPECT_GE(come.load(), round * count);
        ranks.barrier();
      }
    });
  }
}

TEST(Ranks, PartsBetweenTwoRanksKeepTheirOrder) {
  run_ranks(2, [](const Communicator& ranks) {
    const int other = 1 - ranks.rank();
    std::array<int, 3> out{}, in{};
    std::array<double, 1> long_out{}, long_in{};
    const auto part = [&](auto& array, std::size_t i) { return std::as_bytes(std::span(array).subspan(i, 1)); };
    const auto room = [&](auto& array, std::size_t i) { return std::as_writable_bytes(std::span(array).subspan(i, 1)); };
    const std::array<SentPart, 4> sends{
        {{other, part(out, 0)}, {other, part(long_out, 0)}, {other, part(out, 1)}, {other, part(out, 2)}}};
    const std::array<ReceivedPart, 4> receives{
        {{other, room(in, 0)}, {other, room(long_in, 0)}, {other, room(in, 1)}, {other, room(in, 2)}}};
    const auto exchange = ranks.exchange(sends, receives);
    const auto unused = ranks.exchange({}, {});
    for (int round = 0; round < 30; ++round) {
      for (int i = 0; i < 3; ++i) out[static_cast<std::size_t>(i)] = 100 * round + 10 * ranks.rank() + i;
      long_out[0] = 0.5 + round;
      exchange->start();
      while (round % 2 == 1 && !exchange->arrived()) std::this_thread::yield();
      exchange->finish();
      for (int i = 0; i < 3; ++i) EXPECT_EQ(in[static_cast<std::size_t>(i)], 100 * round + 10 * other + i);
      EXPECT_EQ(long_in[0], 0.5 + round);
    }
    unused->start();
    unused->finish();
  });
}

TEST(Serial, DoesEverythingAlone) {
  const auto& alone = serial();
  alone.barrier();
  std::array<int, 2> mine{3, 4}, all{};
  alone.broadcast(std::as_writable_bytes(std::span(mine)));
  alone.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  EXPECT_EQ(all, mine);
  EXPECT_EQ(alone.on_this_machine(), 1);
  std::array<int, 2> copy{};
  const SentPart send{0, std::as_bytes(std::span(mine))};
  const ReceivedPart receive{0, std::as_writable_bytes(std::span(copy))};
  const auto exchange = alone.exchange({&send, 1}, {&receive, 1});
  exchange->start();
  EXPECT_TRUE(exchange->arrived());
  exchange->finish();
  EXPECT_EQ(copy, mine);
  EXPECT_ERROR(alone.exchange({&send, 1}, {}), bad_argument, "sends to itself");
  EXPECT_ERROR(alone.broadcast({}, 1), bad_argument, "rank 1");
  EXPECT_ERROR(alone.gather(std::as_bytes(std::span(mine)), {}), size_mismatch, "got 0 bytes, expected 8");
}

}  // namespace
}  // namespace echelon
