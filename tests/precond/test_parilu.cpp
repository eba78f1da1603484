// SPDX-License-Identifier: BSD-3-Clause
// ParILU(k) and ParIC(k): sweep by sweep against the formula, the exact factors after enough sweeps, threads, refactor
// without allocation, and what is said when the sweeps lead away from A.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/counted_new.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/fixed_point_reference.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using reference::SparseRows;

/// The pattern of L and U together.
SparseRows pattern_of(const Ilu<double>& M) {
  const auto L = M.lower(), U = M.upper();
  SparseRows rows(static_cast<std::size_t>(L.block_rows()));
  for (const auto* part : {&L, &U}) {
    for (std::int64_t i = 0; i < part->block_rows(); ++i) {
      for (auto p = part->row_start()[static_cast<std::size_t>(i)]; p < part->row_start()[static_cast<std::size_t>(i) + 1];
           ++p) {
        rows[static_cast<std::size_t>(i)][part->column()[static_cast<std::size_t>(p)]] = 0;
      }
    }
  }
  return rows;
}

void expect_same_bits(const BlockCsr<double>& a, const BlockCsr<double>& b) {
  ASSERT_EQ(a.nonzeros(), b.nonzeros());
  for (std::size_t e = 0; e < a.values().size(); ++e) ASSERT_EQ(a.values()[e], b.values()[e]) << "value " << e;
}

double frobenius(const BlockCsr<double>& A) {
  double sum = 0;
  for (const double a : A.values()) sum += a * a;
  return std::sqrt(sum);
}

TEST(ParIlu, EverySweepIsTheFormulas) {
  const auto A = reference::with_random_values<double>(reference::random_rows(60, 0.08, 3), 1, 5);
  for (const int fill : {0, 1, 2}) {
    SparseRows S = reference::on_pattern(A, pattern_of(ilu(A, {.fill = fill})));
    double change = 0;
    reference::swept(A, S, &change);
    const double start = change / frobenius(A);
    for (int sweeps = 1; sweeps < 6; ++sweeps) {
      SCOPED_TRACE(testing::Message() << "fill " << fill << ", sweep " << sweeps);
      const auto M = ilu(A, {.fill = fill, .factor_sweeps = sweeps});
      S = reference::swept(A, S);
      const auto L = M.lower(), U = M.upper();
      for (int i = 0; i < 60; ++i) {
        for (const auto& [j, s] : S[static_cast<std::size_t>(i)]) {
          if (j < i) {
            ASSERT_EQ(L.at(i, j), s * (1 / S[static_cast<std::size_t>(j)].at(j))) << i << ", " << j;
          }
          if (j > i) {
            ASSERT_EQ(U.at(i, j), s) << i << ", " << j;
          }
          if (j == i) {
            ASSERT_DOUBLE_EQ(U.at(i, i), s) << i;
          }
        }
      }
      reference::swept(A, S, &change);
      EXPECT_NEAR(M.report().start_residual, start, 1e-12 * start);
      EXPECT_NEAR(M.report().pattern_residual, change / frobenius(A), 1e-12 * start);
      EXPECT_EQ(M.report().factor_sweeps, sweeps);
      EXPECT_EQ(M.report().name, "parilu");
    }
  }
}

/// An entry is final one sweep after those it needs.
TEST(ParIlu, EnoughSweepsGiveTheExactFactors) {
  for (const int block : {1, 2, 3, 5, 9}) {
    for (const auto ordering : {Ordering::natural, Ordering::rcm, Ordering::colours}) {
      const auto A = reference::with_random_values<double>(reference::random_rows(40, 0.1, 7), block, 11);
      SCOPED_TRACE(testing::Message() << "block " << block << ", " << word(ordering));
      const IluOptions exact{.fill = 1, .ordering = ordering};
      IluOptions swept = exact;
      swept.factor_sweeps = 40;
      const auto E = ilu(A, exact), M = ilu(A, swept);
      expect_same_bits(M.lower(), E.lower());
      expect_same_bits(M.upper(), E.upper());
      EXPECT_LT(M.report().pattern_residual, 1e-14);
    }
  }
}

TEST(ParIlu, TheSameBitsForEveryThreadCount) {
  const auto A = to_block_csr(problems::random({17, 16, 15}, stencils::box27(), 2, 9));
  const int before = threads();
  set_threads(1);
  const auto one = ilu(A, {.factor_sweeps = 3});
  set_threads(3);
  const auto three = ilu(A, {.factor_sweeps = 3});
  set_threads(before);
  expect_same_bits(one.lower(), three.lower());
  expect_same_bits(one.upper(), three.upper());
  EXPECT_EQ(one.report().pattern_residual, three.report().pattern_residual);
}

TEST(ParIlu, RefactorAllocatesNothingAndGivesTheSame) {
  const auto A = to_block_csr(problems::random({8, 7, 6}, stencils::star7(), 1, 2));
  auto B = to_block_csr(problems::random({8, 7, 6}, stencils::star7(), 1, 3));
  auto M = ilu(A, {.factor_sweeps = 4});
  const auto arrays = allocation_count();
  const long news = new_calls;
  ASSERT_TRUE(M.refactor(B).ok);
  EXPECT_EQ(allocation_count(), arrays);
  EXPECT_EQ(new_calls, news);
  expect_same_bits(M.upper(), ilu(B, {.factor_sweeps = 4}).upper());
}

/// Off-diagonals that dwarf the diagonal: each sweep squares what it had.
BlockCsr<double> far_from_dominant() {
  return reference::with_random_values<double>(reference::random_rows(80, 0.2, 13), 1, 17, 0.02);
}

TEST(ParIlu, SweepsThatLeadAwayAreRefused) {
  const auto A = far_from_dominant();
  const auto M = ilu(A, {.shift = ShiftPolicy::none, .factor_sweeps = 5});
  EXPECT_FALSE(M.report().ok);
  EXPECT_GT(M.report().pattern_residual, M.report().start_residual);
  EXPECT_NE(M.report().message.find("ParILU(0): 5 fixed-point sweeps lead away from A"), std::string::npos)
      << M.report().message;
  Vector<double> r(A.rows(), 1.0), z(A.rows());
  EXPECT_THROW(M.apply(r, z), Error);
}

TEST(ParIlu, TheAutomaticShiftMakesThemConverge) {
  const auto A = far_from_dominant();
  const auto M = ilu(A, {.factor_sweeps = 5});
  const auto& report = M.report();
  ASSERT_TRUE(report.ok) << report.message;
  EXPECT_GT(report.shift, 0);
  EXPECT_GT(report.shift_attempts, 0);
  EXPECT_LE(report.pattern_residual, report.start_residual);
  Vector<double> r(A.rows(), 1.0), z(A.rows());
  M.apply(r, z);
  for (const double value : z) ASSERT_TRUE(std::isfinite(value));
}

TEST(ParIlu, NanInTheMatrixIsNamedByItsRow) {
  auto A = to_block_csr(problems::poisson({5, 5, 5}, stencils::star7()));
  A.values()[100] = std::numeric_limits<double>::quiet_NaN();
  const auto M = ilu(A, {.factor_sweeps = 3});
  EXPECT_FALSE(M.report().ok);
  EXPECT_NE(M.report().message.find("NaN or Inf, first met at row"), std::string::npos) << M.report().message;
}

TEST(ParIlu, ZeroPivotsAreRepairedAndCounted) {
  const std::vector<Triplet<double>> entries = {{0, 0, 1.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 1.0}, {2, 2, 3.0}};
  const auto A = from_triplets<double>(3, 3, entries);
  const auto stopped = ilu(A, {.shift = ShiftPolicy::none, .factor_sweeps = 4});
  EXPECT_FALSE(stopped.report().ok);
  EXPECT_NE(stopped.report().message.find("zero pivot at row 1"), std::string::npos) << stopped.report().message;
  const auto repaired = ilu(A, {.factor_sweeps = 4});
  EXPECT_TRUE(repaired.report().ok);
  EXPECT_EQ(repaired.report().perturbed_pivots, 1);
}

TEST(ParIlu, SizesOfEveryScaleTakeTheSameWay) {
  auto A = to_block_csr(problems::random({6, 6, 6}, stencils::star7(), 1, 4));
  const auto M = ilu(A, {.factor_sweeps = 3});
  for (double& a : A.values()) a = std::ldexp(a, 700);
  const auto large = ilu(A, {.factor_sweeps = 3});
  ASSERT_TRUE(large.report().ok) << large.report().message;
  EXPECT_EQ(large.report().pattern_residual, M.report().pattern_residual);
}

TEST(ParIlu, TheRegistryTakesTheSymmetricFormByItself) {
  const auto poisson = problems::poisson({9, 9, 9}, stencils::star7());
  const auto flow = problems::convection_diffusion({9, 9, 9}, stencils::star7());
  EXPECT_EQ(find_preconditioner("parilu").make(&poisson, {})->report().name, "paric");
  EXPECT_EQ(find_preconditioner("parilu").make(&poisson, {})->report().factor_sweeps, default_sweeps);
  EXPECT_EQ(find_preconditioner("parilu").make(&flow, {.ilu = {.factor_sweeps = 2}})->report().name, "parilu");
  EXPECT_EQ(find_preconditioner("mcilu").make(&poisson, {})->report().name, "mcic");
  EXPECT_EQ(find_preconditioner("mcilu").make(&flow, {})->report().name, "mcilu");
}

TEST(ParIlu, RefusesWhatIsNoNumberOfSweeps) {
  const auto A = to_block_csr(problems::poisson({3, 3, 3}, stencils::star7()));
  EXPECT_ERROR((void)ilu(A, {.factor_sweeps = -1}), bad_argument, "fixed-point sweeps is -1");
}

/// Ratios of CG iterations to IC(0), as the literature has them.
TEST(ParIlu, IterationRatiosOnPoisson) {
  const auto A = problems::poisson({32, 32, 32}, stencils::star7());
  const Vector<double> b(A.rows(), 1.0);
  const auto iterations = [&](const char* pc, const IluOptions& options) {
    const auto M = find_preconditioner(pc).make(&A, {.ilu = options});
    Vector<double> x(A.rows(), 0.0);
    const auto report = cg(A, b, x, *M, {.rtol = 1e-8});
    EXPECT_TRUE(report.converged) << pc;
    return static_cast<double>(report.iterations);
  };
  const double exact = iterations("ic", {});
  EXPECT_GE(iterations("parilu", {}) / exact, 0.93);
  EXPECT_LE(iterations("parilu", {}) / exact, 1.10);
  for (const auto ordering : {Ordering::colours, Ordering::random_colours}) {
    const double ratio = iterations("mcilu", {.ordering = ordering}) / exact;
    EXPECT_GE(ratio, 1.1) << word(ordering);
    EXPECT_LE(ratio, 1.65) << word(ordering);
  }
}

}  // namespace
}  // namespace echelon
