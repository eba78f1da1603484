// SPDX-License-Identifier: BSD-3-Clause
// The structured reference against block CSR ILU(0) of the converted matrix, bit for bit, and by its own promises.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "echelon/base/threads.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/stencil/stencil_fill.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/drawn_stencil.hpp"

namespace ec = echelon;
namespace {

using Matrix = ec::StructMatrix<double>;

ec::Vector<double> wavy(std::int64_t n) {
  ec::Vector<double> r(n);
  for (std::int64_t i = 0; i < n; ++i) r[i] = std::sin(static_cast<double>(i) + 0.5);
  return r;
}

bool same(const ec::BlockCsr<double>& A, const ec::BlockCsr<double>& B) {
  return std::ranges::equal(A.row_start(), B.row_start()) && std::ranges::equal(A.column(), B.column()) &&
         std::ranges::equal(A.values(), B.values());
}

bool same_result(const ec::Ilu<double>& M, const ec::Ilu<double>& N, std::int64_t n) {
  const auto r = wavy(n);
  ec::Vector<double> z(n), w(n);
  M.apply(r, z);
  N.apply(r, w);
  return std::equal(z.begin(), z.end(), w.begin());
}

TEST(StructIlu, TwoPointsByHand) {
  // ⎡4 2⎤ = ⎡1   ⎤⎡4 2⎤
  // ⎣1 3⎦   ⎣¼ 1 ⎦⎣ 2.5⎦
  Matrix A({2, 1, 1}, ec::Stencil({{-1, 0, 0}, {1, 0, 0}}));
  A.fill([](std::int64_t i, auto, auto, int e, std::span<double> a) { a[0] = e == 0 ? 1 : e == 2 ? 2 : i == 0 ? 4 : 3; });
  const auto M = ec::ilu(A);
  EXPECT_TRUE(M.report().ok);
  EXPECT_EQ(M.lower().at(1, 0), 0.25);
  EXPECT_EQ(M.upper().at(0, 0), 4);
  EXPECT_EQ(M.upper().at(0, 1), 2);
  EXPECT_EQ(M.upper().at(1, 1), 2.5);
  const ec::Vector<double> r{4, 6};  // A·(0.2…): y = (4, 5), z₁ = 2, z₀ = 0
  ec::Vector<double> z(2);
  M.apply(r, z);
  EXPECT_EQ(z[1], 2);
  EXPECT_EQ(z[0], 0);
}

TEST(StructIlu, EqualsBlockCsrIluBitForBit) {
  for (const auto& name : ec::stencils::names()) {
    for (const int dof : {1, 2, 3, 4, 5, 6, 7, 8, 11}) {
      for (const ec::Grid grid : {ec::Grid{5, 4, 3}, ec::Grid{1, 6, 2}, ec::Grid{9, 1, 1}, ec::Grid{1, 1, 1}}) {
        const auto A = ec::problems::random(grid, ec::stencils::named(name), dof, 5);
        const auto M = ec::ilu(A);
        const auto N = ec::ilu(ec::to_block_csr(A));
        ASSERT_TRUE(same(M.lower(), N.lower())) << name << " dof " << dof;
        ASSERT_TRUE(same(M.upper(), N.upper())) << name << " dof " << dof;
        ASSERT_TRUE(same_result(M, N, A.rows())) << name << " dof " << dof;
        ec::Vector<double> x(A.rows(), 1.0);
        N.apply(x, x);
        double largest = 0;
        for (const double value : x) largest = std::max(largest, std::abs(value));
        for (const auto* one : {&M, &N}) {
          ASSERT_GE(one->report().growth, largest * A.norm_inf() * (1 - 1e-12)) << "an estimate, or a bound above it";
        }
      }
    }
  }
}

TEST(StructIlu, EqualsBlockCsrIluOnAnyStencil) {
  ASSERT_TRUE(rc::check("random stencils, wider than the grid too", [] {
    const ec::Grid grid{*rc::gen::inRange(1, 40), *rc::gen::inRange(1, 11), *rc::gen::inRange(1, 4)};
    const auto A = ec::problems::random(grid, ec::reference::drawn_stencil(), *rc::gen::inRange(1, 4),
                                        *rc::gen::arbitrary<std::uint64_t>());
    const auto M = ec::ilu(A);
    const auto N = ec::ilu(ec::to_block_csr(A));
    RC_ASSERT(same(M.lower(), N.lower()));
    RC_ASSERT(same(M.upper(), N.upper()));
    RC_ASSERT(same_result(M, N, A.rows()));
  }));
}

TEST(StructIlu, WhatIsStoredForNeighboursOutsideTheGridIsNotUsed) {
  // Lines of whole and of broken steps, alone and side by side; repairs in the midst of them.
  for (const char* name : {"star5", "star7", "diamond13", "box27"}) {
    for (const ec::Grid grid : {ec::Grid{8, 7, 3}, ec::Grid{24, 8, 2}, ec::Grid{19, 6, 2}}) {
      for (const bool repaired : {false, true}) {
        auto A = ec::problems::random(grid, ec::stencils::named(name), 1, 5);
        const auto offsets = A.stencil().offsets();
        for (std::int64_t p = 0; p < grid.points(); ++p) {
          const std::int64_t i = p % grid.nx, j = p / grid.nx % grid.ny, k = p / grid.nx / grid.ny;
          for (int e = 0; e < A.stencil().size(); ++e) {
            const auto o = offsets[static_cast<std::size_t>(e)];
            if (!grid.contains(i + o.x, j + o.y, k + o.z)) A.block(p, e)[0] = std::numeric_limits<double>::quiet_NaN();
            if (repaired && p % 37 == 0 && e <= A.stencil().center()) A.block(p, e)[0] = 0;
          }
        }
        const auto M = ec::ilu(A);
        const auto N = ec::ilu(ec::to_block_csr(A));
        ASSERT_TRUE(same(M.lower(), N.lower())) << name << " nx " << grid.nx;
        ASSERT_TRUE(same(M.upper(), N.upper())) << name << " nx " << grid.nx;
        ASSERT_EQ(M.report().bad_pivots.size(), N.report().bad_pivots.size()) << name;
        ASSERT_EQ(M.report().bad_pivots.empty(), !repaired) << name;
      }
    }
  }
}

TEST(StructIlu, ProductOfTheFactorsIsAOnTheStencil) {
  const auto A = ec::problems::random({4, 4, 3}, ec::stencils::box27(), 2, 9);
  const auto M = ec::ilu(A);
  const auto B = ec::to_block_csr(A), L = M.lower(), U = M.upper();
  const auto n = B.rows();
  for (std::int64_t i = 0; i < B.block_rows(); ++i) {
    for (std::int64_t e = B.row_start()[i]; e < B.row_start()[i + 1]; ++e) {
      for (int r = 0; r < 2; ++r) {
        const std::int64_t row = 2 * i + r, column = 2 * std::int64_t{B.column()[e]};
        double sum = U.at(row, column);
        for (std::int64_t k = 0; k < n; ++k) sum += L.at(row, k) * U.at(k, column);
        EXPECT_NEAR(sum, B.at(row, column), 1e-12);
      }
    }
  }
}

TEST(StructIlu, TridiagonalIsSolvedExactly) {
  const auto A = ec::problems::poisson({50, 1, 1}, ec::Stencil({{-1, 0, 0}, {1, 0, 0}}));
  const auto b = wavy(50);
  for (const bool symmetric : {false, true}) {
    const auto M = symmetric ? ec::ic(A) : ec::ilu(A);
    ec::Vector<double> x(50), r(50);
    M.apply(b, x);
    A.residual(b, x, r);
    for (const double v : r) EXPECT_NEAR(v, 0, 1e-12);
  }
}

TEST(StructIlu, RepairsAreThoseOfBlockCsr) {
  for (const int dof : {1, 3}) {
    auto A = ec::problems::random({4, 3, 2}, ec::stencils::star7(), dof, 21);
    std::ranges::fill(A.block(0, A.stencil().center()), 0.0);
    std::ranges::fill(A.block(17, A.stencil().center()), 1e-20);
    for (const auto policy : {ec::ShiftPolicy::automatic, ec::ShiftPolicy::value}) {
      const ec::IluOptions options{.shift = policy, .shift_value = 0.5};
      const auto M = ec::ilu(A, options);
      const auto N = ec::ilu(ec::to_block_csr(A), options);
      ASSERT_EQ(M.report().ok, N.report().ok);
      EXPECT_EQ(M.report().perturbed_pivots, N.report().perturbed_pivots);
      EXPECT_EQ(M.report().shift, N.report().shift);
      EXPECT_EQ(M.report().perturbation, N.report().perturbation);
      ASSERT_EQ(M.report().bad_pivots.size(), N.report().bad_pivots.size());
      EXPECT_TRUE(!M.report().ok || same_result(M, N, A.rows()));
    }
  }
}

TEST(StructIlu, AZeroPivotIsNamedByItsGridPoint) {
  auto A = ec::problems::poisson({3, 3, 3}, ec::stencils::star7());
  for (int e = 0; e < 7; ++e) A.block(A.grid().index(1, 2, 0), e)[0] = 0;
  const auto M = ec::ilu(A, {.shift = ec::ShiftPolicy::none});
  EXPECT_FALSE(M.report().ok);
  EXPECT_NE(M.report().message.find("grid point (1,2,0), component 0, row 7"), std::string::npos) << M.report().message;
  ASSERT_FALSE(M.report().bad_pivots.empty());
  EXPECT_EQ(M.report().bad_pivots[0].row, 7);
  EXPECT_EQ(M.report().bad_pivots[0].kind, ec::PivotNote::Kind::zero);
  ec::Vector<double> r(27, 1.0), z(27);
  EXPECT_ERROR(M.apply(r, z), bad_argument, "failed factorization");
}

TEST(StructIlu, NanInTheMatrixIsReportedWithItsRow) {
  auto A = ec::problems::poisson({3, 3, 3}, ec::stencils::star7());
  A.block(13, 6)[0] = std::numeric_limits<double>::quiet_NaN();
  const auto M = ec::ilu(A);
  EXPECT_FALSE(M.report().ok);
  ASSERT_FALSE(M.report().bad_pivots.empty());
  EXPECT_EQ(M.report().bad_pivots[0].kind, ec::PivotNote::Kind::nonfinite_input);
  EXPECT_EQ(M.report().bad_pivots[0].row, 13);
}

TEST(StructIc, EqualsBlockCsrIcAndNeedsSymmetry) {
  for (const auto& name : {"star7", "box27"}) {
    const auto A = ec::problems::poisson({6, 5, 4}, ec::stencils::named(name));
    const auto M = ec::ic(A);
    const auto N = ec::ic(ec::to_block_csr(A));
    EXPECT_TRUE(M.report().ok);
    EXPECT_EQ(M.report().name, "ic");
    EXPECT_TRUE(same_result(M, N, A.rows()));
  }
  const auto B = ec::problems::convection_diffusion({4, 4, 4}, ec::stencils::star7());
  EXPECT_ERROR((void)ec::ic(B), symmetry, "IC needs a symmetric matrix");
  const auto one_sided = ec::problems::random({4, 1, 1}, ec::Stencil({{-1, 0, 0}}), 1, 1);
  EXPECT_ERROR((void)ec::ic(one_sided), symmetry, "Inf");
}

TEST(StructIc, AnIndefiniteMatrixIsShiftedOrRefused) {
  auto A = ec::problems::poisson({4, 4, 1}, ec::stencils::star5());
  for (std::int64_t p = 0; p < 16; ++p) A.block(p, A.stencil().center())[0] = 1;
  const auto refused = ec::ic(A, {.shift = ec::ShiftPolicy::none});
  EXPECT_FALSE(refused.report().ok);
  const auto shifted = ec::ic(A);
  const auto expected = ec::ic(ec::to_block_csr(A));
  EXPECT_TRUE(shifted.report().ok);
  EXPECT_GT(shifted.report().shift, 0);
  EXPECT_EQ(shifted.report().shift, expected.report().shift);
  EXPECT_TRUE(same_result(shifted, expected, 16));
}

TEST(StructIlu, RefactorAllocatesNothingAndEqualsAFreshFactorization) {
  const auto A = ec::problems::random({6, 5, 4}, ec::stencils::star7(), 3, 1);
  const auto B = ec::problems::random({6, 5, 4}, ec::stencils::star7(), 3, 2);
  auto M = ec::ilu(A);
  const auto before = ec::allocation_count();
  EXPECT_TRUE(M.refactor(B).ok);
  EXPECT_EQ(ec::allocation_count(), before);
  EXPECT_TRUE(same_result(M, ec::ilu(B), A.rows()));
}

TEST(StructIlu, RowsThatDominateNeedNoProbeWhateverTheirScale) {
  // A probe would be two sweeps and a vector of its own; 20 points a line are no whole number of vectors.
  const ec::Grid grid{20, 7, 6};
  for (const char* name : {"star5", "box9", "star7", "box27", "star13"}) {
    for (const int dof : {1, 2, 3, 5}) {
      const auto stencil = ec::stencils::named(name);
      auto A = ec::problems::random(grid, stencil, dof, 3);
      const std::size_t bb = static_cast<std::size_t>(dof) * dof, points = static_cast<std::size_t>(grid.points());
      const std::span<double> values = A.values();
      for (std::size_t s = 0; s < values.size(); ++s) {
        values[s] = std::ldexp(values[s], static_cast<int>(s / bb % points % 7) - 3);
      }
      auto M = ec::ilu(A);
      const auto before = ec::allocation_count();
      ASSERT_TRUE(M.refactor(A).ok);
      EXPECT_EQ(ec::allocation_count(), before) << name << " b = " << dof;
      ec::Vector<double> ones(grid.points() * dof, 1.0), z(ones.size());
      M.apply(ones, z);
      double largest = 0;
      for (const double value : z) largest = std::max(largest, std::abs(value));
      EXPECT_GE(M.report().growth, largest * A.norm_inf() * (1 - 1e-12));
      EXPECT_LT(M.report().growth, 1e8);
    }
  }
}

TEST(StructIlu, RefactorRefusesAnotherShape) {
  auto M = ec::ilu(ec::problems::poisson({4, 4, 4}, ec::stencils::star7()));
  const auto refactor = [&](const Matrix& A) { static_cast<void>(M.refactor(A)); };
  EXPECT_ERROR(refactor(ec::problems::poisson({4, 4, 2}, ec::stencils::star7())), structure, "got grid 4x4x2");
  EXPECT_ERROR(refactor(ec::problems::poisson({4, 4, 4}, ec::stencils::box27())), structure, "27 entries");
  EXPECT_ERROR(refactor(ec::problems::random({4, 4, 4}, ec::stencils::star7(), 2, 1)), structure, "2 unknowns");
  const auto csr = ec::to_block_csr(ec::problems::poisson({4, 4, 4}, ec::stencils::star7()));
  EXPECT_ERROR(static_cast<void>(M.refactor(csr)), bad_argument, "structured");
}

/// A on a larger stencil, zero where it had nothing: block CSR then factors the same pattern.
Matrix embedded(const Matrix& A, const ec::Stencil& larger) {
  Matrix B(A.grid(), larger, A.dof());
  B.fill([&](std::int64_t i, std::int64_t j, std::int64_t k, int e, std::span<double> block) {
    const int source = A.stencil().find(larger.offsets()[static_cast<std::size_t>(e)]);
    if (source >= 0) std::ranges::copy(A.block(A.grid().index(i, j, k), source), block.begin());
  });
  return B;
}

TEST(StructIlu, FillGrowsTheStencil) {
  for (const int dof : {1, 2}) {
    for (const auto& name : {"star5", "star7", "star13", "box27"}) {
      const auto A = ec::problems::random({17, 5, 4}, ec::stencils::named(name), dof, 3);
      for (const int fill : {1, 2}) {
        const auto larger = ec::grown(A.stencil(), fill);
        auto M = ec::ilu(A, {.fill = fill});
        const auto N = ec::ilu(ec::to_block_csr(embedded(A, larger)));
        ASSERT_TRUE(same(M.lower(), N.lower())) << name << " fill " << fill;
        ASSERT_TRUE(same_result(M, N, A.rows())) << name << " fill " << fill;
        EXPECT_EQ(M.report().fill, fill);
        EXPECT_GT(M.report().fill_ratio, 1);
        const auto B = ec::problems::random({17, 5, 4}, ec::stencils::named(name), dof, 4);
        EXPECT_TRUE(M.refactor(B).ok);
        EXPECT_TRUE(same_result(M, ec::ilu(B, {.fill = fill}), A.rows()));
      }
    }
  }
}

TEST(StructIlu, IluOneOfStar7IsDiamond13) {
  const auto larger = ec::grown(ec::stencils::star7(), 1), expected = ec::stencils::diamond13();
  EXPECT_TRUE(std::ranges::equal(larger.offsets(), expected.offsets()));
  const auto same_again = ec::grown(larger, 0);
  EXPECT_TRUE(std::ranges::equal(same_again.offsets(), expected.offsets()));
}

/// Lines longer than several steps, sides that do not divide, more threads than lines.
TEST(StructIlu, EveryThreadCountGivesTheReferencesBits) {
  for (const auto& name : ec::stencils::names()) {
    for (const int dof : {1, 3}) {
      for (const ec::Grid grid : {ec::Grid{67, 9, 8}, ec::Grid{40, 23, 1}, ec::Grid{24, 8, 11}, ec::Grid{8, 3, 30}}) {
        const auto A = ec::problems::random(grid, ec::stencils::named(name), dof, 5);
        const auto N = ec::ilu(A, {.schedule = ec::SweepSchedule::sequential});
        for (const int count : {1, 3}) {
          ec::set_threads(count);
          auto M = ec::ilu(A);
          ASSERT_TRUE(same(M.lower(), N.lower())) << name << " dof " << dof << " threads " << count;
          ASSERT_TRUE(same(M.upper(), N.upper())) << name << " dof " << dof << " threads " << count;
          ASSERT_TRUE(same_result(M, N, A.rows())) << name << " dof " << dof << " threads " << count;
        }
        ec::set_threads(0);
      }
    }
  }
}

TEST(StructIlu, AnotherOrderingGoesThroughBlockCsrAndSaysSo) {
  const auto A = ec::problems::convection_diffusion({5, 4, 3}, ec::stencils::star7());
  const ec::IluOptions options{.ordering = ec::Ordering::rcm};
  auto M = ec::ilu(A, options);
  EXPECT_TRUE(same_result(M, ec::ilu(ec::to_block_csr(A), options), A.rows()));
  ASSERT_FALSE(M.report().remarks.empty());
  EXPECT_NE(M.report().remarks.back().find("converted to block CSR"), std::string::npos);
  const auto B = ec::problems::convection_diffusion({5, 4, 3}, ec::stencils::star7(), {.peclet = 50});
  EXPECT_TRUE(M.refactor(B).ok);
  EXPECT_TRUE(same_result(M, ec::ilu(B, options), A.rows()));
}

TEST(StructIlu, ALaterChangeOfTheMatrixLeavesTheFactorsAlone) {
  // On star7 the factors share A's values off the diagonal.
  auto A = ec::problems::random({12, 5, 4}, ec::stencils::star7(), 1, 8);
  const auto M = ec::ilu(A), N = ec::ilu(ec::to_block_csr(A));
  A.block(40, 2)[0] = 1e6;
  EXPECT_TRUE(same_result(M, N, A.rows()));
  A.fill([](auto...) {});
  EXPECT_TRUE(same_result(M, N, A.rows()));
  EXPECT_EQ(A.block(40, 2)[0], 1e6);
}

TEST(StructIlu, RefusesWrongVectorsAndOptions) {
  const auto A = ec::problems::poisson({3, 3, 3}, ec::stencils::star7());
  const auto M = ec::ilu(A);
  ec::Vector<double> right(27, 1.0), wrong(26);
  EXPECT_ERROR(M.apply(right, wrong), size_mismatch, "got 26 elements, expected 27");
  EXPECT_ERROR(M.apply(wrong, right), size_mismatch, "got 26 elements, expected 27");
  EXPECT_ERROR((void)ec::ilu(A, {.fill = -1}), bad_argument, "fill level");
}

TEST(StructIlu, SinglePrecisionFactorsToo) {
  ec::StructMatrix<float> A({4, 3, 2}, ec::stencils::star7());
  A.fill([](auto, auto, auto, int e, std::span<float> a) { a[0] = e == 3 ? 6.0F : -1.0F; });
  const auto M = ec::ilu(A);
  const auto N = ec::ilu(ec::to_block_csr(A));
  const ec::Vector<float> r(24, 1.0F);
  ec::Vector<float> z(24), w(24);
  M.apply(r, z);
  N.apply(r, w);
  EXPECT_TRUE(std::equal(z.begin(), z.end(), w.begin()));
}

}  // namespace
