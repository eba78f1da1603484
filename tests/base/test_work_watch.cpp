// SPDX-License-Identifier: BSD-3-Clause
// The question itself: when it is asked, by whom, and what a 'no' does.
#include "echelon/base/work_watch.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <stdexcept>
#include <thread>

namespace echelon {
namespace {

constexpr auto a_question = WorkWatch::operations_a_question;

TEST(WorkWatch, NothingInstalledIsNothingAsked) {
  EXPECT_EQ(WorkWatch::current(), nullptr);
  keep_going(100 * a_question);
  const WorkWatch empty(nullptr);
  EXPECT_EQ(WorkWatch::current(), nullptr);
}

TEST(WorkWatch, AsksOnceASomuchWork) {
  int asked = 0;
  const WorkWatch watch([&] { return ++asked, Verdict::proceed; });
  for (int i = 0; i < 1000; ++i) keep_going(a_question / 100);
  EXPECT_GE(asked, 9);
  EXPECT_LE(asked, 10);
  keep_going(50 * a_question);  // one piece of work, one question
  EXPECT_LE(asked, 11);
}

TEST(WorkWatch, ANoThrowsAndStays) {
  int asked = 0;
  const WorkWatch watch([&] { return ++asked < 3 ? Verdict::proceed : Verdict::time_limit; });
  int pieces = 0;
  try {
    for (;; ++pieces) keep_going(a_question + 1);
  } catch (const WorkStopped& stop) {
    EXPECT_EQ(stop.verdict(), Verdict::time_limit);
  }
  EXPECT_EQ(pieces, 2);
  EXPECT_THROW(keep_going(a_question + 1), WorkStopped);
  EXPECT_EQ(asked, 3) << "the answer is known";
}

TEST(WorkWatch, TheOuterScopeIsBackAfterTheInner) {
  int outer = 0, inner = 0;
  const WorkWatch first([&] { return ++outer, Verdict::proceed; });
  {
    const WorkWatch second([&] { return ++inner, Verdict::proceed; });
    keep_going(a_question + 1);
  }
  keep_going(a_question + 1);
  EXPECT_EQ(inner, 1);
  EXPECT_EQ(outer, 1);
}

TEST(WorkWatch, OtherThreadsAreNotWatched) {
  const WorkWatch watch([] { return Verdict::interrupt; });
  std::thread other([] { keep_going(100 * a_question); });
  other.join();
}

TEST(SharedWork, ARegionEndsTogetherAndThrowsBehindItself) {
  for (const int team : {1, 2, 4}) {
    int asked = 0;
    std::thread::id asker;
    const WorkWatch watch([&] {
      asker = std::this_thread::get_id();
      return ++asked < 5 ? Verdict::proceed : Verdict::interrupt;
    });
    SharedWork shared;
    EXPECT_TRUE(shared.watched());
#pragma omp parallel num_threads(team)
    while (shared.goes_on(a_question + 1)) {
    }
    EXPECT_EQ(asked, 5) << team;
    EXPECT_EQ(asker, std::this_thread::get_id());
    EXPECT_THROW(shared.finish(), WorkStopped);
  }
}

TEST(SharedWork, WhatTheQuestionThrowsComesOutBehindTheRegion) {
  const WorkWatch watch([]() -> Verdict { throw std::runtime_error("no answer"); });
  SharedWork shared;
#pragma omp parallel num_threads(2)
  while (shared.goes_on(a_question + 1)) {
  }
  EXPECT_THROW(shared.finish(), std::runtime_error);
}

TEST(SharedWork, WithoutAWatchItGoesOn) {
  SharedWork shared;
  EXPECT_FALSE(shared.watched());
  EXPECT_TRUE(shared.goes_on(100 * a_question));
  shared.finish();
}

}  // namespace
}  // namespace echelon
