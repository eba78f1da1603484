// SPDX-License-Identifier: BSD-3-Clause
// Injection of even points and its transpose in tile order: a line by hand, the definition in natural order on drawn grids
// and tiles, padding, the kernel's bodies thread by thread in either order, and what is refused.
#include "echelon/matrix/grid_gpu/injection.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "echelon/matrix/grid_gpu/injection_row.inl"
#include "echelon/matrix/grid_gpu/tile_matrix.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/emulated_place.hpp"
#include "tests/reference/tile_order_values.hpp"

namespace echelon {
namespace {

using V = Vector<double>;

TileOrder order_of(const Grid& grid, const Stencil& stencil, TileShape shape) {
  return TileOrder(grid, stencil, 1, shape, Device::host());
}

Grid halved(const Grid& g) { return {(g.nx + 1) / 2, (g.ny + 1) / 2, (g.nz + 1) / 2}; }

V wavy(std::int64_t n, double phase) {
  V v(n);
  for (std::int64_t i = 0; i < n; ++i) v[i] = std::sin(1.3 * static_cast<double>(i) + phase);
  return v;
}

double squared(const V& v) {
  double sum = 0;
  for (const double value : v) sum += value * value;
  return sum;
}

TEST(TileInjection, FivePointsByHand) {
  const auto fine = order_of({5, 1, 1}, stencils::star7(), {1, 1}), coarse = order_of({3, 1, 1}, stencils::star7(), {1, 1});
  const TileInjection injection(fine, coarse);
  const V r = reference::in_tile_order(fine, V{10, 20, 30, 40, 50}), Ax = reference::in_tile_order(fine, V{1, 2, 3, 4, 5});
  V c(coarse.vector_scalars(), 7.0), x = reference::in_tile_order(fine, V{0, 1, 2, 3, 4});
  injection.restrict_residual(r, Ax, c);
  const V natural = reference::in_natural_order(coarse, c);
  EXPECT_EQ(natural[0], 9);
  EXPECT_EQ(natural[1], 27);
  EXPECT_EQ(natural[2], 45);
  injection.add(c, x);
  const V added = reference::in_natural_order(fine, x);
  for (const auto& [at, value] : {std::pair{0, 9.0}, {1, 1.0}, {2, 29.0}, {3, 3.0}, {4, 49.0}}) EXPECT_EQ(added[at], value);
}

TEST(TileInjection, IsTheDefinitionInNaturalOrder) {
  for (const Grid grid : {Grid{16, 16, 16}, Grid{9, 6, 7}, Grid{1, 8, 5}, Grid{30, 2, 1}, Grid{2, 2, 2}, Grid{1, 1, 1}}) {
    const Grid half = halved(grid);
    for (const TileShape shape : {TileShape{4, 4}, TileShape{3, 5}, TileShape{32, 16}}) {
      for (const auto& stencil : {stencils::star7(), stencils::box27()}) {
        const auto fine = order_of(grid, stencil, shape), coarse = order_of(half, stencil, {shape.z, shape.y});
        const TileInjection injection(fine, coarse);
        EXPECT_EQ(injection.bytes(), 4 * coarse.vector_scalars());
        const V r = wavy(grid.points(), 0.1), Ax = wavy(grid.points(), 2.0), x = wavy(grid.points(), 3.0);
        V c(coarse.vector_scalars(), 7.0), to = reference::in_tile_order(fine, x);
        injection.restrict_residual(reference::in_tile_order(fine, r), reference::in_tile_order(fine, Ax), c);
        injection.add(c, to);
        const V got = reference::in_natural_order(coarse, c), sum = reference::in_natural_order(fine, to);
        V expected = x.clone();
        for (std::int64_t k = 0; k < half.nz; ++k) {
          for (std::int64_t j = 0; j < half.ny; ++j) {
            for (std::int64_t i = 0; i < half.nx; ++i) {
              const std::int64_t even = grid.index(2 * i, 2 * j, 2 * k);
              ASSERT_EQ(got[half.index(i, j, k)], r[even] - Ax[even]);
              expected[even] += got[half.index(i, j, k)];
            }
          }
        }
        ASSERT_TRUE(std::ranges::equal(sum, expected));
        // Padding is zero, and stays it.
        EXPECT_NEAR(squared(c), squared(got), 1e-12 * (1 + squared(got)));
        EXPECT_NEAR(squared(to), squared(sum), 1e-12 * (1 + squared(sum)));
      }
    }
  }
}

TEST(TileInjection, ThreadsDoNotDependOnEachOther) {
  const std::int32_t place[] = {4, -1, 0, 2, -1, 6};
  const V r = wavy(7, 0.3), Ax = wavy(7, 1.0), x = wavy(7, 2.0);
  for (int repeat = 0; repeat < 2; ++repeat) {  // forwards and backwards
    V coarse(6, 7.0), fine = x.clone();
    reference::EmulatedPlace::each(
        0, 6, [&](std::int64_t at) { injection::restrict_row(place, at, r.data(), Ax.data(), coarse.data()); }, "injection");
    reference::EmulatedPlace::each(
        0, 6, [&](std::int64_t at) { injection::add_row(place, at, coarse.data(), fine.data()); }, "its transpose");
    for (int c = 0; c < 6; ++c) {
      const int f = place[c];
      EXPECT_EQ(coarse[c], f < 0 ? 0.0 : r[f] - Ax[f]);
      if (f >= 0) {
        EXPECT_EQ(fine[f], x[f] + coarse[c]);
      }
    }
    for (const int untouched : {1, 3, 5}) EXPECT_EQ(fine[untouched], x[untouched]);
  }
}

TEST(TileInjection, RefusesWhatDoesNotFit) {
  const auto fine = order_of({8, 8, 8}, stencils::star7(), {4, 4}), coarse = order_of({4, 4, 4}, stencils::star7(), {4, 4});
  EXPECT_ERROR(TileInjection(coarse, fine), bad_argument, "the even points of 4x4x4 are not a grid of 8x8x8");
  EXPECT_ERROR(TileInjection(fine, TileOrder({4, 4, 4}, stencils::star7(), 2, {4, 4}, Device::host())), bad_argument,
               "1 and 2 unknowns a point");
  const TileInjection injection(fine, coarse);
  V good(fine.vector_scalars()), small(coarse.vector_scalars());
  EXPECT_ERROR(injection.restrict_residual(good, small, small), size_mismatch, "fine");
  EXPECT_ERROR(injection.add(good, good), size_mismatch, "coarse");
}

}  // namespace
}  // namespace echelon
