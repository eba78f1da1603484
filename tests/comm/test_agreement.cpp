// SPDX-License-Identifier: BSD-3-Clause
// A rank that fails at any place (alone, in front of a call of all ranks that others are in, in the middle of an exchange,
// in a piece of work within another) ends the work on all ranks with one error, the lowest's, and the ranks go on together
// after it.
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <vector>

#include "echelon/comm/halo.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/threaded_ranks.hpp"

namespace echelon {
namespace {

using test::run_ranks;

void require_going_on(const Communicator& ranks) {
  std::array<double, 1> one{1};
  ranks.sum(one);
  EXPECT_EQ(one[0], ranks.size());
  BoxHalo halo(ranks, {{ranks.size(), 1, 1}}, {1, 2, 3});
  const std::vector<double> x(6, ranks.rank());
  halo.start(x.data());
  for (const double value : halo.finish()) EXPECT_EQ(std::abs(value - ranks.rank()), 1);
}

[[noreturn]] void fail(int rank) { throw Error(ErrorCode::file_format, "bad line of " + std::to_string(rank), "A.mtx:3:1"); }

void expect_failure_of(const Communicator& ranks, int rank, const std::function<void()>& work) {
  try {
    all_or_none(ranks, work);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::file_format);
    EXPECT_EQ(error.where(), "A.mtx:3:1");
    const auto whose =
        rank == 0 ? std::string() : " (rank " + std::to_string(rank) + " of " + std::to_string(ranks.size()) + ")";
    EXPECT_EQ(error.what(), "A.mtx:3:1: bad line of " + std::to_string(rank) + whose);
  }
}

TEST(Agreement, WorkThatEndsWellIsACall) {
  run_ranks(5, [](const Communicator& ranks) {
    int done = 0;
    for (int round = 0; round < 30; ++round) all_or_none(ranks, [&] { ++done; });
    EXPECT_EQ(done, 30);
    require_going_on(ranks);
  });
}

TEST(Agreement, TheLowestFailureIsEverybodys) {
  for (int count : {2, 3, 4, 6}) {
    for (int lowest = 0; lowest < count; ++lowest) {
      run_ranks(count, [&](const Communicator& ranks) {
        expect_failure_of(ranks, lowest, [&] {
          if (ranks.rank() >= lowest) fail(ranks.rank());
        });
        require_going_on(ranks);
      });
    }
  }
}

TEST(Agreement, FreesThoseThatWaitInCallsOfAllRanks) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    run_ranks(
        4,
        [&](const Communicator& ranks) {
          for (int round = 0; round < 8; ++round) {
            const int bad = static_cast<int>((seed + static_cast<std::uint64_t>(round)) % 4);
            expect_failure_of(ranks, bad, [&] {
              std::array<double, 3> values{};
              for (int call = 0; call < 100; ++call) {
                if (ranks.rank() == bad && call == 5 * round) fail(bad);
                ranks.sum(values);
              }
            });
            require_going_on(ranks);
          }
        },
        seed);
  }
}

TEST(Agreement, FreesThoseThatWaitForAHalo) {
  run_ranks(6, [](const Communicator& ranks) {
    const auto processes = hpcg_process_grid(6);
    for (int bad = 0; bad < 6; ++bad) {
      expect_failure_of(ranks, bad, [&] {
        BoxHalo halo(ranks, processes, {4, 4, 4});
        const std::vector<double> x(64, 1.0);
        for (int round = 0; round < 10; ++round) {
          halo.start(x.data());
          if (ranks.rank() == bad && round == 3) fail(bad);
          halo.finish();
        }
      });
      require_going_on(ranks);
    }
  });
}

TEST(Agreement, WorkWithinWork) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    run_ranks(
        3,
        [&](const Communicator& ranks) {
          // Rank 1 fails before, in, between and after inner pieces: all end the outer one, with its sentence once.
          for (int place = 0; place < 7; ++place) {
            expect_failure_of(ranks, 1, [&] {
              int at = 0;
              const auto here = [&] {
                if (at++ == place && ranks.rank() == 1) fail(1);
              };
              here();
              ranks.barrier();
              all_or_none(ranks, [&] {
                here();
                ranks.barrier();
                all_or_none(ranks, here);
                here();
              });
              here();
              all_or_none(ranks, [&] {
                ranks.barrier();
                here();
              });
              here();
            });
            require_going_on(ranks);
          }
        },
        seed);
  }
}

TEST(Agreement, AnInnerFailureMayBeCaughtByAll) {
  run_ranks(3, [](const Communicator& ranks) {
    all_or_none(ranks, [&] {
      expect_failure_of(ranks, 2, [&] {
        if (ranks.rank() == 2) fail(2);
        ranks.barrier();
      });
      require_going_on(ranks);
    });
    require_going_on(ranks);
  });
}

TEST(Agreement, AFailureRightAfterASuccessIsNotItsOwn) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    run_ranks(
        4,
        [&](const Communicator& ranks) {
          int phase = 0;
          try {
            all_or_none(ranks, [] {});
            phase = 1;
            all_or_none(ranks, [&] {
              if (ranks.rank() == static_cast<int>(seed % 4)) fail(ranks.rank());
            });
          } catch (const Error&) {
            EXPECT_EQ(phase, 1);
          }
        },
        seed);
  }
}

TEST(Agreement, OtherExceptionsHaveTheirWords) {
  run_ranks(2, [](const Communicator& ranks) {
    const auto on_rank_1 = [&](const std::function<void()>& work) {
      all_or_none(ranks, [&] {
        if (ranks.rank() == 1) work();
      });
    };
    EXPECT_ERROR(on_rank_1([] { throw std::bad_alloc(); }), out_of_memory, "memory ran out (rank 1 of 2)");
    EXPECT_ERROR(on_rank_1([] { throw std::logic_error("three"); }), internal, "a bug of ours: three (rank 1 of 2)");
    EXPECT_THROW(on_rank_1([] { throw WorkStopped(Verdict::interrupt); }), WorkStopped);
    require_going_on(ranks);
  });
}

TEST(Agreement, ASilentRankIsNamed) {
  run_ranks(
      3,
      [](const Communicator& ranks) {
        if (ranks.rank() == 1) return;  // as if it were stopped
        try {
          all_or_none(ranks, [&] {
            if (ranks.rank() == 2) fail(2);
            ranks.barrier();
          });
          ADD_FAILURE() << "nothing was thrown";
        } catch (const RanksLost& lost) {
          EXPECT_NE(std::string(lost.what()).find("rank 1 of 3 has said nothing for 0.3 s"), std::string::npos)
              << lost.what();
          EXPECT_EQ(lost.rank(), 0);
        }
      },
      1, 0.3);
}

TEST(Agreement, DifferentTextsAreRefusedOnAllRanks) {
  run_ranks(4, [](const Communicator& ranks) {
    require_same(ranks, "hpcg --grid 16", "command line");
    EXPECT_ERROR(require_same(ranks, ranks.rank() == 2 ? "hpcg --grid 24" : "hpcg --grid 16", "command line"), bad_option,
                 "rank 2 was given another command line than rank 0");
    EXPECT_ERROR(require_same(ranks, ranks.rank() == 0 ? "a" : "b", "command line"), bad_option, "rank 1 was given another");
    require_same(ranks, "", "command line");
  });
}

TEST(Agreement, OneRankThrowsWhatItThrows) {
  EXPECT_THROW(all_or_none(serial(), [] { throw std::logic_error("as it is"); }), std::logic_error);
  EXPECT_NO_THROW(require_same(serial(), "anything", "command line"));
}

}  // namespace
}  // namespace echelon
