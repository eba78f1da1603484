// SPDX-License-Identifier: BSD-3-Clause
// The rows "ILU / IC / triangular solve" of RELIABILITY.md, one test each, through the public interface. The policy behind
// them has its own tests in tests/precond/test_ilu_policy.cpp and tests/factor/test_breakdown.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "echelon/base/error.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

using Kind = PivotNote::Kind;
using reference::from_dense;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(IluRows, ExactZeroPivot) {
  // Row 1 after elimination is 4 − 2·2. The same place for a grid, with its point.
  const auto M = ilu(from_dense({{1, 2, 0}, {2, 4, 1}, {0, 1, 1}}), {.shift = ShiftPolicy::none});
  EXPECT_FALSE(M.report().ok);
  ASSERT_EQ(M.report().bad_pivots.size(), 1u);
  EXPECT_EQ(M.report().bad_pivots[0].row, 1);
  EXPECT_EQ(M.report().bad_pivots[0].value, 0);
  EXPECT_EQ(M.report().bad_pivots[0].row_norm, 4);
  EXPECT_TRUE(contains(M.report().message, "zero pivot at row 1 (value 0, row max 4)")) << M.report().message;

  auto A = problems::poisson({3, 3, 3}, stencils::star7());
  for (auto& value : A.block(14, A.stencil().center())) value = 0;
  for (int e = 0; e < A.stencil().size(); ++e) {
    for (auto& value : A.block(14, e)) value = 0;
  }
  const auto on_grid = ilu(A, {.shift = ShiftPolicy::none});
  EXPECT_FALSE(on_grid.report().ok);
  EXPECT_TRUE(contains(on_grid.report().message, "grid point (2,1,1), component 0, row 14")) << on_grid.report().message;
}

TEST(IluRows, TinyPivotIsRelativeToItsRow) {
  for (const int power : {-300, 0, 300}) {
    const double s = std::ldexp(1.0, power);
    const auto bad = ilu(from_dense({{1e-15 * s, s}, {s, s}}), {.shift = ShiftPolicy::none});
    EXPECT_FALSE(bad.report().ok) << power;
    EXPECT_EQ(bad.report().bad_pivots.at(0).kind, Kind::tiny);
    const auto small_row = ilu(from_dense({{1e-15 * s, 1e-15 * s}, {0, s}}), {.shift = ShiftPolicy::none});
    EXPECT_TRUE(small_row.report().ok) << "small, but not beside its own row";
  }
}

TEST(IluRows, NanPivotSaysWhetherTheMatrixOrOverflowCausedIt) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto given = ilu(from_dense({{1, 1, 0}, {1, nan, 1}, {0, 1, 3}}));
  EXPECT_FALSE(given.report().ok);
  EXPECT_EQ(given.report().bad_pivots.at(0).row, 1);
  EXPECT_EQ(given.report().bad_pivots.at(0).kind, Kind::nonfinite_input);
  const auto overflow = ilu(from_dense({{1, 1e10}, {1e300, 1e290}}), {.shift = ShiftPolicy::none});
  EXPECT_FALSE(overflow.report().ok);
  EXPECT_EQ(overflow.report().bad_pivots.at(0).row, 1);
  EXPECT_EQ(overflow.report().bad_pivots.at(0).kind, Kind::overflow);
}

TEST(IluRows, RepairIsCountedPlacedAndMeasured) {
  const auto A = from_dense({{1, 2, 0}, {2, 4, 1}, {0, 1, 1}});
  const auto M = ilu(A);
  const auto& report = M.report();
  ASSERT_TRUE(report.ok);
  EXPECT_EQ(report.perturbed_pivots, 1);
  EXPECT_EQ(report.bad_pivots.at(0).row, 1);
  EXPECT_GT(report.perturbation, 0);
  EXPECT_GT(report.growth, 0);
  EXPECT_FALSE(report.remarks.empty());
  Vector<double> b{1, 2, 3}, x(3, 0.0);
  EXPECT_TRUE(gmres(A, b, x, M).converged) << "a repaired factorization is still a preconditioner";
}

TEST(IluRows, ShiftSearchEnds) {
  // A diagonal of −1 under ones: every shift moves it further from zero on the wrong side, so IC has nothing to find.
  const auto M = ic(from_dense({{-1, 0}, {0, -1}}));
  EXPECT_FALSE(M.report().ok);
  EXPECT_EQ(M.report().shift_attempts, 21);
  EXPECT_TRUE(contains(M.report().message, "21 shifts up to 1.05e+03 did not help")) << M.report().message;
  std::set<std::int64_t> rows;
  for (const auto& pivot : M.report().bad_pivots) EXPECT_TRUE(rows.insert(pivot.row).second) << "each row is named once";
}

TEST(IluRows, IndefiniteMatrixGivenToIc) {
  const auto stopped = ic(from_dense({{1, 2}, {2, 1}}), {.shift = ShiftPolicy::none});
  EXPECT_FALSE(stopped.report().ok);
  EXPECT_TRUE(contains(stopped.report().message, "non-positive pivot at row 1 (value -3")) << stopped.report().message;
  const auto shifted = ic(from_dense({{1, 2}, {2, 1}}));
  ASSERT_TRUE(shifted.report().ok) << shifted.report().message;
  EXPECT_GT(shifted.report().shift, 0);
  try {
    static_cast<void>(ic(from_dense({{1, 2}, {3, 9}})));
    FAIL() << "an unsymmetric matrix must be refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::symmetry);
  }
}

TEST(IluRows, HugeGrowthIsRemarked) {
  // (LU)⁻¹e doubles with each of forty rows: 2⁴⁰.
  std::vector<Triplet<double>> entries;
  for (std::int32_t i = 0; i < 40; ++i) {
    entries.push_back({i, i, 1});
    if (i > 0) entries.push_back({i, i - 1, -2});
  }
  const auto M = ilu(from_triplets<double>(40, 40, entries));
  ASSERT_TRUE(M.report().ok);
  EXPECT_GT(M.report().growth, 1e11);
  ASSERT_EQ(M.report().remarks.size(), 1u);
  EXPECT_TRUE(contains(M.report().remarks[0], "may lose many digits")) << M.report().remarks[0];
}

TEST(IluRows, MissingDiagonalIsInsertedAndCounted) {
  const auto M = ilu(from_triplets<double>(2, 2, std::vector<Triplet<double>>{{0, 1, 4}, {1, 0, 5}}));
  EXPECT_EQ(M.report().missing_diagonals, 2);
  EXPECT_TRUE(contains(M.report().remarks.at(0), "2 diagonal entries were missing")) << M.report().remarks[0];
}

}  // namespace
}  // namespace echelon
