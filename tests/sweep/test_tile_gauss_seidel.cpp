// SPDX-License-Identifier: BSD-3-Clause
// Symmetric Gauss-Seidel in tile order on the host: two points by hand, the bits of `sgs`, the smoother of the host, the
// property that the answer stays, new values, bad input; the kernel that makes the triangles, thread by thread.
#include "echelon/sweep/grid_gpu/tile_gauss_seidel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "echelon/factor/grid_gpu/unit_triangles_row.inl"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/sweep/grid/gauss_seidel.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/emulated_place.hpp"

namespace echelon {
namespace {

using V = Vector<double>;
using Matrix = StructMatrix<double>;

V wavy(std::int64_t n, double phase = 0.5) {
  V v(n);
  for (std::int64_t i = 0; i < n; ++i) v[i] = std::sin(1.7 * static_cast<double>(i) + phase);
  return v;
}

V kept(const TileGaussSeidel& S, const V& natural) {
  V v(S.matrix().kept_size(), 0.0);
  S.matrix().keep(natural, v);
  return v;
}

V natural(const TileGaussSeidel& S, const V& v) {
  V back(S.matrix().rows());
  S.matrix().give_back(v, back);
  return back;
}

V from_zero(const TileGaussSeidel& S, const V& r) {
  V x(S.matrix().kept_size(), 0.0);
  S.from_zero(kept(S, r), x);
  return natural(S, x);
}

V from_guess(const TileGaussSeidel& S, const V& r, const V& guess) {
  V x = kept(S, guess);
  S.from_guess(kept(S, r), x);
  return natural(S, x);
}

bool same(const V& a, const V& b) { return std::ranges::equal(a, b); }

TEST(TileGaussSeidel, TwoPointsByHand) {
  // ⎡4 2⎤: r = (4, 7): y = (4, 6), x₁ = 2, x₀ = (4 − 4)/4 = 0.
  // ⎣1 3⎦  from (1, 1): r − A x = (−2, 3): y = (−2, 3.5), 7/6, (−2 − 7/3)/4
  Matrix A({2, 1, 1}, Stencil({{-1, 0, 0}, {1, 0, 0}}));
  A.fill([](std::int64_t i, auto, auto, int e, std::span<double> a) { a[0] = e == 0 ? 1 : e == 2 ? 2 : i == 0 ? 4 : 3; });
  const TileGaussSeidel S(A, Device::host());
  const V x = from_zero(S, {4, 7}), y = from_guess(S, {4, 7}, {1, 1});
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[1], 2);
  EXPECT_NEAR(y[0], 1 - 13.0 / 12, 1e-15);
  EXPECT_NEAR(y[1], 1 + 7.0 / 6, 1e-15);
}

TEST(TileGaussSeidel, HasTheBitsOfSgsOnTheHost) {
  for (const auto& name : stencils::names()) {
    const Stencil stencil = stencils::named(name);
    for (const Grid grid : {Grid{19, 6, 5}, Grid{1, 9, 2}, Grid{16, 1, 1}, Grid{2, 2, 2}, Grid{1, 1, 1}}) {
      const auto A = problems::random(grid, stencil, 1, 5);
      const TileGaussSeidel S(A, Device::host());
      const auto M = sgs(A);
      const V r = wavy(A.rows()), guess = wavy(A.rows(), 3.0);
      V z(A.rows()), w(A.rows());
      M.apply(r, z);
      ASSERT_TRUE(same(from_zero(S, r), z)) << name;
      A.careful_residual(r, guess, w);
      M.apply(w, z);
      for (std::int64_t i = 0; i < z.size(); ++i) z[i] += guess[i];
      ASSERT_TRUE(same(from_guess(S, r, guess), z)) << name;
    }
  }
}

TEST(TileGaussSeidel, IsTheSmootherOfTheHost) {
  const auto A = problems::poisson({13, 8, 9}, stencils::box27());
  const GaussSeidel<double> plain(A);
  const TileGaussSeidel S(A, Device::host());
  const V r = wavy(A.rows()), guess = wavy(A.rows(), 3.0);
  V half(A.rows()), x(A.rows()), y = guess.clone();
  plain.from_zero(r, half, x);
  plain.from_guess(r, half, y);
  const V zero = from_zero(S, r), further = from_guess(S, r, guess);
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    ASSERT_NEAR(zero[i], x[i], 1e-14);
    ASSERT_NEAR(further[i], y[i], 1e-14);
  }
}

TEST(TileGaussSeidel, LeavesTheAnswerAndTakesOneVectorForBoth) {
  const auto A = problems::poisson({7, 6, 5}, stencils::box27());
  const TileGaussSeidel S(A, Device::host());
  const V ones(A.rows(), 1.0);
  V b(A.rows());
  A.apply(ones, b);
  EXPECT_TRUE(same(from_guess(S, b, ones), ones)) << "whole numbers: the residual is zero";
  V x = kept(S, b);
  S.from_zero(x, x);
  EXPECT_TRUE(same(natural(S, x), from_zero(S, b)));
  S.settle();
}

TEST(TileGaussSeidel, NewValuesAreThoseOfANewOne) {
  const Grid grid{9, 8, 7};
  const auto A = problems::random(grid, stencils::box27(), 1, 1), B = problems::random(grid, stencils::box27(), 1, 2);
  TileGaussSeidel S(A, Device::host());
  const auto stored = S.bytes();
  S.refresh(B);
  const TileGaussSeidel fresh(B, Device::host());
  const V r = wavy(A.rows()), guess = wavy(A.rows(), 3.0);
  EXPECT_TRUE(same(from_zero(S, r), from_zero(fresh, r)));
  EXPECT_TRUE(same(from_guess(S, r, guess), from_guess(fresh, r, guess)));
  EXPECT_EQ(S.bytes(), stored);
  const auto points = static_cast<double>(A.rows());
  EXPECT_GE(S.traffic().zero, points * (8 * 27 + 32));
  EXPECT_GE(S.traffic().guess, points * (16 * 27 + 80));
  EXPECT_GE(S.traffic().multiply, points * (8 * 27 + 16));
}

TEST(TileGaussSeidel, RefusesWhatHasNoMeaning) {
  auto A = problems::random({5, 4, 3}, stencils::star7(), 1, 21);
  TileGaussSeidel S(A, Device::host());
  const V r = wavy(A.rows());
  const V before = from_zero(S, r);
  EXPECT_ERROR(TileGaussSeidel(problems::random({5, 4, 3}, stencils::star7(), 2, 1), Device::host()), bad_argument,
               "2 unknowns a point, expected 1");
  EXPECT_ERROR(S.refresh(problems::random({5, 4, 4}, stencils::star7(), 1, 1)), structure, "differs");
  for (const double bad : {0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    A.block(17, A.stencil().center())[0] = bad;
    EXPECT_ERROR(TileGaussSeidel(A, Device::host()), structure, "grid point (2,3,0), row 17");
    EXPECT_ERROR(S.refresh(A), structure, "the diagonal is");
  }
  EXPECT_TRUE(same(from_zero(S, r), before)) << "the old values stand";
  V small(3), fits(S.matrix().kept_size());
  EXPECT_ERROR(S.from_zero(small, fits), size_mismatch, "r");
  EXPECT_ERROR(S.from_guess(fits, small), size_mismatch, "x");
}

TEST(UnitTriangles, ThreadsDoNotDependOnEachOther) {
  const Grid grid{5, 4, 3};
  const auto A = problems::random(grid, stencils::box27(), 1, 8);
  const auto offsets = A.stencil().offsets();
  const int center = A.stencil().center();
  const std::int64_t points = grid.points();
  for (int repeat = 0; repeat < 2; ++repeat) {  // forwards and backwards
    Array<double> values(A.values());
    const unit_triangles::View view{grid, offsets.data(), center, values.data()};
    reference::EmulatedPlace::each(
        0, points * center,
        [&](std::int64_t t) { unit_triangles::lower(view, static_cast<int>(t / points), t % points); }, "lower");
    reference::EmulatedPlace::each(0, points, [&](std::int64_t t) { unit_triangles::diagonal(view, t); }, "diagonal");
    for (std::int64_t p = 0; p < points; ++p) {
      for (int e = 0; e < A.stencil().size(); ++e) {
        const Offset o = offsets[static_cast<std::size_t>(e)];
        const std::int64_t i = p % grid.nx + o.x, j = p / grid.nx % grid.ny + o.y, k = p / grid.nx / grid.ny + o.z;
        double expected = A.block(p, e)[0];
        if (e == center) {
          expected = 1 / expected;
        } else if (e < center && grid.contains(i, j, k)) {
          expected *= 1 / A.block(grid.index(i, j, k), center)[0];
        }
        ASSERT_EQ(values[e * points + p], expected) << p << ", entry " << e;
      }
    }
  }
}

}  // namespace
}  // namespace echelon
