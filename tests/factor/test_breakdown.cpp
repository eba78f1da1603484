// SPDX-License-Identifier: BSD-3-Clause
// The policy by itself, with factorizations that are made up: which attempts are made, and what is reported.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "echelon/base/work_watch.hpp"
#include "echelon/factor/pivots/shift_search.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon {
namespace {

using Kind = PivotNote::Kind;

PivotNote pivot_note(std::int64_t row, Kind kind, double value = 0) { return {row, value, 2.0, -1, kind}; }

/// Records the attempts; `bad` decides which pivots an attempt meets, `growth_of` what it grows to.
struct Play {
  IluOptions options;
  bool positive_definite = false;
  std::function<std::vector<PivotNote>(const Attempt&)> bad = [](const Attempt&) { return std::vector<PivotNote>{}; };
  std::function<double(const Attempt&)> growth_of = [](const Attempt&) { return 10.0; };
  std::vector<Attempt> attempts;
  AttemptCost cost;
  FactorReport report;

  const FactorReport& run() {
    PivotLog log;
    factor_with_policy(
        options, positive_definite, "ILU(0)", log,
        [&](const Attempt& attempt) {
          attempts.push_back(attempt);
          for (const auto& note : bad(attempt)) log.add(note.row, note);
          log.record_change(attempt.shift * 3, 12);
        },
        [&] { return growth_of(attempts.back()); }, report, cost);
    return report;
  }
};

TEST(Breakdown, ACostlyFactorizationIsRepeatedAFewTimesOnly) {
  // What only a shift of 4 cures takes thirteen doublings from 1e-3.
  const auto needs_four = [](const Attempt& a) { return a.shift < 4 ? std::numeric_limits<double>::infinity() : 10.0; };
  Play cheap;
  cheap.growth_of = needs_four;
  EXPECT_TRUE(cheap.run().ok);
  EXPECT_EQ(cheap.attempts.size(), 14u);
  int asked = 0;
  for (const double hint : {0.0, 0.512, 4.096}) {
    Play costly;
    costly.growth_of = needs_four;
    costly.cost = {[&] { return ++asked, 2 * costly_operations; }, [&] { return hint; }};
    const auto& report = costly.run();
    EXPECT_LE(costly.attempts.size(), 1u + most_costly_shifts) << hint;
    EXPECT_EQ(report.ok, hint > 0) << "1e-3·8³ is not enough";
    if (hint > 0) {
      EXPECT_GE(report.shift, 4);
      EXPECT_EQ(costly.attempts[1].shift, hint);
    } else {
      EXPECT_NE(report.message.find("4 shifts up to 0.512 did not help, and at its cost no more were tried"),
                std::string::npos)
          << report.message;
    }
  }
  EXPECT_EQ(asked, 3) << "once a search";
  Play fine;
  fine.cost = {[&] { return ++asked, 1e30; }, nullptr};
  EXPECT_TRUE(fine.run().ok);
  EXPECT_EQ(asked, 3) << "without a search nobody counts";
}

TEST(Breakdown, WhatIsEndedOnTheWayIsNoFactorization) {
  Play play;
  EXPECT_TRUE(play.run().ok);
  play.growth_of = [](const Attempt&) -> double { throw WorkStopped(Verdict::interrupt); };
  EXPECT_THROW((void)play.run(), WorkStopped);
  EXPECT_FALSE(play.report.ok);
  EXPECT_EQ(play.report.message, "ILU(0) was not finished");
}

TEST(Breakdown, NothingWrongIsOneAttemptWithoutRemarks) {
  Play play;
  const auto& report = play.run();
  EXPECT_TRUE(report.ok);
  EXPECT_EQ(play.attempts.size(), 1u);
  EXPECT_EQ(play.attempts[0].shift, 0);
  EXPECT_EQ(report.growth, 10);
  EXPECT_EQ(report.perturbation, 0);
  EXPECT_TRUE(report.remarks.empty());
}

TEST(Breakdown, NoneStopsAndSaysWhere) {
  Play play;
  play.options.shift = ShiftPolicy::none;
  play.bad = [](const Attempt& a) {
    EXPECT_FALSE(a.boost);
    return std::vector{pivot_note(80, Kind::tiny, 1e-20), pivot_note(57, Kind::zero)};
  };
  const auto& report = play.run();
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(report.message, "ILU(0): zero pivot at row 57 (value 0, row max 2)");
  ASSERT_EQ(report.bad_pivots.size(), 2u);
  EXPECT_EQ(report.bad_pivots[0].row, 57);
}

TEST(Breakdown, AutomaticBoostsAndCounts) {
  Play play;
  play.bad = [](const Attempt& a) {
    EXPECT_TRUE(a.boost);
    return std::vector{pivot_note(3, Kind::zero)};
  };
  const auto& report = play.run();
  EXPECT_TRUE(report.ok);
  EXPECT_EQ(report.perturbed_pivots, 1);
  EXPECT_EQ(report.shift_attempts, 0);
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_NE(report.remarks[0].find("row 3"), std::string::npos);
}

TEST(Breakdown, WildGrowthRunsTheLadderToTheFirstAcceptableShift) {
  Play play;
  play.growth_of = [](const Attempt& a) { return a.shift < 0.007 ? 1e25 : 100.0; };
  const auto& report = play.run();
  EXPECT_TRUE(report.ok);
  EXPECT_EQ(report.shift, 0.008);
  EXPECT_EQ(report.shift_attempts, 4);  // 0, 0.001, 0.002, 0.004
  EXPECT_EQ(report.perturbation, 0.008 * 3 / 12);
  EXPECT_EQ(report.perturbed_pivots, 0);
  for (std::size_t a = 1; a < play.attempts.size(); ++a) EXPECT_FALSE(play.attempts[a].boost);
}

TEST(Breakdown, TheLadderEndsAfterTwentyDoublings) {
  Play play;
  play.positive_definite = true;
  play.bad = [](const Attempt& a) {
    EXPECT_FALSE(a.boost);
    return std::vector{pivot_note(5, Kind::negative, -1)};
  };
  const auto& report = play.run();
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(play.attempts.size(), 22u);
  EXPECT_EQ(report.shift, 1e-3 * (1 << 20));
  EXPECT_NE(report.message.find("non-positive pivot at row 5"), std::string::npos);
  EXPECT_NE(report.message.find("1.05e+03"), std::string::npos) << report.message;
  EXPECT_EQ(report.bad_pivots.size(), 1u);
}

TEST(Breakdown, GrowthThatNoShiftCuresKeepsTheFactorsOfA) {
  Play play;
  play.growth_of = [](const Attempt&) { return 1e25; };
  const auto& report = play.run();
  EXPECT_TRUE(report.ok);
  EXPECT_EQ(report.shift, 0);
  EXPECT_EQ(report.shift_attempts, 22);
  EXPECT_FALSE(play.attempts.back().boost);
  EXPECT_EQ(report.remarks.size(), 1u);
  Play boosted;
  boosted.growth_of = play.growth_of;
  boosted.bad = [](const Attempt& a) { return std::vector<PivotNote>(a.boost ? 1 : 0, pivot_note(2, Kind::zero)); };
  EXPECT_FALSE(boosted.run().ok);
}

TEST(Breakdown, NonfiniteInputIsNotShifted) {
  Play play;
  play.bad = [](const Attempt&) {
    return std::vector{pivot_note(9, Kind::overflow), pivot_note(4, Kind::nonfinite_input), pivot_note(1, Kind::zero)};
  };
  const auto& report = play.run();
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(play.attempts.size(), 1u);
  EXPECT_EQ(report.bad_pivots[2].kind, Kind::nonfinite_input) << "row 9 was infected by row 4";
  EXPECT_NE(report.message.find("NaN or Inf, first met at row 4"), std::string::npos) << report.message;
}

TEST(Breakdown, GrowthIsRemarkedAndNonfiniteGrowthIsAnError) {
  Play play;
  play.growth_of = [](const Attempt&) { return 1e9; };
  EXPECT_TRUE(play.run().ok);
  EXPECT_EQ(play.report.remarks.size(), 1u);
  Play none;
  none.options.shift = ShiftPolicy::none;
  none.growth_of = [](const Attempt&) { return std::numeric_limits<double>::infinity(); };
  EXPECT_FALSE(none.run().ok);
}

TEST(Breakdown, GivenShiftIsUsedOnce) {
  Play play;
  play.options.shift = ShiftPolicy::value;
  play.options.shift_value = 0.5;
  EXPECT_TRUE(play.run().ok);
  ASSERT_EQ(play.attempts.size(), 1u);
  EXPECT_EQ(play.attempts[0].shift, 0.5);
  EXPECT_EQ(play.report.shift, 0.5);
}

TEST(Breakdown, LogKeepsTheFirstTenInEliminationOrder) {
  PivotLog log;
  for (int position = 30; position > 0; --position) log.add(position, pivot_note(100 + position, Kind::tiny));
  EXPECT_EQ(log.count(), 30);
  ASSERT_EQ(log.first().size(), 10u);
  for (int q = 0; q < 10; ++q) EXPECT_EQ(log.first()[static_cast<std::size_t>(q)].row, 101 + q);
  log.reset();
  EXPECT_EQ(log.count(), 0);
  EXPECT_TRUE(log.first().empty());
}

}  // namespace
}  // namespace echelon
