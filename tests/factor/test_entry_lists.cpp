// SPDX-License-Identifier: BSD-3-Clause
// What the GPU's kernels take for granted about a row's elimination: the lists of groups hold every product once, in the
// plan's order, and never wait for each other in a circle; the stencils known at compile time are the library's own.
#include "echelon/factor/grid_gpu/entry_lists.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "echelon/stencil/static_plan.hpp"
#include "echelon/stencil/stencil_fill.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

/// Items of one entry as the plan has them.
void expect_items(const EliminationPlan& plan, std::span<const RowItem> items) {
  const int t = items[0].target;
  const auto pairs = plan.pairs(t);
  const bool lower = t<plan.center, stored = t> plan.center && !plan.diagonal_only;
  ASSERT_EQ(items.size(), 1 + pairs.size() + (lower || stored ? 1 : 0));
  EXPECT_EQ(items[0].kind, RowItem::begin);
  EXPECT_EQ(items[0].loaded, t);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    EXPECT_EQ(items[1 + p].kind, RowItem::subtract);
    EXPECT_EQ(items[1 + p].target, t);
    EXPECT_EQ(items[1 + p].lower, pairs[p].lower);
    EXPECT_EQ(items[1 + p].loaded, pairs[p].upper);
  }
  if (lower) {
    EXPECT_EQ(items.back().kind, RowItem::scale);
    EXPECT_EQ(items.back().lower, t);
    EXPECT_EQ(items.back().loaded, plan.center);
  } else if (stored) {
    EXPECT_EQ(items.back().kind, RowItem::store);
    EXPECT_EQ(items.back().loaded, -1);
  }
}

/// Groups that each run their list as far as the L they need are shown: all of them come to their end.
bool comes_to_an_end(const RowSchedule& schedule, int center) {
  std::vector<bool> shown(static_cast<std::size_t>(center), false);
  std::vector<int> at(schedule.first.begin(), schedule.first.end() - 1);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t g = 0; g < at.size(); ++g) {
      for (; at[g] < schedule.first[g + 1]; ++at[g], moved = true) {
        const RowItem& item = schedule.items[static_cast<std::size_t>(at[g])];
        if (item.kind == RowItem::subtract && !shown[static_cast<std::size_t>(item.lower)]) break;
        if (item.kind == RowItem::scale) shown[static_cast<std::size_t>(item.target)] = true;
      }
    }
  }
  for (std::size_t g = 0; g < at.size(); ++g) {
    if (at[g] != schedule.first[g + 1]) return false;
  }
  return true;
}

void expect_schedule(const Stencil& stencil, int groups) {
  const EliminationPlan plan(stencil);
  const RowSchedule schedule = schedule_row(plan, groups);
  ASSERT_EQ(schedule.first.size(), static_cast<std::size_t>(groups) + 1);
  ASSERT_EQ(schedule.first.back(), static_cast<int>(schedule.items.size()));
  std::vector<int> begun(plan.offsets.size(), 0);
  for (int g = 0; g < groups; ++g) {
    const int end = schedule.first[static_cast<std::size_t>(g) + 1];
    for (int first = schedule.first[static_cast<std::size_t>(g)], last = first; first < end; first = last) {
      const auto is_another = [&](int n) { return schedule.items[static_cast<std::size_t>(n)].kind == RowItem::begin; };
      for (++last; last < end && !is_another(last);) ++last;
      const auto items =
          std::span(schedule.items).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
      ++begun[static_cast<std::size_t>(items[0].target)];
      expect_items(plan, items);
      EXPECT_EQ(items[0].target == plan.center, g == schedule.center_group && last == end);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_TRUE(std::ranges::all_of(begun, [](int n) { return n == 1; }));
  EXPECT_TRUE(comes_to_an_end(schedule, plan.center)) << stencil.name() << ", " << groups << " groups";
}

TEST(RowSchedule, HoldsThePlanForAnyNumberOfGroups) {
  for (const std::string& name : stencils::names()) {
    for (const int groups : {1, 2, 3, 5, 8, 17}) {
      expect_schedule(stencils::named(name), groups);
      expect_schedule(grown(stencils::named(name), 1), groups);
    }
  }
}

TEST(RowSchedule, HoldsThePlanOfRandomStencils) {
  std::mt19937_64 random(12);
  for (int n = 0; n < 300; ++n) expect_schedule(reference::random_stencil(random, 30, 3, n % 4 == 0), 1 + n % 9);
}

template <class Static>
void expect_static_plan(const Stencil& stencil) {
  ASSERT_TRUE(Static::plan.matches(stencil.offsets())) << stencil.name();
  const EliminationPlan plan(stencil);
  EXPECT_EQ(Static::plan.center, plan.center) << stencil.name();
  EXPECT_EQ(Static::plan.diagonal_only, plan.diagonal_only) << stencil.name();
  std::size_t pairs = 0;
  for (int t = 0; t < stencil.size(); ++t) {
    for (const auto [m, u] : plan.pairs(t)) EXPECT_EQ(Static::plan.upper[m][t], u) << stencil.name();
    for (int m = 0; m < stencil.size(); ++m) pairs += Static::plan.upper[m][t] >= 0 ? 1 : 0;
  }
  EXPECT_EQ(pairs, plan.pair.size()) << stencil.name();
}

TEST(StaticPlan, IsThePlanOfItsStencil) {
  expect_static_plan<static_plans::Star5>(stencils::star5());
  expect_static_plan<static_plans::Star7>(stencils::star7());
  expect_static_plan<static_plans::Star9>(stencils::star9());
  expect_static_plan<static_plans::Box9>(stencils::box9());
  expect_static_plan<static_plans::Star13>(stencils::star13());
  expect_static_plan<static_plans::Diamond13>(stencils::diamond13());
  expect_static_plan<static_plans::Diamond25>(stencils::diamond25());
  expect_static_plan<static_plans::Box27>(stencils::box27());
}

TEST(StaticPlan, IsNotThatOfAnotherStencil) {
  const Stencil box9 = stencils::box9(), diamond13 = stencils::diamond13(), star13 = stencils::star13();
  EXPECT_FALSE(static_plans::Star9::plan.matches(box9.offsets()));
  EXPECT_FALSE(static_plans::Star13::plan.matches(diamond13.offsets()));
  EXPECT_FALSE(static_plans::Star7::plan.matches(star13.offsets()));
}

}  // namespace
}  // namespace echelon
