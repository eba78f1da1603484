// SPDX-License-Identifier: BSD-3-Clause
// The preconditioner in block multicolour order: natural order outside, iterations that do not depend on bsize, the same
// bits for every thread count and instruction set, refactor, IC for CG, bad pivots in the user's numbering, odd shapes,
// files that are no grid, and the options as a user gives them.
#include "echelon/precond/dbsr/dbsr.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "echelon/base/threads.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/dbsr/dbsr_option_list.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/every_target.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

template <class T>
Vector<T> ones(std::int64_t n) {
  Vector<T> v(n);
  for (std::int64_t i = 0; i < n; ++i) v[i] = static_cast<T>(1 + (i * 7 % 5) * 0.25);
  return v;
}

template <class T>
Vector<T> applied(const Preconditioner<T>& M, std::int64_t n) {
  Vector<T> z(n);
  M.apply(ones<T>(n), z);
  return z;
}

template <class T>
void expect_same_bits(const Vector<T>& a, const Vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())), 0);
}

/// ILU(0) of P A Pᵀ by the library's own row code, in the order of the blocks.
TEST(Dbsr, IsIlu0OfThePermutedMatrix) {
  const auto A = problems::random({19, 17, 13}, stencils::box27(), 1, 24);
  for (const int bsize : {1, 2, 8, 64}) {
    const auto M = dbsr(A, {{BlockChoice::fixed, {}, bsize, 1}, {}});
    ASSERT_TRUE(M.report().ok);
    EXPECT_FALSE(M.report().symmetric);
    const auto order = M.order().order();
    const auto plain = ilu(permuted(to_block_csr(A), order.span()));
    const auto r = ones<double>(A.rows());
    Vector<double> moved(A.rows()), want(A.rows()), z(A.rows());
    for (std::int64_t i = 0; i < A.rows(); ++i) moved[i] = r[order[i]];
    plain.apply(moved, want);
    M.apply(r, z);
    for (std::int64_t i = 0; i < A.rows(); ++i) ASSERT_EQ(z[order[i]], want[i]) << "bsize " << bsize << ", row " << i;
  }
}

/// The table of docs/lab/dbsr.md: CG with IC(0), b = 1, to 1e-8, in natural order, in blocks of 64 points, multicolour.
TEST(DbsrFull, IterationsByOrder) {
  for (const auto& [name, wanted] : {std::pair{"star7", std::vector<int>{69, 74, 81}}, {"box27", {46, 52, 61}}}) {
    const auto A = problems::poisson({64, 64, 64}, stencils::named(name));
    const auto b = ones<double>(A.rows());
    const auto iterations = [&](const Preconditioner<double>& M) {
      Vector<double> x(A.rows(), 0.0);
      const auto result = cg(A, b, x, M, {.rtol = 1e-8});
      EXPECT_TRUE(result.converged);
      return static_cast<int>(result.iterations);
    };
    const std::vector<int> got{iterations(ic(A)), iterations(dbsr(A, {{BlockChoice::fixed, {}, 8, 1}, {}})),
                               iterations(dbsr(A, {{BlockChoice::given, {1, 1, 1}, 8, 1}, {}}))};
    EXPECT_EQ(got, wanted) << name;
  }
}

TEST(Dbsr, IterationsAreThoseOfBlockMulticolouringForEveryBsize) {
  for (const bool box : {false, true}) {
    const auto A = problems::poisson({33, 30, 27}, box ? stencils::box27() : stencils::star7());
    const auto b = ones<double>(A.rows());
    int want = 0;
    for (const int bsize : {1, 2, 4, 8, 16, 32, 64}) {
      const auto M = dbsr(A, {{BlockChoice::fixed, {}, bsize, 1}, {}});
      EXPECT_TRUE(M.report().symmetric) << "IC, so that CG may be used";
      Vector<double> x(A.rows(), 0.0);
      const auto result = cg(A, b, x, M, {.rtol = 1e-8});
      ASSERT_TRUE(result.converged);
      if (bsize == 1) want = result.iterations;
      EXPECT_EQ(result.iterations, want) << "bsize " << bsize;
    }
  }
}

TEST(Dbsr, EveryThreadCountAndInstructionSetHasTheSameBits) {
  const auto A = problems::poisson({31, 26, 22}, stencils::box27());
  const DbsrOptions options{{BlockChoice::fixed, {}, 8, 1}, {}};
  const auto want = applied(dbsr(A, options), A.rows());
  for (const int count : {1, 2, 3, 4}) {
    set_threads(count);
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(applied(dbsr(A, options), A.rows()), want)) << count << " threads";
  }
  set_threads(0);
  reference::on_every_target([&] { expect_same_bits(applied(dbsr(A, options), A.rows()), want); });
}

TEST(Dbsr, NewValuesUseTheOldOrder) {
  const auto first = problems::convection_diffusion({12, 11, 10}, stencils::star7());
  auto second = problems::convection_diffusion({12, 11, 10}, stencils::star7());
  for (auto& value : second.values()) value *= 1.5;
  for (const Stored precision : {Stored::fp64, Stored::fp32}) {
    DbsrOptions options;
    options.ilu.precision = precision;
    auto M = dbsr(first, options);
    ASSERT_TRUE(M.refactor(second).ok);
    expect_same_bits(applied(M, first.rows()), applied(dbsr(second, options), first.rows()));
    const auto rows = to_block_csr(first);
    ASSERT_TRUE(M.refactor(rows).ok) << "the same entries in block CSR";
    expect_same_bits(applied(M, first.rows()), applied(dbsr(first, options), first.rows()));
  }
  auto M = dbsr(first);
  EXPECT_ERROR((void)M.refactor(problems::poisson({12, 11, 10}, stencils::box27())), structure, "in the pattern");
  EXPECT_FALSE(M.report().ok) << "neither the old factors nor new ones";
}

TEST(Dbsr, SinglePrecisionFactorsAndMatrices) {
  const auto A = problems::poisson({20, 20, 20}, stencils::box27());
  const auto wide = applied(dbsr(A), A.rows());
  DbsrOptions narrow;
  narrow.ilu.precision = Stored::fp32;
  const auto M = dbsr(A, narrow);
  EXPECT_EQ(M.report().precision, "fp32");
  EXPECT_LT(M.report().bytes, dbsr(A).report().bytes);
  const auto z = applied(M, A.rows());
  StructMatrix<float> single(A.grid(), A.stencil());
  for (std::size_t n = 0; n < A.values().size(); ++n) single.values()[n] = static_cast<float>(A.values()[n]);
  const auto y = applied(dbsr(single), A.rows());
  double largest = 0;
  for (const double value : wide) largest = std::max(largest, std::abs(value));
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    ASSERT_NEAR(z[i], wide[i], 1e-5 * largest);
    ASSERT_NEAR(y[i], wide[i], 1e-4 * largest);
  }
}

TEST(Dbsr, OddShapesAreSolved) {
  for (const Grid grid :
       {Grid{1, 1, 1}, Grid{2, 1, 1}, Grid{97, 1, 1}, Grid{3, 3, 3}, Grid{1, 40, 1}, Grid{5, 1, 23}, Grid{70, 2, 1}}) {
    const auto A = problems::poisson(grid, grid.nz > 1 ? stencils::star7() : stencils::star5());
    for (const BlockChoice choice : {BlockChoice::fixed, BlockChoice::automatic, BlockChoice::given}) {
      for (const int bsize : {0, 1, 64}) {
        const auto M = dbsr(A, {{choice, {2, 3, 1}, bsize, 2}, {}});
        Vector<double> x(A.rows(), 0.0);
        EXPECT_TRUE(cg(A, ones<double>(A.rows()), x, M, {.rtol = 1e-8}).converged)
            << grid.nx << "x" << grid.ny << "x" << grid.nz;
      }
    }
  }
}

TEST(Dbsr, GeneralMatricesByAlgebraicBlocks) {
  for (int seed = 0; seed < 8; ++seed) {
    const auto A = reference::with_random_values<double>(
        reference::random_rows(1 + 40 * seed, 0.04, static_cast<std::uint64_t>(seed)), 1, 3);
    for (const BlockChoice choice : {BlockChoice::fixed, BlockChoice::automatic, BlockChoice::given}) {
      const auto M = dbsr(A, {{choice, {4, 2, 1}, 0, 2}, {}});
      EXPECT_EQ(M.order().bsize(), 1);
      const auto order = M.order().order();
      const auto plain = ilu(permuted(A, order.span()));
      const auto r = ones<double>(A.rows());
      Vector<double> moved(A.rows()), want(A.rows()), z(A.rows());
      for (std::int64_t i = 0; i < A.rows(); ++i) moved[i] = r[order[i]];
      plain.apply(moved, want);
      M.apply(r, z);
      for (std::int64_t i = 0; i < A.rows(); ++i) ASSERT_EQ(z[order[i]], want[i]);
    }
  }
}

TEST(Dbsr, BadPivotsAreRepairedOrRefusedWithTheUsersRow) {
  auto A = problems::convection_diffusion({8, 8, 8}, stencils::star7());
  // Point 0 is the first eliminated: its pivot is its diagonal.
  for (int e = 0; e < A.stencil().size(); ++e)
    if (e == A.stencil().center()) A.block(0, e)[0] = 0;
  const auto repaired = dbsr(A);
  EXPECT_TRUE(repaired.report().ok);
  EXPECT_GE(repaired.report().perturbed_pivots, 1);
  ASSERT_FALSE(repaired.report().bad_pivots.empty());
  EXPECT_EQ(repaired.report().bad_pivots.front().row, 0);
  EXPECT_TRUE(std::isfinite(applied(repaired, A.rows())[0]));
  DbsrOptions strict;
  strict.ilu.shift = ShiftPolicy::none;
  const auto refused = dbsr(A, strict);
  EXPECT_FALSE(refused.report().ok);
  EXPECT_NE(refused.report().message.find("grid point (0,0,0)"), std::string::npos) << refused.report().message;
  A.block(100, A.stencil().center())[0] = std::numeric_limits<double>::quiet_NaN();
  const auto poisoned = dbsr(A);
  EXPECT_FALSE(poisoned.report().ok);
}

TEST(Dbsr, MissingDiagonalsCountAsZero) {
  const auto A = reference::with_random_values<double>(reference::rows_with_holes, 1, 3);
  const auto M = dbsr(A);
  EXPECT_EQ(M.report().missing_diagonals, 3);
  EXPECT_GE(M.report().bad_pivots.size(), 1u);
  ASSERT_FALSE(M.report().remarks.empty());
  EXPECT_EQ(M.report().remarks.front(), "3 diagonal entries were missing and inserted as zero");
}

TEST(Dbsr, SeveralThreadsMayApplyAtOnce) {
  const auto A = problems::poisson({20, 18, 16}, stencils::star7());
  const auto M = dbsr(A);
  const auto want = applied(M, A.rows());
  std::vector<Vector<double>> got(4);
  std::vector<std::thread> callers;
  for (auto& z : got) {
    callers.emplace_back([&] {
      for (int n = 0; n < 5; ++n) z = applied(M, A.rows());
    });
  }
  for (auto& caller : callers) caller.join();
  for (const auto& z : got) expect_same_bits(z, want);
}

TEST(Dbsr, AnApplicationAllocatesNothing) {
  const auto A = problems::poisson({20, 18, 16}, stencils::box27());
  auto M = dbsr(A);
  const auto r = ones<double>(A.rows());
  Vector<double> z(A.rows());
  M.apply(r, z);
  const auto before = allocation_count();
  for (int n = 0; n < 3; ++n) M.apply(r, z);
  EXPECT_EQ(allocation_count(), before);
  EXPECT_TRUE(M.refactor(A).ok);
  EXPECT_EQ(allocation_count(), before) << "nor a refactor";
}

TEST(Dbsr, WhatCannotBeTakenIsRefused) {
  const auto pairs = problems::random({4, 4, 4}, stencils::star7(), 2, 1);
  EXPECT_ERROR(dbsr(pairs), bad_argument, "2 unknowns a point");
  EXPECT_ERROR(dbsr(to_block_csr(pairs)), bad_argument, "blocks of size 2");
  const auto A = problems::poisson({6, 6, 6}, stencils::star7());
  EXPECT_ERROR((dbsr(A, {{BlockChoice::fixed, {}, 5, 1}, {}})), bad_argument, "got 5");
  DbsrOptions half;
  half.ilu.precision = Stored::bf16;
  EXPECT_ERROR(dbsr(A, half), bad_option, "fp64 or fp32");
  const auto M = dbsr(A);
  Vector<double> shorter(5), z(A.rows());
  EXPECT_ERROR(M.apply(shorter, z), size_mismatch, "DBSR");
}

TEST(Dbsr, OptionsAsAUserGivesThem) {
  BlockOptions blocks;
  EXPECT_EQ(set_blocks(blocks, "auto"), "");
  EXPECT_EQ(blocks.choice, BlockChoice::automatic);
  EXPECT_EQ(set_blocks(blocks, "4x8"), "");
  EXPECT_EQ(blocks.shape, (Grid{4, 8, 1}));
  EXPECT_EQ(set_blocks(blocks, "2x3x5"), "");
  EXPECT_EQ(blocks.shape, (Grid{2, 3, 5}));
  EXPECT_EQ(set_blocks(blocks, "6"), "");
  EXPECT_EQ(blocks.shape, (Grid{6, 6, 6}));
  for (const char* bad : {"", "x", "0x4x4", "4x", "4x4x4x4", "-1x2x2", "4,4", "fixedd", "99999999999999999999"}) {
    EXPECT_NE(set_blocks(blocks, bad), "") << bad;
  }
  const auto A = problems::poisson({12, 12, 12}, stencils::star7());
  const auto M = make_preconditioner("dbsr", &A, {});
  EXPECT_EQ(M->report().name, "dbsr-ic");
  EXPECT_EQ(M->report().colours, 2);
}

}  // namespace
}  // namespace echelon
