// SPDX-License-Identifier: BSD-3-Clause
// Every set-up that can take long asks whether to go on, in steps of bounded work, ends when it is told to, on any number of
// threads, and computes the same bits asked or not.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include "echelon/base/threads.hpp"
#include "echelon/base/work_watch.hpp"
#include "echelon/factor/fixed_point/kth_largest.hpp"
#include "echelon/factor/rows/symbolic.hpp"
#include "echelon/matrix/grid/stencil_recognition.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/ilu/matched_ilu.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/schedule/orders/colouring.hpp"
#include "echelon/schedule/orders/matching.hpp"
#include "echelon/schedule/orders/rcm.hpp"
#include "echelon/schedule/orders/weighted_matching.hpp"
#include "echelon/schedule/rows/sweep_plan.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/arrow_matrix.hpp"

namespace echelon {
namespace {

/// Counts the questions of a piece of work, which is told to end at question `last` (0: never).
struct Asked {
  int questions = 0;
  bool stopped = false;
};
Asked ask(const std::function<void()>& work, int last = 0) {
  Asked result;
  const WorkWatch watch([&] {
    ++result.questions;
    return last > 0 && result.questions >= last ? Verdict::time_limit : Verdict::proceed;
  });
  try {
    work();
  } catch (const WorkStopped& stop) {
    EXPECT_EQ(stop.verdict(), Verdict::time_limit);
    result.stopped = true;
  }
  return result;
}

/// The work asks `fewest` times at least, and ends at whichever question says no. Only the calling thread asks, by what it
/// did itself: of a team's questions, which may be dealt differently each time, the first is the one that must come.
void ends_when_told(const std::string& name, int fewest, const std::function<void()>& work, int team = 1) {
  const Asked all = ask(work);
  EXPECT_FALSE(all.stopped) << name;
  EXPECT_GE(all.questions, std::max(1, fewest / team)) << name;
  for (const int last : {1, all.questions / 2, all.questions}) {
    if (last < 1 || (team > 1 && last > 1)) continue;
    const Asked ended = ask(work, last);
    EXPECT_TRUE(ended.stopped) << name << ", question " << last;
    EXPECT_EQ(ended.questions, last) << name;
  }
}

class Team {
 public:
  explicit Team(int count) { set_threads(count); }
  ~Team() { set_threads(0); }
};

PatternView pattern_of(const BlockCsr<double>& A) { return {A.block_rows(), A.row_start().data(), A.column().data()}; }

/// Dense rows of random values: long rows everywhere.
BlockCsr<double> dense_matrix(std::int32_t n, double diagonal) {
  std::mt19937 random(5);
  std::vector<Triplet<double>> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j) {
      entries.push_back({i, j, i == j ? diagonal : static_cast<double>(random() % 1000) / 1000});
    }
  }
  return from_triplets<double>(n, n, entries);
}

TEST(StoppedSetup, SymbolicFillAsksByItsWork) {
  const auto A = test::arrow_matrix(1200);
  // With two levels every entry is merged: n³/3, and a question each two million.
  ends_when_told("fill", 200, [&] { (void)filled_pattern(pattern_of(A), 2); });
}

TEST(StoppedSetup, FactorizationsOnOneThreadAndSome) {
  const auto arrow = test::arrow_matrix(900);
  const auto cube = to_block_csr(problems::convection_diffusion({24, 24, 24}, stencils::star7()));
  const auto blocks = to_block_csr(problems::random({10, 10, 10}, stencils::star7(), 4, 3));
  const auto with = [](const char* pc, const auto& change) {
    IluOptions options;
    change(options);
    return [options, pc](const BlockCsr<double>& A) { (void)make_preconditioner(pc, &A, {.ilu = options}); };
  };
  for (const int team : {1, 2, 4}) {
    const Team threads(team);
    const auto test = [&](const char* name, int fewest, const BlockCsr<double>& A, const auto& factor) {
      ends_when_told(
          name + std::string(", threads ") + std::to_string(team), fewest, [&] { factor(A); }, team);
    };
    test("ilu(1) of an arrow", 100, arrow, with("ilu", [](IluOptions& o) { o.fill = 1; }));
    test("ilu(6) by levels", 8, cube, with("ilu", [](IluOptions& o) { o.fill = 6, o.schedule = SweepSchedule::levels; }));
    test("ilu(6) point to point", 8, cube,
         with("ilu", [](IluOptions& o) { o.fill = 6, o.schedule = SweepSchedule::point_to_point; }));
    test("ilu(3) of blocks", 4, blocks, with("ilu", [](IluOptions& o) { o.fill = 3; }));
    test("ilut", 10, cube, with("ilut", [](IluOptions& o) { o.lfil = 60, o.drop = 1e-6; }));
    test("ilutp", 10, cube, with("ilut", [](IluOptions& o) { o.lfil = 60, o.drop = 1e-6, o.column_pivoting = 0.5; }));
    test("ilut in rcm order", 10, cube,
         with("ilut", [](IluOptions& o) { o.lfil = 60, o.drop = 1e-6, o.ordering = Ordering::rcm; }));
    test("ilut of blocks", 5, blocks, with("ilut", [](IluOptions& o) { o.lfil = 30, o.drop = 1e-6; }));
    test("parilu(1) of an arrow", 100, arrow, with("parilu", [](IluOptions& o) { o.fill = 1; }));
    test("parilut", 3, cube, with("parilut", [](IluOptions& o) { o.fill_limit = 6; }));
    // Rows of three entries become rows of 900 in one sweep, and are cut again.
    test("parilut of an arrow", 12, arrow, with("parilut", [](IluOptions& o) { o.fill_limit = 1; }));
  }
}

TEST(StoppedSetup, RowsThatNothingIsEliminatedFromAreStillCopied) {
  std::vector<Triplet<double>> entries;
  constexpr std::int32_t n = 3000;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = i; j < n; ++j) entries.push_back({i, j, i == j ? 4.0 : 1.0 / (1 + j - i)});
  }
  const auto upper = from_triplets<double>(n, n, entries);
  const Team one(1);
  ends_when_told("ilut of a triangle", 2, [&] { (void)ilut(upper, {.drop = 0, .lfil = n}); });
}

TEST(StoppedSetup, StructuredFactorizations) {
  const auto A = problems::random({20, 20, 20}, stencils::box27(), 4, 3);
  for (const int team : {1, 3}) {
    const Team threads(team);
    ends_when_told(
        "ilu(0) on a grid", 10, [&] { (void)ilu(A); }, team);
  }
}

TEST(StoppedSetup, OrderingsMatchingsAndPlans) {
  const auto dense = dense_matrix(2200, 0.5);
  const auto cube = to_block_csr(problems::poisson({60, 60, 60}, stencils::star7()));
  ends_when_told("weighted matching", 5, [&] { (void)maximum_product_matching(dense); });
  ends_when_told("rcm", 2, [&] { (void)reverse_cuthill_mckee(pattern_of(dense)); });
  ends_when_told("rcm of a grid", 2, [&] { (void)reverse_cuthill_mckee(pattern_of(cube)); });
  ends_when_told("colouring", 1, [&] { (void)first_fit_colouring(pattern_of(dense)); });
  ends_when_told("recognition", 1, [&] { (void)recognise_stencil(cube); });
  TrianglePattern lower, upper;
  ASSERT_TRUE(split(pattern_of(dense), true, lower, upper));
  ends_when_told("plan", 1, [&] { (void)make_plan(lower, 1, SweepSchedule::point_to_point, 2); });
  ends_when_told("levels", 1, [&] { (void)make_plan(lower, 1, SweepSchedule::levels, 2); });
  // A first guess leaves many rows of a random pattern, which only long searches match.
  std::mt19937 random(9);
  std::vector<Triplet<double>> entries;
  constexpr std::int32_t many = 150'000;
  for (std::int32_t i = 0; i < many; ++i) {
    for (int k = 0; k < 4; ++k) entries.push_back({i, static_cast<std::int32_t>(random() % many), 1.0});
  }
  const auto hollow = from_triplets<double>(many, many, entries);
  ends_when_told("matching", 1, [&] { (void)maximum_matching(hollow); });
}

TEST(StoppedSetup, TheSearchForAThreshold) {
  constexpr std::int64_t parts = 1000, numbers_of_a_part = 4000;
  for (const int team : {1, 3}) {
    const Team threads(team);
    // A histogram a digit: six times four million numbers, most of them with the same first digits.
    ends_when_told(
        "selection", 9,
        [&] {
          (void)selection_threshold(parts, parts, [&](std::int64_t part, auto&& visit) {
            for (std::int64_t k = 0; k < numbers_of_a_part; ++k) visit(1 + 1e-9 * static_cast<double>(part * 7 + k % 5));
          });
        },
        team);
  }
}

TEST(StoppedSetup, TheBitsDoNotDependOnQuestions) {
  const auto cube = to_block_csr(problems::convection_diffusion({16, 16, 16}, stencils::star7()));
  const auto arrow = test::arrow_matrix(300);
  for (const int team : {1, 3}) {
    const Team threads(team);
    for (const char* pc : {"ilu", "ilut", "parilu", "parilut"}) {
      for (const auto* A : {&cube, &arrow}) {
        IluOptions options;
        options.fill = 2;
        const Vector<double> r(A->rows(), 1.0);
        Vector<double> plain(A->rows()), asked(A->rows());
        make_preconditioner(pc, A, {.ilu = options})->apply(r, plain);
        (void)ask([&] { make_preconditioner(pc, A, {.ilu = options})->apply(r, asked); });
        for (std::int64_t i = 0; i < r.size(); ++i) ASSERT_EQ(plain[i], asked[i]) << pc << " row " << i;
      }
    }
  }
}

TEST(StoppedSetup, AStoppedRefactorizationIsNotApplied) {
  const Team one(1);
  const auto A = test::arrow_matrix(900);
  const auto grid = problems::random({16, 16, 16}, stencils::box27(), 4, 3);
  IluOptions with_fill;
  with_fill.fill = 1;
  IluOptions loose;
  loose.lfil = 200, loose.drop = 0;
  const auto cube = to_block_csr(problems::convection_diffusion({20, 20, 20}, stencils::star7()));
  auto by_levels = ilu(A, with_fill);
  auto by_thresholds = ilut(cube, loose);
  auto on_grid = ilu(grid);
  auto by_rounds = parilut(cube);
  const auto test = [](Ilu<double>& M, const auto& matrix) {
    const Vector<double> r(matrix.rows(), 1.0);
    Vector<double> before(matrix.rows()), z(matrix.rows());
    M.apply(r, before);
    EXPECT_TRUE(ask([&] { (void)M.refactor(matrix); }, 2).stopped);
    EXPECT_FALSE(M.report().ok);
    EXPECT_FALSE(M.report().message.empty());
    EXPECT_THROW(M.apply(r, z), Error);
    EXPECT_TRUE(M.refactor(matrix).ok) << "and the next one is whole again";
    M.apply(r, z);
    for (std::int64_t i = 0; i < r.size(); ++i) ASSERT_EQ(z[i], before[i]);
  };
  test(by_levels, A);
  test(by_thresholds, cube);
  test(on_grid, grid);
  test(by_rounds, cube);
}

TEST(StoppedSetup, TooMuchFillIsGivenUpWhileItIsCounted) {
  const auto A = test::arrow_matrix(2000);
  IluOptions options;
  options.fill = 1;
  options.most_operations = 20'000'000;
  const auto work = [&] { EXPECT_ERROR((void)ilu(A, options), will_not_fit, "ILU(1) would take more than the 2.0e+07"); };
  // 2.7e9 operations it would take; it is left after a hundredth, which is a dozen questions or so.
  EXPECT_LE(ask(work).questions, 40);
  options.most_operations = 4'000'000'000;
  EXPECT_TRUE(ilu(test::arrow_matrix(500), options).report().ok);
}

TEST(StoppedSetup, ThresholdsAreBoundedAlikeOnAllThreads) {
  const auto A = to_block_csr(problems::convection_diffusion({18, 18, 18}, stencils::star7()));
  IluOptions options;
  options.lfil = 60, options.drop = 1e-6;
  for (const int team : {1, 2, 4}) {
    const Team threads(team);
    options.most_operations = 1'000'000;
    EXPECT_ERROR((void)ilut(A, options), will_not_fit, "ILUT");
    options.most_operations = 10'000'000'000;
    EXPECT_TRUE(ilut(A, options).report().ok);
  }
}

}  // namespace
}  // namespace echelon
