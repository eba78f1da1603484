// SPDX-License-Identifier: BSD-3-Clause
// Bad pivots in real factorizations: found by a relative test, repaired within bounds, reported in the user's numbering;
// the same outcome for 2ᵏ·A, for copies on a block diagonal and for every thread count.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using Kind = PivotNote::Kind;
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

BlockCsr<double> matrix(std::int64_t n, const std::vector<Triplet<double>>& entries) {
  return from_triplets<double>(n, n, entries);
}

std::vector<double> applied(const Ilu<double>& M, std::int64_t size) {
  Vector<double> r(size), z(size);
  for (std::int64_t i = 0; i < size; ++i) r[i] = 1 + static_cast<double>(i % 7);
  M.apply(r, z);
  return {z.begin(), z.end()};
}

/// Row 2 loses its pivot exactly: 1 − 1·1.
BlockCsr<double> with_zero_pivot() {
  return matrix(4, {{0, 0, 2}, {1, 1, 1}, {1, 2, 1}, {2, 1, 1}, {2, 2, 1}, {2, 3, 1}, {3, 2, 1}, {3, 3, 3}});
}

TEST(IluPolicy, ZeroPivotStopsWithItsRow) {
  const auto M = ilu(with_zero_pivot(), {.shift = ShiftPolicy::none});
  EXPECT_FALSE(M.report().ok);
  EXPECT_EQ(M.report().message, "ILU(0): zero pivot at row 2 (value 0, row max 1)");
  Vector<double> r(4), z(4);
  r.fill(1);
  EXPECT_THROW(M.apply(r, z), Error);
}

TEST(IluPolicy, ZeroPivotIsReplacedAndReported) {
  const auto M = ilu(with_zero_pivot());
  const auto& report = M.report();
  EXPECT_TRUE(report.ok);
  EXPECT_EQ(report.perturbed_pivots, 1);
  ASSERT_EQ(report.bad_pivots.size(), 1u);
  EXPECT_EQ(report.bad_pivots[0].row, 2);
  EXPECT_EQ(report.bad_pivots[0].kind, Kind::zero);
  EXPECT_NEAR(M.upper().at(2, 2), 1e-4, 1e-18);
  EXPECT_NEAR(report.perturbation, 1e-4 / 4, 1e-18);
  EXPECT_EQ(report.remarks.size(), 1u);
}

TEST(IluPolicy, RowsAreInTheUsersNumberingAfterRcm) {
  for (const auto shift : {ShiftPolicy::none, ShiftPolicy::automatic}) {
    // Row 6 is alone with a zero: bad in every order.
    const auto A = matrix(
        8,
        {{0, 0, 1}, {0, 5, 0.1}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {3, 0, 0.1}, {4, 4, 1}, {5, 5, 1}, {6, 6, 0}, {7, 7, 1}});
    const auto M = ilu(A, {.ordering = Ordering::rcm, .shift = shift});
    ASSERT_EQ(M.report().bad_pivots.size(), 1u);
    EXPECT_EQ(M.report().bad_pivots[0].row, 6);
    EXPECT_EQ(M.report().message.find("at row 6 ") != std::string::npos, shift == ShiftPolicy::none);
  }
  const auto blocks = reblock(matrix(6, {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {4, 4, 1}}), 2);
  const auto M = ilu(blocks, {.ordering = Ordering::rcm});
  ASSERT_EQ(M.report().bad_pivots.size(), 1u);
  EXPECT_EQ(M.report().bad_pivots[0].row, 4) << "the first scalar row of the block";
}

TEST(IluPolicy, NonfiniteInputIsNamedAndNotRepaired) {
  for (const double bad : {nan_value, infinity, -infinity}) {
    for (const int at : {0, 1, 2}) {
      std::vector<Triplet<double>> entries{{0, 0, 1}, {0, 2, 1}, {1, 1, 1}, {2, 0, 1}, {2, 2, 3}};
      entries[static_cast<std::size_t>(at)].value = bad;
      const auto M = ilu(matrix(3, entries));
      EXPECT_FALSE(M.report().ok);
      EXPECT_EQ(M.report().shift_attempts, 0);
      ASSERT_FALSE(M.report().bad_pivots.empty());
      EXPECT_EQ(M.report().bad_pivots[0].row, at == 2 ? 1 : 0);
      EXPECT_EQ(M.report().bad_pivots[0].kind, Kind::nonfinite_input);
      EXPECT_NE(M.report().message.find("NaN or Inf"), std::string::npos);
    }
  }
  const auto rows = reference::random_rows(9, 0.3, 4);
  auto blocks = reference::with_random_values<double>(rows, 3, 4);
  blocks.values()[static_cast<std::size_t>(blocks.row_start()[5] * 9 + 4)] = nan_value;
  EXPECT_EQ(ilu(blocks).report().bad_pivots.at(0).row, 15);
}

TEST(IluPolicy, OverflowIsToldFromNonfiniteInput) {
  // l = 1e300, u = 1e10: their product overflows in row 1.
  const auto A = matrix(2, {{0, 0, 1}, {0, 1, 1e10}, {1, 0, 1e300}, {1, 1, 1e290}});
  const auto M = ilu(A, {.shift = ShiftPolicy::none});
  EXPECT_FALSE(M.report().ok);
  EXPECT_EQ(M.report().bad_pivots.at(0).kind, Kind::overflow);
  EXPECT_EQ(M.report().bad_pivots.at(0).row, 1);
}

TEST(IluPolicy, MissingDiagonalsAreInsertedAndRemarked) {
  const auto A = matrix(3, {{0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 2, 1}, {2, 1, 1}, {2, 2, 2}});
  const auto M = ilu(A);
  EXPECT_TRUE(M.report().ok);
  EXPECT_EQ(M.report().missing_diagonals, 1);
  EXPECT_EQ(M.upper().at(1, 1), -0.5) << "0 − ½·1: elimination fills it";
  EXPECT_EQ(M.report().perturbed_pivots, 0);
  EXPECT_EQ(M.report().remarks.size(), 1u);
}

TEST(IluPolicy, EmptyRowIsOneBadPivot) {
  const auto M = ilu(matrix(3, {{0, 0, 2}, {2, 2, 4}}));
  EXPECT_TRUE(M.report().ok);
  EXPECT_EQ(M.report().missing_diagonals, 1);
  EXPECT_EQ(M.report().perturbed_pivots, 1);
  const std::vector<double> expected{0.5, 1, 0.75};  // any entry of A, here 2, stands for the missing scale
  EXPECT_EQ(applied(M, 3), expected);
}

TEST(IluPolicy, IndefiniteMatrixClimbsTheLadderForIc) {
  auto A = to_block_csr(problems::poisson({12, 12, 1}, stencils::star5()));
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    for (auto p = A.row_start()[static_cast<std::size_t>(i)]; p < A.row_start()[static_cast<std::size_t>(i) + 1]; ++p) {
      if (A.column()[static_cast<std::size_t>(p)] == i) A.values()[static_cast<std::size_t>(p)] -= 1.5;
    }
  }
  for (const int block : {1, 2, 3}) {
    const auto M = ic(reblock(A, block));
    const auto& report = M.report();
    ASSERT_TRUE(report.ok) << report.message;
    EXPECT_GT(report.shift, 0);
    EXPECT_GT(report.shift_attempts, 0);
    EXPECT_EQ(report.perturbed_pivots, 0);
    EXPECT_GT(report.perturbation, 0);
    ASSERT_FALSE(report.bad_pivots.empty());
    EXPECT_EQ(report.bad_pivots[0].kind, Kind::negative);
    const auto stopped = ic(reblock(A, block), {.shift = ShiftPolicy::none});
    EXPECT_FALSE(stopped.report().ok);
    EXPECT_NE(stopped.report().message.find("non-positive pivot"), std::string::npos);
    // The shift found, given as a value, is the same factorization.
    const auto given = ic(reblock(A, block), {.shift = ShiftPolicy::value, .shift_value = report.shift});
    EXPECT_TRUE(given.report().ok);
    EXPECT_EQ(applied(given, A.rows()), applied(M, A.rows()));
  }
}

/// Rows with zero, tiny and missing pivots among good ones.
BlockCsr<double> troubled(int block, std::uint64_t seed, double factor = 1) {
  auto rows = reference::random_rows(40, 0.1, seed);
  auto A = reference::with_random_values<double>(rows, block, seed, 0.5);
  const int size = block * block;
  for (const std::int64_t i : {3, 11, 12, 30}) {
    for (auto p = A.row_start()[static_cast<std::size_t>(i)]; p < A.row_start()[static_cast<std::size_t>(i) + 1]; ++p) {
      const auto j = A.column()[static_cast<std::size_t>(p)];
      if (j <= i) {
        for (int e = 0; e < size; ++e) A.values()[static_cast<std::size_t>(p * size + e)] = i == 11 && j == i ? 1e-15 : 0.0;
      }
    }
  }
  for (auto& value : A.values()) value *= factor;
  return A;
}

TEST(IluPolicy, ScalingByPowersOfTwoChangesNothing) {
  for (const int block : {1, 2, 4, 11}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const auto M = ilu(troubled(block, seed));
      const auto z = applied(M, 40 * block);
      EXPECT_GE(M.report().perturbed_pivots + M.report().shift_attempts, 1);
      for (const int power : {-40, -1, 1, 30}) {
        const auto scaled = ilu(troubled(block, seed, std::ldexp(1.0, power)));
        ASSERT_EQ(scaled.report().ok, M.report().ok);
        EXPECT_EQ(scaled.report().perturbed_pivots, M.report().perturbed_pivots);
        EXPECT_EQ(scaled.report().shift, M.report().shift);
        EXPECT_EQ(scaled.report().growth, M.report().growth);
        EXPECT_EQ(scaled.report().perturbation, M.report().perturbation);
        auto again = applied(scaled, 40 * block);
        for (auto& value : again) value = std::ldexp(value, power);
        EXPECT_EQ(again, z);
      }
    }
  }
}

TEST(IluPolicy, CopiesOnABlockDiagonalAllGetTheSame) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto A = troubled(1, seed);
    const auto n = A.rows();
    std::vector<Triplet<double>> entries;
    for (std::int32_t copy = 0; copy < 3; ++copy) {
      for (std::int32_t i = 0; i < n; ++i) {
        for (auto p = A.row_start()[static_cast<std::size_t>(i)]; p < A.row_start()[static_cast<std::size_t>(i) + 1]; ++p) {
          const auto shift = static_cast<std::int32_t>(copy * n);
          entries.push_back(
              {i + shift, A.column()[static_cast<std::size_t>(p)] + shift, A.values()[static_cast<std::size_t>(p)]});
        }
      }
    }
    const auto M = ilu(A), copies = ilu(matrix(3 * n, entries));
    ASSERT_TRUE(M.report().ok);
    EXPECT_EQ(copies.report().perturbed_pivots, 3 * M.report().perturbed_pivots);
    EXPECT_EQ(copies.report().shift, M.report().shift);
    EXPECT_EQ(copies.report().growth, M.report().growth);
    Vector<double> r(3 * n), z(3 * n);
    for (std::int64_t i = 0; i < 3 * n; ++i) r[i] = 1 + static_cast<double>((i % n) % 7);
    copies.apply(r, z);
    const auto expected = applied(M, n);
    for (std::int64_t i = 0; i < 3 * n; ++i) ASSERT_EQ(z[i], expected[static_cast<std::size_t>(i % n)]);
  }
}

TEST(IluPolicy, ThreadsDoNotChangeTheOutcome) {
  for (const int block : {1, 3}) {
    const auto A = troubled(block, 8);
    set_threads(1);
    const auto one = ilu(A);
    for (const int count : {2, 4}) {
      set_threads(count);
      for (const auto schedule : {SweepSchedule::levels, SweepSchedule::point_to_point}) {
        const auto M = ilu(A, {.schedule = schedule});
        EXPECT_EQ(M.report().perturbed_pivots, one.report().perturbed_pivots);
        ASSERT_EQ(M.report().bad_pivots.size(), one.report().bad_pivots.size());
        for (std::size_t q = 0; q < one.report().bad_pivots.size(); ++q) {
          EXPECT_EQ(M.report().bad_pivots[q].row, one.report().bad_pivots[q].row);
          EXPECT_EQ(M.report().bad_pivots[q].value, one.report().bad_pivots[q].value);
        }
        EXPECT_EQ(M.report().growth, one.report().growth);
        EXPECT_EQ(applied(M, A.rows()), applied(one, A.rows()));
      }
    }
    set_threads(0);
  }
}

TEST(IluPolicy, ShiftGivenIsAddedToTheDiagonal) {
  const auto A = matrix(2, {{0, 0, 2}, {0, 1, -4}, {1, 1, -1}});
  const auto M = ilu(A, {.shift = ShiftPolicy::value, .shift_value = 0.5});
  EXPECT_EQ(M.upper().at(0, 0), 4) << "2 + 0.5·4";
  EXPECT_EQ(M.upper().at(1, 1), -1.5) << "−1 − 0.5·1";
  EXPECT_EQ(M.report().shift, 0.5);
  EXPECT_NEAR(M.report().perturbation, 2.0 / 6, 1e-16);
}

}  // namespace
}  // namespace echelon
