// SPDX-License-Identifier: BSD-3-Clause
// ILUT and ILUTP give the bits of the plain reference, for every block size, precision, schedule and number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "echelon/base/threads.hpp"
#include "echelon/factor/ilut/column_set.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/ilut_reference.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

template <class T>
void expect_rows(const BlockCsr<T>& got, std::int64_t skip, const std::vector<std::map<int, std::vector<T>>>& expected) {
  const auto size = std::int64_t{got.block()} * got.block();
  for (std::int64_t i = 0; i < got.block_rows(); ++i) {
    auto p = got.row_start()[i] + skip;
    ASSERT_EQ(got.row_start()[i + 1] - p, static_cast<std::int64_t>(expected[static_cast<std::size_t>(i)].size())) << i;
    for (const auto& [j, block] : expected[static_cast<std::size_t>(i)]) {
      ASSERT_EQ(got.column()[p], j) << i;
      for (std::int64_t e = 0; e < size; ++e) {
        ASSERT_EQ(got.values()[p * size + e], block[static_cast<std::size_t>(e)]) << i << ' ' << j;
      }
      ++p;
    }
  }
}

/// How many factorizations were asked for, and how many of them the reference could be compared with.
struct Compared {
  int asked = 0, equal = 0;
};

template <class T>
void expect_reference(const BlockCsr<T>& A, const IluOptions& options, Compared& count) {
  const auto M = ilut(A, options);
  ASSERT_TRUE(M.report().ok) << M.report().message;
  ++count.asked;
  // The reference takes the matrix and its pivots as they come.
  if (M.report().perturbed_pivots > 0 || M.report().shift != 0) return;
  const auto expected = reference::ilut(A, options.lfil, options.drop, options.column_pivoting);
  expect_rows(M.lower(), 0, expected.factors.lower);
  expect_rows(M.upper(), 1, expected.factors.upper);
  ASSERT_EQ(M.report().fill_limited_rows, expected.limited_rows);
  ASSERT_EQ(M.report().column_swaps, expected.column_swaps);
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    ASSERT_EQ(M.column_order()[static_cast<std::size_t>(i)], expected.column_order[static_cast<std::size_t>(i)]);
  }
  std::vector<T> r(static_cast<std::size_t>(A.rows()));
  Vector<T> given(A.rows()), z(A.rows());
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    given[i] = r[static_cast<std::size_t>(i)] = static_cast<T>(std::sin(static_cast<double>(i)));
  }
  const auto inner = reference::apply(expected.factors, r);
  M.apply(given, z);
  const std::int64_t b = A.block();
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    const auto to = std::int64_t{expected.column_order[static_cast<std::size_t>(i / b)]} * b + i % b;
    ASSERT_EQ(z[to], inner[static_cast<std::size_t>(i)]) << i;
  }
  ++count.equal;
}

template <class T>
void expect_reference_on_random_matrices(int block, std::uint64_t seed, Compared& count) {
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 24; ++trial) {
    const auto n = static_cast<std::int32_t>(1 + random() % (block == 1 ? 90 : 30));
    const double density = 0.02 + 0.01 * static_cast<double>(random() % 25);
    const auto A = reference::with_random_values<T>(reference::random_rows(n, density, random()), block, random());
    const std::int64_t lfil = trial % 4 == 0 ? n : static_cast<std::int64_t>(random() % 9);
    const double drop = trial % 3 == 0 ? 0 : std::pow(10.0, -1 - static_cast<int>(random() % 4));
    SCOPED_TRACE(::testing::Message() << "n " << n << ", b " << block << ", lfil " << lfil << ", drop " << drop);
    expect_reference(A, {.drop = drop, .lfil = lfil}, count);
  }
}

TEST(IlutEquality, ScalarsAndBlocksOfEverySize) {
  Compared count;
  for (const int block : {1, 2, 3, 4, 5, 6, 8, 9}) {
    expect_reference_on_random_matrices<double>(block, 7, count);
    expect_reference_on_random_matrices<float>(block, 8, count);
  }
  EXPECT_EQ(count.asked, 16 * 24);
  EXPECT_EQ(count.equal, count.asked);
}

TEST(IlutEquality, PivotingWithWeakAndMissingDiagonals) {
  std::mt19937_64 random(3);
  std::int64_t swaps = 0;
  Compared count;
  for (int trial = 0; trial < 80; ++trial) {
    const auto n = static_cast<std::int32_t>(1 + random() % 60);
    const auto rows = reference::random_rows(n, 0.15, random(), trial % 2 == 0);
    const auto A = reference::with_random_values<double>(rows, 1, random(), 0.02);
    const IluOptions options{
        .drop = trial % 3 == 0 ? 0 : 1e-2, .lfil = trial % 4 == 0 ? n : 6, .column_pivoting = trial % 5 == 0 ? 1.0 : 0.5};
    expect_reference(A, options, count);
    swaps += ilut(A, options).report().column_swaps;
  }
  EXPECT_GT(swaps, 100);
  EXPECT_EQ(count.asked, 80);
  EXPECT_GE(count.equal, 55);
}

/// Equal sizes everywhere: only the columns decide.
TEST(IlutEquality, TiesGoToTheSmallerColumns) {
  const auto A = to_block_csr(problems::poisson({9, 9, 1}, stencils::box9()));
  Compared count;
  for (const std::int64_t lfil : {0, 1, 2, 3, 5}) expect_reference(A, {.drop = 0, .lfil = lfil}, count);
  EXPECT_EQ(count.equal, 5);
}

/// Cancellation to exact zeros and fill that comes again.
TEST(IlutEquality, SmallIntegersCancelExactly) {
  std::mt19937_64 random(11);
  Compared count;
  for (int trial = 0; trial < 150; ++trial) {
    const std::int32_t n = 24;
    std::vector<Triplet<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t j = 0; j < n; ++j) {
        if (i == j) {
          entries.push_back({i, j, 1.0});
        } else if (random() % 4 == 0) {
          entries.push_back({i, j, random() % 2 == 0 ? 1.0 : -1.0});
        }
      }
    }
    expect_reference(from_triplets<double>(n, n, entries),
                     {.drop = trial % 2 == 0 ? 0 : 0.2, .lfil = trial % 3 == 0 ? n : 5}, count);
  }
  EXPECT_EQ(count.asked, 150);
  EXPECT_GE(count.equal, 40);
}

TEST(IlutEquality, ThreadsAndSchedulesGiveTheSameBits) {
  const auto scalar = to_block_csr(problems::convection_diffusion({80, 60, 1}, stencils::star5()));
  const auto box = to_block_csr(problems::random({16, 15, 14}, stencils::box27(), 1, 3));
  const auto blocks = to_block_csr(problems::random({14, 13, 12}, stencils::star7(), 3, 4));
  const auto large = to_block_csr(problems::poisson({24, 22, 20}, stencils::star7()));  // threads share RCM's levels, too
  for (const auto* A : {&scalar, &box, &blocks, &large}) {
    for (const auto ordering : {Ordering::natural, Ordering::rcm}) {
      std::vector<double> first;
      for (const int count : {1, 2, 3, 7}) {
        for (const auto schedule : {SweepSchedule::automatic, SweepSchedule::levels, SweepSchedule::point_to_point}) {
          set_threads(count);
          const auto M = ilut(*A, {.ordering = ordering, .drop = 1e-3, .lfil = 12, .schedule = schedule});
          Vector<double> r(A->rows()), z(A->rows());
          for (std::int64_t i = 0; i < r.size(); ++i) r[i] = std::cos(static_cast<double>(i));
          M.apply(r, z);
          if (first.empty()) first.assign(z.begin(), z.end());
          for (std::int64_t i = 0; i < z.size(); ++i)
            ASSERT_EQ(z[i], first[static_cast<std::size_t>(i)]) << count << ' ' << i;
        }
      }
      set_threads(0);
    }
  }
}

TEST(ColumnSet, GivesItsMembersInOrder) {
  std::mt19937_64 random(5);
  for (const std::int64_t columns : {1, 63, 64, 65, 4096, 4097, 300'000, 20'000'000}) {
    ColumnSet set(columns);
    EXPECT_EQ(set.take_first(0), -1);
    std::map<std::int64_t, int> members;
    std::int64_t last = 0;
    for (int step = 0; step < 2000; ++step) {
      if (random() % 3 != 0) {
        const auto column = last + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns - last));
        set.insert(column);
        members[column] = 1;
      } else if (!members.empty()) {
        last = members.begin()->first;
        ASSERT_EQ(set.take_first(0), last);
        members.erase(members.begin());
      }
    }
    for (const auto& [column, one] : members) ASSERT_EQ(set.take_first(column), column);
    EXPECT_EQ(set.take_first(columns - 1), -1);
  }
}

TEST(ColumnSet, WordsOfColumnsComeOutOneByOne) {
  std::mt19937_64 random(6);
  for (const std::int64_t columns : {64, 4096, 300'032, 20'000'000}) {
    ColumnSet set(columns);
    for (int round = 0; round < 20; ++round) {
      std::map<std::int64_t, int> members;
      for (int word = 0; word < 12; ++word) {
        const ColumnWord some{random() & random() & random(),
                              static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns / 64))};
        if (some.bits == 0) continue;
        set.insert(some);
        for (int b = 0; b < 64; ++b) {
          if (some.bits >> b & 1) members[64 * some.word + b] = 1;
        }
      }
      // Some are taken one by one, the rest together; what may come next is a member or the one just taken.
      std::int64_t last = members.begin()->first;
      for (int taken = 0; taken < 5 && !members.empty(); ++taken) {
        last = members.begin()->first;
        ASSERT_EQ(set.take_first(round % 2 == 0 ? 0 : last), last);
        members.erase(members.begin());
        const auto next = set.likely_next(last);
        EXPECT_TRUE(next == last || (!members.empty() && next == members.begin()->first)) << next;
      }
      set.take_all(last, [&](std::int64_t column) {
        ASSERT_FALSE(members.empty());
        ASSERT_EQ(column, members.begin()->first);
        members.erase(members.begin());
      });
      EXPECT_TRUE(members.empty());
      EXPECT_EQ(set.take_first(0), -1);
    }
  }
}

}  // namespace
}  // namespace echelon
