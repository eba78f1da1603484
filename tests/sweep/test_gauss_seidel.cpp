// SPDX-License-Identifier: BSD-3-Clause
// Exact Gauss-Seidel on stencils: by hand, against the textbook's two sweeps and its own identities, and bit for bit against
// the point-by-point reference on every side around the packs, thread count and instruction set.
#include "echelon/sweep/grid/gauss_seidel.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "echelon/base/threads.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/counted_new.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/drawn_stencil.hpp"
#include "tests/reference/plain_gauss_seidel.hpp"

namespace ec = echelon;
namespace {

template <class T>
ec::Vector<T> wavy(std::int64_t n, double phase = 0.5) {
  ec::Vector<T> r(n);
  for (std::int64_t i = 0; i < n; ++i) r[i] = static_cast<T>(std::sin(1.7 * static_cast<double>(i) + phase));
  return r;
}

template <class T>
ec::StructMatrix<T> random_matrix(ec::Grid grid, const ec::Stencil& stencil, std::uint64_t seed = 7) {
  const auto A = ec::problems::random(grid, stencil, 1, seed);
  ec::StructMatrix<T> B(grid, stencil);
  const auto from = A.values();
  const auto to = B.values();
  for (std::size_t n = 0; n < from.size(); ++n) to[n] = static_cast<T>(from[n]);
  return B;
}

template <class T>
bool same(const ec::Vector<T>& a, const ec::Vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0;
}

/// Every call with the reference's bits; returns what differs.
template <class T>
const char* difference(const ec::StructMatrix<T>& A, const ec::GaussSeidel<T>& S) {
  const std::int64_t n = A.rows();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const ec::reference::PlainGaussSeidel<T> plain(A);
  const auto r = wavy<T>(n);
  ec::Vector<T> half(n, nan), x(n, nan), out(n, nan), want_half(n), want_x(n), want_out(n);
  S.from_zero(r, half, x);
  plain.from_zero(r, want_half, want_x);
  if (!same(half, want_half)) return "half of a zero guess";
  if (!same(x, want_x)) return "x of a zero guess";

  S.residual_after_zero(r, half, x, out);
  plain.residual_after_zero(r, half, x, want_out);
  if (!same(out, want_out)) return "residual";
  const ec::Grid g = A.grid(), c{(g.nx + 1) / 2, (g.ny + 1) / 2, (g.nz + 1) / 2};
  ec::Vector<T> coarse(c.points(), nan);
  S.coarse_residual_after_zero(r, half, x, coarse);
  for (std::int64_t p = 0; p < c.points(); ++p) {
    const std::int64_t i = p % c.nx, j = p / c.nx % c.ny, k = p / c.nx / c.ny;
    if (coarse[p] != out[g.index(2 * i, 2 * j, 2 * k)]) return "coarse residual";
  }

  auto y = wavy<T>(n, 2), want_y = y.clone();
  half.fill(nan);
  S.from_guess(r, half, y);
  plain.from_guess(r, want_half, want_y);
  if (!same(half, want_half)) return "half of a guess";
  if (!same(y, want_y)) return "x of a guess";

  x.fill(nan);
  S.forward(r, x);
  plain.forward_alone(r, want_x);
  if (!same(x, want_x)) return "a sweep forward";
  out.fill(nan);
  S.residual_after_forward(x, out);
  plain.residual_after_forward(x, want_out);
  if (!same(out, want_out)) return "residual after a sweep";
  auto z = wavy<T>(n, 3), want_z = z.clone();
  S.backward(r, z);
  plain.backward_alone(r, want_z);
  if (!same(z, want_z)) return "a sweep back";

  S.multiply(x, out);
  A.apply(x, want_out);
  if (!same(out, want_out)) return "product";
  out.fill(nan);
  S.multiply_dotted(x, out);
  if (!same(out, want_out)) return "dotted product";
  return "";
}

class EveryThreadCount : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { ec::set_threads(GetParam()); }
  void TearDown() override { ec::set_threads(0); }
};
INSTANTIATE_TEST_SUITE_P(GaussSeidel, EveryThreadCount, testing::Values(1, 2, 3, 4));

TEST(GaussSeidel, ThreePointsByHand) {
  // ⎡ 2 −1   ⎤     forward: x₀ = 2/2 = 1, x₁ = (1+1)/2 = 1, x₂ = (1+1)/4 = ½;  D x = 2, 2, 2
  // ⎢−1  2 −1⎥     backward: x₂ = 2/4 = ½, x₁ = (2+½)/2 = 5/4, x₀ = (2+5/4)/2 = 13/8
  // ⎣   −1  4⎦
  ec::StructMatrix<double> A({3, 1, 1}, ec::Stencil({{-1, 0, 0}, {1, 0, 0}}));
  A.fill([](std::int64_t i, auto, auto, int e, std::span<double> a) { a[0] = e != 1 ? -1 : i == 2 ? 4 : 2; });
  const ec::GaussSeidel<double> S(A);
  const ec::Vector<double> r{2, 1, 1};
  ec::Vector<double> half(3), x(3), out(3), coarse(2);
  S.from_zero(r, half, x);
  EXPECT_TRUE(same(half, {2, 2, 2}));
  EXPECT_TRUE(same(x, {1.625, 1.25, 0.5}));
  S.residual_after_zero(r, half, x, out);  // r − half − L x = 0, 1 − 2 + 13/8, 1 − 2 + 5/4
  EXPECT_TRUE(same(out, {0, 0.625, 0.25}));
  S.coarse_residual_after_zero(r, half, x, coarse);
  EXPECT_TRUE(same(coarse, {0, 0.25}));
  S.multiply(x, out);
  EXPECT_TRUE(same(out, {2, 0.375, 0.75}));
  EXPECT_EQ(S.multiply_dotted(x, out), 2 * 1.625 + 0.375 * 1.25 + 0.75 * 0.5);
  // One sweep: x = 1, 1, ½, and r − A x = −U x = 1, ½, 0; back from there: x₂ = (1+1)/4, x₁ = (1+1+½)/2, x₀ = (2+5/4)/2.
  S.forward(r, x);
  EXPECT_TRUE(same(x, {1, 1, 0.5}));
  S.residual_after_forward(x, out);
  EXPECT_TRUE(same(out, {1, 0.5, 0}));
  S.backward(r, x);
  EXPECT_TRUE(same(x, {1.625, 1.25, 0.5}));
  // From x = 0, 2, 4: x₀ = (2+2)/2 = 2, x₁ = (1+2+4)/2 = 3.5, x₂ = 4.5/4 = 1.125; w = 2, 3, 4.5.
  ec::Vector<double> guess{0, 2, 4};
  S.from_guess(r, half, guess);
  EXPECT_TRUE(same(half, {2, 3, 4.5}));
  EXPECT_TRUE(same(guess, {(2 + 2.0625) / 2, 2.0625, 1.125}));
}

TEST(GaussSeidel, IsTheTextbooksTwoSweepsAndItsIdentitiesHold) {
  for (const auto& name : ec::stencils::names()) {
    const auto A = random_matrix<double>({11, 6, 5}, ec::stencils::named(name));
    const std::int64_t n = A.rows();
    const ec::GaussSeidel<double> S(A);
    const auto r = wavy<double>(n);
    for (const bool guess : {false, true}) {
      auto x = guess ? wavy<double>(n, 3) : ec::Vector<double>(n, 0.0);
      auto want = x.clone();
      const auto B = ec::to_block_csr(A);
      const auto relax = [&](std::int64_t p) {
        double sum = r[p];
        for (std::int64_t e = B.row_start()[p]; e < B.row_start()[p + 1]; ++e) {
          if (B.column()[e] != p) sum -= B.values()[e] * want[B.column()[e]];
        }
        want[p] = sum / B.at(p, p);
      };
      for (std::int64_t p = 0; p < n; ++p) relax(p);
      for (std::int64_t p = n - 1; p >= 0; --p) relax(p);
      ec::Vector<double> half(n), out(n), true_residual(n);
      guess ? S.from_guess(r, half, x) : S.from_zero(r, half, x);
      for (std::int64_t p = 0; p < n; ++p) ASSERT_NEAR(x[p], want[p], 1e-13) << name << " guess " << guess;
      // A x = half + L x after either.
      S.residual_after_zero(r, half, x, out);
      A.residual(r, x, true_residual);
      for (std::int64_t p = 0; p < n; ++p) ASSERT_NEAR(out[p], true_residual[p], 1e-12) << name << " guess " << guess;
    }
  }
}

template <class T>
void expect_reference_bits() {
  for (const auto& name : ec::stencils::names()) {
    const auto stencil = ec::stencils::named(name);
    for (std::int64_t side = 1; side <= 34; ++side) {
      for (const ec::Grid grid : {ec::Grid{side, 1, 1}, ec::Grid{side, 5, 1}, ec::Grid{side, 3, 4}}) {
        const auto A = random_matrix<T>(grid, stencil);
        ASSERT_STREQ(difference(A, ec::GaussSeidel<T>(A)), "") << name << " " << side << "x" << grid.ny << "x" << grid.nz;
      }
    }
  }
}
TEST(GaussSeidel, HasTheReferencesBitsOnEverySide) { expect_reference_bits<double>(); }
TEST(GaussSeidel, HasTheReferencesBitsOnEverySideFp32) { expect_reference_bits<float>(); }

TEST(GaussSeidel, HasTheReferencesBitsOnAnyStencil) {
  ASSERT_TRUE(rc::check("random stencils, wider than the grid too", [] {
    const ec::Grid grid{*rc::gen::inRange(1, 40), *rc::gen::inRange(1, 11), *rc::gen::inRange(1, 4)};
    const auto A = random_matrix<double>(grid, ec::reference::drawn_stencil(), *rc::gen::arbitrary<std::uint64_t>());
    RC_ASSERT(std::string(difference(A, ec::GaussSeidel<double>(A))).empty());
  }));
}

TEST_P(EveryThreadCount, GivesTheReferencesBits) {
  // Many planes (stripes of lines), few (lines in turn, in pieces), and stencils whose dependencies differ forward and back.
  const ec::Stencil skew({{-1, -2, 0}, {3, -1, 0}, {2, 0, 0}, {-3, 1, 0}, {0, 0, 1}}, "skew");
  const auto wide = ec::stencils::box27();
  for (const ec::Grid grid : {ec::Grid{70, 50, 23}, ec::Grid{333, 301, 1}, ec::Grid{100003, 1, 1}, ec::Grid{9, 2, 5000}}) {
    for (const auto& stencil : {wide, skew, ec::stencils::star13()}) {
      const auto A = random_matrix<double>(grid, stencil);
      ASSERT_STREQ(difference(A, ec::GaussSeidel<double>(A)), "") << stencil.name() << " nx " << grid.nx;
    }
  }
  const auto B = random_matrix<float>({70, 50, 23}, wide);
  ASSERT_STREQ(difference(B, ec::GaussSeidel<float>(B)), "");
}

TEST_P(EveryThreadCount, AddsTheDottedProductInTheFixedOrder) {
  const auto A = random_matrix<double>({70, 50, 23}, ec::stencils::star7());
  const auto x = wavy<double>(A.rows());
  ec::Vector<double> y(A.rows());
  const double got = ec::GaussSeidel<double>(A).multiply_dotted(x, y);
  ec::set_threads(1);
  EXPECT_EQ(got, ec::GaussSeidel<double>(A).multiply_dotted(x, y));
  long double sum = 0;
  for (std::int64_t p = 0; p < A.rows(); ++p) sum += static_cast<long double>(x[p]) * y[p];
  EXPECT_NEAR(got, static_cast<double>(sum), 1e-9);
}

TEST(GaussSeidel, EveryInstructionSetGivesTheReferencesBits) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const char* name : {"box27", "star7", "star13", "diamond25", "star5"}) {
      for (const ec::Grid grid : {ec::Grid{41, 6, 4}, ec::Grid{16, 5, 3}, ec::Grid{3, 3, 3}}) {
        const auto A = random_matrix<double>(grid, ec::stencils::named(name));
        EXPECT_STREQ(difference(A, ec::GaussSeidel<double>(A)), "") << name << " on " << hwy::TargetName(target);
        const auto B = random_matrix<float>(grid, ec::stencils::named(name));
        EXPECT_STREQ(difference(B, ec::GaussSeidel<float>(B)), "") << name << " FP32 on " << hwy::TargetName(target);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(GaussSeidel, WhatIsStoredForNeighboursOutsideTheGridIsNotUsed) {
  for (const char* name : {"star7", "box27", "star13"}) {
    auto A = random_matrix<double>({19, 4, 3}, ec::stencils::named(name));
    const auto clean = ec::GaussSeidel<double>(A);
    const ec::Grid g = A.grid();
    for (std::int64_t p = 0; p < g.points(); ++p) {
      for (int e = 0; e < A.stencil().size(); ++e) {
        const auto o = A.stencil().offsets()[static_cast<std::size_t>(e)];
        if (!g.contains(p % g.nx + o.x, p / g.nx % g.ny + o.y, p / g.nx / g.ny + o.z)) {
          A.block(p, e)[0] = std::numeric_limits<double>::quiet_NaN();
        }
      }
    }
    EXPECT_STREQ(difference(A, clean), "") << name;
    EXPECT_STREQ(difference(A, ec::GaussSeidel<double>(A)), "") << name;
  }
}

TEST(GaussSeidel, NaNReachesWhatDependsOnItAndNothingElse) {
  const auto A = random_matrix<double>({12, 5, 4}, ec::stencils::star7());
  const ec::GaussSeidel<double> S(A);
  auto r = wavy<double>(A.rows());
  ec::Vector<double> half(A.rows()), x(A.rows()), y(A.rows()), other_half(A.rows());
  S.from_zero(r, half, x);
  const ec::Grid g = A.grid();
  r[g.index(4, 2, 1)] = std::numeric_limits<double>::quiet_NaN();
  S.from_zero(r, other_half, y);
  for (std::int64_t p = 0; p < A.rows(); ++p) {
    const bool after = p % g.nx >= 4 && p / g.nx % g.ny >= 2 && p / g.nx / g.ny >= 1;
    EXPECT_EQ(std::isnan(other_half[p]), after) << "point " << p;
    if (!after) {
      EXPECT_EQ(other_half[p], half[p]);
    }
    EXPECT_TRUE(std::isnan(y[p])) << "everything is before the last point";
  }
}

TEST(GaussSeidel, NewValuesAllocateNothingNorDoTheCalls) {
  for (const int threads : {1, 2}) {
    ec::set_threads(threads);
    const auto A = random_matrix<double>({40, 40, 20}, ec::stencils::box27(), 1);
    const auto B = random_matrix<double>({40, 40, 20}, ec::stencils::box27(), 2);
    ec::GaussSeidel<double> S(A);
    const auto r = wavy<double>(A.rows());
    ec::Vector<double> half(A.rows()), x(A.rows()), out(A.rows()), coarse(20 * 20 * 10);
    S.from_zero(r, half, x);
    const auto arrays = ec::allocation_count();
    const long news = new_calls;
    S.refresh(B);
    S.from_zero(r, half, x);
    S.residual_after_zero(r, half, x, out);
    S.coarse_residual_after_zero(r, half, x, coarse);
    S.from_guess(r, half, x);
    S.multiply(x, out);
    S.multiply_dotted(x, out);
    EXPECT_EQ(ec::allocation_count(), arrays);
    EXPECT_EQ(new_calls, news);
    EXPECT_STREQ(difference(B, S), "");
  }
  ec::set_threads(0);
}

TEST(GaussSeidel, CallsOfSeveralThreadsDoNotDisturbEachOther) {
  const auto A = random_matrix<double>({30, 20, 10}, ec::stencils::box27());
  const ec::GaussSeidel<double> S(A);
  const auto r = wavy<double>(A.rows());
  ec::Vector<double> half(A.rows()), want(A.rows());
  S.from_zero(r, half, want);
  std::array<bool, 4> right{};
#pragma omp parallel for num_threads(4)
  for (int t = 0; t < 4; ++t) {
    ec::Vector<double> own_half(A.rows()), x(A.rows());
    S.from_zero(r, own_half, x);
    right[static_cast<std::size_t>(t)] = same(x, want);
  }
  for (const bool one : right) EXPECT_TRUE(one);
}

TEST(GaussSeidel, BadInputIsRefused) {
  EXPECT_ERROR(ec::GaussSeidel<double>(ec::problems::random({3, 3, 3}, ec::stencils::star7(), 2, 1)), bad_argument,
               "2 unknowns a point");
  auto A = random_matrix<double>({5, 4, 3}, ec::stencils::star7());
  const int center = A.stencil().center();
  for (const double bad : {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto B = random_matrix<double>({5, 4, 3}, ec::stencils::star7());
    B.block(28, center)[0] = bad;
    B.block(41, center)[0] = bad;
    EXPECT_ERROR(ec::GaussSeidel<double>{B}, structure, "diagonal");
    try {
      ec::GaussSeidel<double>{B};
    } catch (const ec::Error& error) {
      EXPECT_EQ(error.where(), "grid point (3,1,1), row 28");
    }
    ec::GaussSeidel<double> S(A);
    EXPECT_ERROR(S.refresh(B), structure, "diagonal");
    EXPECT_STREQ(difference(A, S), "") << "the old values stand";
  }
  // A stencil that was given without its centre has it, and a matrix without values there has zeros.
  EXPECT_ERROR(ec::GaussSeidel<double>(ec::StructMatrix<double>({2, 2, 1}, ec::Stencil({{1, 0, 0}}))), structure,
               "diagonal");
  ec::GaussSeidel<double> S(A);
  EXPECT_ERROR(S.refresh(random_matrix<double>({5, 3, 4}, ec::stencils::star7())), structure, "expected 5x4x3");
  EXPECT_ERROR(S.refresh(random_matrix<double>({5, 4, 3}, ec::stencils::box27())), structure, "27 entries");
  ec::Vector<double> r(60), half(60), x(60), shorter(59);
  EXPECT_ERROR(S.from_zero(shorter, half, x), size_mismatch, "r");
  EXPECT_ERROR(S.from_zero(r, shorter, x), size_mismatch, "half");
  EXPECT_ERROR(S.from_zero(r, r, x), bad_argument, "same vector");
  EXPECT_ERROR(S.from_guess(r, half, r), bad_argument, "same vector");
  EXPECT_ERROR(S.residual_after_zero(r, half, x, x), bad_argument, "same vector");
  EXPECT_ERROR(S.coarse_residual_after_zero(r, half, x, shorter), size_mismatch, "result");
  EXPECT_ERROR(S.multiply(x, x), bad_argument, "same vector");
}

TEST(GaussSeidel, SaysWhatItMoves) {
  const auto A = ec::problems::poisson({3, 2, 1}, ec::stencils::star5());
  const ec::GaussSeidel<double> S(A);
  const auto b = S.traffic();  // 6 points, 7 neighbours before and after
  EXPECT_EQ(b.zero, 8 * (14 + 6 + 6) + 32 * 6);
  EXPECT_EQ(b.guess, 8 * (14 + 6 + 7 + 6) + 48 * 6);
  EXPECT_EQ(b.residual, 8 * 7 + 32 * 6);
  EXPECT_EQ(b.multiply, 8 * (14 + 6) + 16 * 6);
  EXPECT_EQ(S.rows(), 6);
  EXPECT_GE(S.bytes(), 2 * 8 * (3 + 3) * 8);
}

}  // namespace
