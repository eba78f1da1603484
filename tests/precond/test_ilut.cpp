// SPDX-License-Identifier: BSD-3-Clause
// ILUT and ILUTP: a case by hand, the properties that define them, what the report says, repeated factorization, matched
// rows. Bad input: tests/reliability/test_bad_systems.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "echelon/base/threads.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/ilu/matched_ilu.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/solve/auto_solve.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

BlockCsr<double> matrix(std::int64_t n, const std::vector<Triplet<double>>& entries) {
  return from_triplets<double>(n, n, entries);
}

std::vector<std::vector<double>> dense(const BlockCsr<double>& A) {
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(A.rows()));
  const std::int64_t b = A.block();
  for (auto& row : rows) row.resize(static_cast<std::size_t>(A.columns()));
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    for (auto p = A.row_start()[i]; p < A.row_start()[i + 1]; ++p) {
      for (std::int64_t e = 0; e < b * b; ++e) {
        rows[static_cast<std::size_t>(i * b + e % b)][static_cast<std::size_t>(A.column()[p] * b + e / b)] =
            A.values()[p * b * b + e];
      }
    }
  }
  return rows;
}

/// (LU)_ij with the unit diagonal of L.
std::vector<std::vector<double>> product(const Ilu<double>& M) {
  auto L = dense(M.lower());
  const auto U = dense(M.upper());
  const std::size_t n = L.size();
  for (std::size_t i = 0; i < n; ++i) L[i][i] = 1;
  std::vector<std::vector<double>> LU(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < n; ++j) LU[i][j] += L[i][k] * U[k][j];
    }
  }
  return LU;
}

double error_of_solution(const BlockCsr<double>& A, const Preconditioner<double>& M) {
  Vector<double> x(A.rows()), b(A.rows()), z(A.rows());
  for (std::int64_t i = 0; i < x.size(); ++i) x[i] = 1 + std::sin(static_cast<double>(i));
  A.apply(x, b);
  M.apply(b, z);
  double error = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) error = std::max(error, std::abs(z[i] - x[i]));
  return error;
}

bool says(const FactorReport& report, const std::string& words) {
  return std::any_of(report.remarks.begin(), report.remarks.end(),
                     [&](const std::string& remark) { return remark.find(words) != std::string::npos; });
}

/// Row 2 is (2, 0.1, 8, 4) with norm ≈ 9.17; drop 0.02 takes away what is not above 0.183.
TEST(Ilut, ASmallCaseByHand) {
  const auto A = matrix(
      4,
      {{0, 0, 4.0}, {0, 3, 2.0}, {1, 1, 5.0}, {2, 0, 2.0}, {2, 1, 0.1}, {2, 2, 8.0}, {2, 3, 4.0}, {3, 2, 1.0}, {3, 3, 2.0}});
  const auto M = ilut(A, {.drop = 0.02, .lfil = 4});
  const auto L = dense(M.lower()), U = dense(M.upper());
  EXPECT_EQ(L[2][0], 0.5);
  EXPECT_EQ(L[2][1], 0);  // 0.1 was dropped before the division
  EXPECT_EQ(U[2][3], 3);
  EXPECT_EQ(L[3][2], 0.125);
  EXPECT_EQ(U[3][3], 1.625);
  EXPECT_EQ(M.lower().blocks() + M.upper().blocks(), 2 + 6);
  EXPECT_EQ(M.report().name, "ilut");
  EXPECT_EQ(M.report().fill_limited_rows, 0);
}

TEST(Ilut, WithoutThresholdsItIsACompleteFactorization) {
  for (const int block : {1, 3}) {
    const std::int32_t n = 40;
    const auto A = reference::with_random_values<double>(reference::random_rows(n, 0.15, 4), block, 6);
    const auto M = ilut(A, {.drop = 0, .lfil = n});
    EXPECT_LT(error_of_solution(A, M), 1e-12);
    const auto LU = product(M), full = dense(A);
    for (std::size_t i = 0; i < LU.size(); ++i) {
      for (std::size_t j = 0; j < LU.size(); ++j) EXPECT_NEAR(LU[i][j], full[i][j], 1e-12 * n) << i << ' ' << j;
    }
  }
}

/// What is dropped by the first threshold alone is all that LU lacks: |(LU − A)_ij| ≤ drop·‖a_i‖.
TEST(Ilut, TheDropToleranceBoundsTheResidual) {
  const std::int32_t n = 70;
  for (const double drop : {1e-1, 1e-2, 1e-4}) {
    const auto A = reference::with_random_values<double>(reference::random_rows(n, 0.1, 9), 1, 5, 0.3);
    const auto M = ilut(A, {.drop = drop, .lfil = n});
    ASSERT_EQ(M.report().perturbed_pivots, 0);
    const auto LU = product(M), full = dense(A);
    double largest = 0;
    for (std::size_t i = 0; i < LU.size(); ++i) {
      double squares = 0;
      for (const double a : full[i]) squares += a * a;
      for (std::size_t j = 0; j < LU.size(); ++j) {
        const double residual = std::abs(LU[i][j] - full[i][j]) / std::sqrt(squares);
        EXPECT_LE(residual, drop + 1e-11) << i << ' ' << j;
        largest = std::max(largest, residual);
      }
    }
    EXPECT_GT(largest, 0) << "the test must drop something";
  }
}

TEST(Ilut, LfilBoundsEveryRowAndFillGrowsWithIt) {
  const auto A = to_block_csr(problems::poisson({12, 11, 10}, stencils::star7()));
  std::int64_t before = 0;
  for (const std::int64_t lfil : {0, 1, 3, 6, 12, 30}) {
    const auto M = ilut(A, {.drop = 1e-4, .lfil = lfil});
    const auto L = M.lower(), U = M.upper();
    for (std::int64_t i = 0; i < A.rows(); ++i) {
      EXPECT_LE(L.row_start()[i + 1] - L.row_start()[i], lfil);
      EXPECT_LE(U.row_start()[i + 1] - U.row_start()[i], lfil + 1);
    }
    EXPECT_GE(L.blocks() + U.blocks(), before);
    before = L.blocks() + U.blocks();
  }
  before = 0;
  for (const double drop : {1.0, 1e-1, 1e-2, 1e-3, 0.0}) {
    const auto M = ilut(A, {.drop = drop, .lfil = 30});
    EXPECT_GE(M.lower().blocks() + M.upper().blocks(), before) << drop;
    before = M.lower().blocks() + M.upper().blocks();
  }
}

TEST(Ilut, AFullFillLimitIsSaidAsSuch) {
  const auto A = to_block_csr(problems::poisson({12, 12, 12}, stencils::star7()));
  const auto M = ilut(A, {.drop = 0, .lfil = 3});
  EXPECT_TRUE(M.report().ok);
  EXPECT_GT(M.report().fill_limited_rows, 1000);
  EXPECT_TRUE(M.report().bad_pivots.empty());
  EXPECT_TRUE(says(M.report(), "fill limit reached in"));
  EXPECT_FALSE(says(ilut(A, {.drop = 0.3, .lfil = 30}).report(), "fill limit"));
}

TEST(Ilut, APowerOfTwoChangesNothing) {
  auto A = reference::with_random_values<double>(reference::random_rows(50, 0.15, 1), 1, 2, 0.2);
  const auto M = ilut(A, {.drop = 1e-2, .lfil = 5});
  for (const double factor : {0x1p+300, 0x1p-300}) {
    auto scaled = reference::with_random_values<double>(reference::random_rows(50, 0.15, 1), 1, 2, 0.2);
    for (auto& value : scaled.values()) value *= factor;
    const auto S = ilut(scaled, {.drop = 1e-2, .lfil = 5});
    EXPECT_TRUE(std::ranges::equal(S.lower().values(), M.lower().values()));
    EXPECT_TRUE(std::ranges::equal(S.upper().column(), M.upper().column()));
    EXPECT_EQ(S.report().perturbed_pivots, M.report().perturbed_pivots);
  }
}

TEST(Ilut, RcmOrderSolvesTheSameSystem) {
  const auto A = to_block_csr(problems::convection_diffusion({13, 9, 1}, stencils::star5()));
  const auto M = ilut(A, {.ordering = Ordering::rcm, .drop = 0, .lfil = A.rows()});
  EXPECT_EQ(M.report().ordering, "rcm");
  EXPECT_LT(error_of_solution(A, M), 1e-11);
  const auto P = ilut(A, {.ordering = Ordering::rcm, .drop = 0, .lfil = A.rows(), .column_pivoting = 0.5});
  EXPECT_LT(error_of_solution(A, P), 1e-11);
}

TEST(Ilut, StructuredMatricesAreConverted) {
  const auto A = problems::random({6, 5, 4}, stencils::star7(), 2, 3);
  auto M = ilut(A, {.drop = 1e-3, .lfil = 8});
  EXPECT_TRUE(says(M.report(), "converted to block CSR"));
  const auto expected = ilut(to_block_csr(A), {.drop = 1e-3, .lfil = 8});
  EXPECT_TRUE(std::ranges::equal(M.upper().values(), expected.upper().values()));
  EXPECT_TRUE(M.refactor(A).ok);
}

TEST(Ilut, RefactorFindsThePatternAnewAndSaysSo) {
  const auto rows = reference::random_rows(60, 0.1, 1);
  auto M = ilut(reference::with_random_values<double>(rows, 1, 2), {.drop = 1e-2, .lfil = 6});
  const auto other = reference::with_random_values<double>(rows, 1, 77, 0.4);
  EXPECT_TRUE(M.refactor(other).ok);
  EXPECT_TRUE(says(M.report(), "computed anew"));
  const auto fresh = ilut(other, {.drop = 1e-2, .lfil = 6});
  EXPECT_TRUE(std::ranges::equal(M.lower().column(), fresh.lower().column()));
  EXPECT_TRUE(std::ranges::equal(M.lower().values(), fresh.lower().values()));
  EXPECT_TRUE(std::ranges::equal(M.upper().values(), fresh.upper().values()));
  EXPECT_FALSE(says(fresh.report(), "computed anew"));
  EXPECT_ERROR((void)M.refactor(matrix(2, {{0, 0, 1.0}, {1, 1, 1.0}})), structure, "60");
}

TEST(Ilutp, APermutationMatrixIsSolvedExactly) {
  const std::int64_t n = 9;
  std::vector<Triplet<double>> entries;
  for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, static_cast<std::int32_t>((i * 4 + 2) % n), 1.0 + i});
  const auto A = matrix(n, entries);
  const auto M = ilut(A, {.shift = ShiftPolicy::none, .column_pivoting = 0.5});
  ASSERT_TRUE(M.report().ok) << M.report().message;
  EXPECT_EQ(M.report().missing_diagonals, 0);
  EXPECT_GT(M.report().column_swaps, 0);
  EXPECT_TRUE(says(M.report(), "changed places"));
  std::vector<std::int32_t> seen(M.column_order().begin(), M.column_order().end());
  for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], (i * 4 + 2) % n);
  EXPECT_LT(error_of_solution(A, M), 1e-15);
}

double largest_row_sum(const BlockCsr<double>& A) {
  double norm = 0;
  for (const auto& row : dense(A)) {
    double sum = 0;
    for (const double value : row) sum += std::abs(value);
    norm = std::max(norm, sum);
  }
  return norm;
}

/// ‖(LU)⁻¹e‖∞·‖A‖∞.
double estimated_growth(const BlockCsr<double>& A, const Ilu<double>& M) {
  Vector<double> x(A.rows(), 1.0);
  M.apply(x, x);
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest * largest_row_sum(A);
}

/// Where rows of L and of D⁻¹U sum to less than one their bound is reported, and it is one; otherwise the estimate is.
TEST(Ilut, GrowthIsBoundedOrEstimated) {
  const auto poisson = to_block_csr(problems::poisson({7, 6, 5}, stencils::star7()));
  for (const int team : {1, 2}) {
    set_threads(team);
    const auto M = ilut(poisson, {.drop = 1e-3, .lfil = 10});
    const auto L = dense(M.lower()), U = dense(M.upper());
    double below = 0, above = 0, inverse = 0;
    for (std::size_t i = 0; i < L.size(); ++i) {
      double lower = 0, upper = 0;
      for (std::size_t j = 0; j < L.size(); ++j)
        (j < i ? lower : upper) += std::abs(j < i ? L[i][j] : j > i ? U[i][j] : 0.0);
      below = std::max(below, lower);
      above = std::max(above, upper / std::abs(U[i][i]));
      inverse = std::max(inverse, 1 / std::abs(U[i][i]));
    }
    ASSERT_LT(std::max(below, above), 1);
    EXPECT_NEAR(M.report().growth / (largest_row_sum(poisson) * inverse / ((1 - below) * (1 - above))), 1, 1e-12);
    EXPECT_GE(M.report().growth, estimated_growth(poisson, M));
  }
  set_threads(0);
  const auto rough = reference::with_random_values<double>(reference::random_rows(60, 0.2, 3), 1, 8, 0.1);
  const auto M = ilut(rough, {.drop = 0, .lfil = 60});
  ASSERT_EQ(M.report().perturbed_pivots, 0);
  EXPECT_NEAR(M.report().growth / estimated_growth(rough, M), 1, 1e-12);
}

/// Without thresholds A Q = L U, and |U_ij|·tolerance ≤ |U_ii|.
TEST(Ilutp, ItsFactorsAreThoseOfThePermutedMatrix) {
  const std::int32_t n = 50;
  const auto A = reference::with_random_values<double>(reference::random_rows(n, 0.2, 3), 1, 8, 0.0);
  const auto M = ilut(A, {.drop = 0, .lfil = n, .column_pivoting = 0.5});
  ASSERT_EQ(M.report().perturbed_pivots, 0);
  EXPECT_LT(error_of_solution(A, M), 1e-10);
  const auto LU = product(M), full = dense(A), U = dense(M.upper());
  for (std::size_t i = 0; i < LU.size(); ++i) {
    for (std::size_t j = 0; j < LU.size(); ++j) {
      const auto column = static_cast<std::size_t>(M.column_order()[j]);
      EXPECT_NEAR(LU[i][j], full[i][column], 1e-10) << i << ' ' << j;
      if (j > i) {
        EXPECT_LE(0.5 * std::abs(U[i][j]), std::abs(U[i][i]) * (1 + 1e-14));
      }
    }
  }
}

TEST(Ilutp, BlocksAreRefused) {
  const auto A = reference::with_random_values<double>(reference::random_rows(4, 0.5, 1), 2, 1);
  EXPECT_ERROR((void)ilut(A, {.column_pivoting = 0.5}), bad_argument, "blocks of size 1; got blocks of 2");
}

TEST(Ilut, MatchedRowsServeItToo) {
  // A full cycle off the diagonal, whose diagonal is empty, and something beside it.
  const std::int64_t n = 30;
  std::vector<Triplet<double>> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, static_cast<std::int32_t>((i + 1) % n), 5.0 + i});
    entries.push_back({i, static_cast<std::int32_t>((i + 7) % n), 1.0});
  }
  const auto A = matrix(n, entries);
  const MatchedIlu M(A, {.shift = ShiftPolicy::none, .drop = 0, .lfil = n}, ilut<double>);
  ASSERT_TRUE(M.report().ok) << M.report().message;
  EXPECT_EQ(M.report().name, "ilut");
  EXPECT_EQ(M.report().ordering, "matched, natural");
  EXPECT_LT(error_of_solution(A, M), 1e-12);
  EXPECT_ERROR(MatchedIlu(matrix(3, {{0, 0, 1.0}, {1, 0, 1.0}, {2, 1, 1.0}, {2, 2, 1.0}}), {}, ilut<double>), structure,
               "structurally singular, 1 rows cannot be matched with a column, the first is row 1");
}

TEST(Ilut, OptionsOutOfRangeAreNamed) {
  const auto A = matrix(1, {{0, 0, 1.0}});
  EXPECT_ERROR((void)ilut(A, {.drop = -1}), bad_argument, "drop tolerance is -1");
  EXPECT_ERROR((void)ilut(A, {.drop = std::nan("")}), bad_argument, "drop tolerance");
  EXPECT_ERROR((void)ilut(A, {.lfil = -1}), bad_argument, "lfil is -1");
  EXPECT_ERROR((void)ilut(A, {.column_pivoting = 2}), bad_argument, "column pivoting is 2");
  EXPECT_ERROR((void)ilut(from_triplets<double>(1, 2, std::vector<Triplet<double>>{{0, 1, 1.0}})), not_square, "1×2");
}

TEST(Ilut, AnEmptyMatrixIsFactored) {
  const auto M = ilut(matrix(0, {}), {});
  EXPECT_TRUE(M.report().ok);
  Vector<double> r(0), z(0);
  M.apply(r, z);
}

TEST(Ilut, TheRegistryAndTheAutomaticSolveKnowIt) {
  const auto A = to_block_csr(problems::convection_diffusion({15, 14, 1}, stencils::star5()));
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  SolveRequest request;
  request.wishes.pc = "ilut";
  request.wishes.options.ilu.lfil = 7;
  const auto outcome = solve_automatically(&A, b, x, request);
  EXPECT_TRUE(outcome.report.converged);
  EXPECT_EQ(outcome.choice.name(), "gmres with ilut(7, 0.001)");
  EXPECT_EQ(outcome.report.preconditioner.lfil, 7);
  EXPECT_TRUE(find_preconditioner("ilut").takes_ilu_options);
}

}  // namespace
}  // namespace echelon
