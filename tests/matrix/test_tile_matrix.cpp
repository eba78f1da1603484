// SPDX-License-Identifier: BSD-3-Clause
// A matrix in tile order on the host: the tables and the row's mathematics that the GPU shares give the bits of user order,
// for every named stencil, random stencils, block sizes, thin grids and orders grown by fill; padding stays zero.
#include "echelon/matrix/grid_gpu/tile_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "echelon/base/error.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/stencil/stencil_fill.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

using V = Vector<double>;

V waves(std::int64_t n, double speed) {
  V v(n);
  for (std::int64_t i = 0; i < n; ++i) v[i] = std::sin(speed * static_cast<double>(i) + 0.1);
  return v;
}

/// How many values of a vector in own order are padding, and that they are zero.
void expect_zero_padding(const TileMatrix& A, const V& kept) {
  V ones(A.rows(), 1.0), where(A.kept_size());
  A.keep(ones, where);
  for (std::int64_t i = 0; i < kept.size(); ++i) {
    const bool is_padding = where[i] == 0;
    ASSERT_TRUE(!is_padding || kept[i] == 0) << i;
  }
}

void expect_bits_of_user_order(const Grid& grid, const Stencil& stencil, int dof, int fill, std::uint64_t seed) {
  const auto A = problems::random(grid, stencil, dof, seed);
  const TileMatrix tiles(A, fill, Device::host());
  ASSERT_EQ(tiles.rows(), A.rows());
  const V x = waves(A.rows(), 0.7), b = waves(A.rows(), 0.3);
  V y(A.rows()), r(A.rows()), found(A.rows());
  A.apply(x, y);
  A.careful_residual(b, x, r);
  V kept_x(tiles.kept_size()), kept_b(tiles.kept_size()), kept(tiles.kept_size(), 0.0);
  tiles.keep(x, kept_x);
  tiles.keep(b, kept_b);
  const auto about = [&](std::int64_t i) {
    return testing::Message() << stencil.name() << " b=" << dof << " fill " << fill << " row " << i << " of " << grid.nx
                              << "x" << grid.ny << "x" << grid.nz;
  };
  tiles.apply(kept_x, kept);
  expect_zero_padding(tiles, kept);
  tiles.give_back(kept, found);
  for (std::int64_t i = 0; i < y.size(); ++i) ASSERT_EQ(found[i], y[i]) << about(i);
  tiles.careful_residual(kept_b, kept_x, kept);
  expect_zero_padding(tiles, kept);
  tiles.give_back(kept, found);
  for (std::int64_t i = 0; i < y.size(); ++i) ASSERT_EQ(found[i], r[i]) << about(i);
  EXPECT_NEAR(tiles.norm_inf(), A.norm_inf(), 1e-13 * A.norm_inf());
}

TEST(TileMatrix, HasTheBitsOfUserOrder) {
  for (const std::string& name : stencils::names()) {
    for (const Grid& grid : {Grid{9, 34, 18}, Grid{1, 9, 13}, Grid{70, 1, 1}, Grid{2, 3, 2}}) {
      for (const int dof : {1, 2, 3, 5}) expect_bits_of_user_order(grid, stencils::named(name), dof, 0, 3);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(TileMatrix, HasTheBitsOfUserOrderInAGrownOrder) {
  for (const char* name : {"star7", "star5", "box27"}) {
    for (const int fill : {1, 2}) expect_bits_of_user_order({8, 35, 18}, stencils::named(name), 1, fill, 4);
    if (HasFatalFailure()) return;
  }
}

TEST(TileMatrix, UnitLowerProductTakesOnlyWhatIsBelow) {
  for (const char* name : {"star7", "star5", "box27", "diamond13"}) {
    for (const Grid& grid : {Grid{9, 34, 18}, Grid{1, 9, 13}, Grid{70, 1, 1}, Grid{2, 3, 2}}) {
      const auto A = problems::random(grid, stencils::named(name), 1, 3);
      auto lower = A;
      const int center = A.stencil().center();
      for (std::int64_t point = 0; point < grid.points(); ++point) {
        for (int e = center; e < A.stencil().size(); ++e) lower.block(point, e)[0] = 0;
      }
      const TileMatrix tiles(A, 0, Device::host());
      const V g = waves(A.rows(), 0.7);
      V kept_g(tiles.kept_size()), kept(tiles.kept_size(), 0.0), want(A.rows()), found(A.rows());
      tiles.keep(g, kept_g);
      tiles.unit_lower_product(tiles.values(), kept_g, kept);
      expect_zero_padding(tiles, kept);
      tiles.give_back(kept, found);
      lower.apply(g, want);
      for (std::int64_t i = 0; i < g.size(); ++i) ASSERT_NEAR(found[i], g[i] + want[i], 1e-14 * 30) << name << " row " << i;
    }
  }
}

TEST(TileMatrix, ADiagonalIsCopiedAndItsPaddingFilled) {
  for (const Grid& grid : {Grid{9, 34, 18}, Grid{1, 9, 13}, Grid{70, 1, 1}}) {
    const auto A = problems::random(grid, stencils::star7(), 1, 3);
    const TileMatrix tiles(A, 0, Device::host());
    V diagonal(tiles.kept_size()), found(A.rows()), where(tiles.kept_size());
    tiles.diagonal(tiles.values(), 17, diagonal);
    tiles.keep(V(A.rows(), 1.0), where);
    for (std::int64_t i = 0; i < where.size(); ++i) {
      ASSERT_TRUE(where[i] != 0 || diagonal[i] == 17) << i;
    }
    tiles.give_back(diagonal, found);
    for (std::int64_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], A.block(i, A.stencil().center())[0]) << i;
  }
  const TileMatrix blocks(problems::random({4, 5, 6}, stencils::star7(), 2, 3), 0, Device::host());
  V diagonal(blocks.kept_size());
  EXPECT_THROW(blocks.diagonal(blocks.values(), 1, diagonal), Error);
}

TEST(TileMatrix, AStampIsOfItsValues) {
  const auto A = problems::random({4, 5, 6}, stencils::star7(), 1, 3);
  TileMatrix one(A, 0, Device::host());
  const TileMatrix other(A, 0, Device::host());
  EXPECT_NE(one.stamp(), other.stamp());
  const std::uint64_t before = one.stamp();
  one.assign(A);
  EXPECT_NE(one.stamp(), before);
}

TEST(TileMatrix, HasTheBitsOfUserOrderForRandomStencils) {
  std::mt19937_64 random(8);
  for (int n = 0; n < 100 && !HasFatalFailure(); ++n) {
    const bool flat = n % 4 == 0;
    const Stencil stencil = reference::random_stencil(random, 20, 3, flat);
    expect_bits_of_user_order(reference::random_grid(random, 12, flat), stencil, 1 + n % 3, 0, random());
  }
}

// Neighbours so far off that the part of the table that a walk needs has no room near it, and ones just near enough.
TEST(TileMatrix, HasTheBitsOfUserOrderForNeighboursFarOff) {
  for (const int far : {5, 18, 40}) {
    const Stencil stencil({{0, 0, -far}, {-3, -1, 0}, {0, 0, 0}, {1, far, 0}, {0, 0, far}}, "far");
    for (const int dof : {1, 2}) expect_bits_of_user_order({9, 43, 45}, stencil, dof, 0, 6);
    if (HasFatalFailure()) return;
  }
}

TEST(TileMatrix, GrowsIntoTheOrderOfItsFill) {
  const Grid grid{7, 34, 18};
  const auto A = problems::random(grid, stencils::star7(), 2, 5);
  const Stencil more = grown(A.stencil(), 1);
  const TileMatrix tiles(A, 1, Device::host());
  const TileOrder order(grid, more, 2, tiles.tile_shape(), Device::host());
  Array<double> direct(order.matrix_scalars()), by_growth(order.matrix_scalars());
  TileConversion(order, A.stencil()).matrix_to_tiles(Array<double>(A.values()), direct);
  tiles.grow(order, by_growth.data());
  for (std::int64_t i = 0; i < direct.size(); ++i) ASSERT_EQ(by_growth[i], direct[i]) << i;
  const TileOrder other(grid, stencils::box27(), 2, tiles.tile_shape(), Device::host());
  Array<double> wrong(other.matrix_scalars());
  EXPECT_THROW(tiles.grow(other, wrong.data()), Error);
}

TEST(TileMatrix, TakesNewValuesOfTheSameShape) {
  const Grid grid{5, 6, 7};
  const auto first = problems::random(grid, stencils::star7(), 1, 1),
             second = problems::random(grid, stencils::star7(), 1, 2);
  TileMatrix tiles(first, 0, Device::host());
  tiles.assign(second);
  const V x = waves(first.rows(), 0.7);
  V y(first.rows()), found(first.rows()), kept_x(tiles.kept_size()), kept_y(tiles.kept_size(), 0.0);
  second.apply(x, y);
  tiles.keep(x, kept_x);
  tiles.apply(kept_x, kept_y);
  tiles.give_back(kept_y, found);
  for (std::int64_t i = 0; i < y.size(); ++i) ASSERT_EQ(found[i], y[i]);
  EXPECT_THROW(tiles.assign(problems::random(grid, stencils::box27(), 1, 1)), Error);
  EXPECT_THROW(tiles.apply(x, kept_y), Error);
}

}  // namespace
}  // namespace echelon
