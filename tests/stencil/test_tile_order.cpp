// SPDX-License-Identifier: BSD-3-Clause
// What kernels rely on in a tile order, over random stencils and grids: one table serves matrix and vectors; an entry of
// either triangle points to a line before (lower) or after (upper) its own, at an earlier or a later level. Other kinds have
// the same tiles, every value a place of its own, and no memory lost.
#include "echelon/stencil/tile_order.hpp"

#include <gtest/gtest.h>

#include <optional>

#include <cstdlib>
#include <vector>

#include "tests/expect_error.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

TEST(TileOrder, TheMatrixBeginsAtAMultipleOfTheVector) {
  std::mt19937_64 random(5);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const bool flat = repeat % 4 == 0;
    const Stencil stencil = reference::random_stencil(random, 10, 3, flat);
    const int dof = 1 + static_cast<int>(random() % 9);
    const TileShape shape{1 + static_cast<int>(random() % 6), 1 + static_cast<int>(random() % 6)};
    const TileOrder order(reference::random_grid(random, 9, flat), stencil, dof, shape, Device::host());
    const std::int64_t unit = std::int64_t{stencil.size()} * dof;
    ASSERT_EQ(order.matrix_scalars(), order.vector_scalars() * unit);
    for (std::int64_t run = 0; run <= order.runs(); ++run) {
      ASSERT_EQ(order.matrix().run_start[run], order.vector().run_start[run] * unit);
      ASSERT_EQ(order.vector().run_start[run] % 8, 0);
    }
  }
}

TEST(TileOrder, BothTrianglesFollowTheSameMap) {
  std::mt19937_64 random(6);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const bool flat = repeat % 4 == 0;
    const Stencil stencil = reference::random_stencil(random, 10, 3, flat);
    const Grid grid = reference::random_grid(random, 9, flat);
    const TileOrder order(grid, stencil, 1, {4, 4}, Device::host());
    const Wavefront& front = order.vector().front;
    for (int e = 0; e < stencil.size(); ++e) {
      const Offset o = stencil.offsets()[e];
      if (std::abs(o.x) >= grid.nx || std::abs(o.y) >= grid.ny || std::abs(o.z) >= grid.nz) continue;
      const int sign = e < stencil.center() ? -1 : e > stencil.center() ? 1 : 0;
      const int y = o.y + front.c * o.z, x = o.x + front.a * o.y + front.b * o.z;
      EXPECT_GE(sign * o.z, 0);
      EXPECT_GE(sign * y, 0);
      if (sign != 0) {
        EXPECT_GT(sign * (x + y + o.z), 0);
      }
    }
  }
}

TEST(TileOrder, OtherKindsHaveTheSameTilesAndLoseNoMemory) {
  std::mt19937_64 random(7);
  for (int repeat = 0; repeat < 60; ++repeat) {
    const bool flat = repeat % 4 == 0;
    const Stencil stencil = reference::random_stencil(random, 8, 3, flat);
    const Grid grid = reference::random_grid(random, 9, flat);
    const int dof = 1 + static_cast<int>(random() % 4);
    const TileShape shape{1 + static_cast<int>(random() % 6), 1 + static_cast<int>(random() % 6)};
    const TileOrder tiles(grid, stencil, dof, shape, Device::host());
    for (const LayoutKind kind : {LayoutKind::skewed, LayoutKind::user}) {
      const TileOrder order(grid, stencil, dof, shape, Device::host(), kind);
      ASSERT_EQ(order.kind(), kind);
      ASSERT_EQ(order.vector().tiles.count, tiles.vector().tiles.count);
      ASSERT_EQ(order.vector().front.levels(), tiles.vector().front.levels());
      const std::int64_t planes = std::int64_t{stencil.size()} * dof, a_plane = grid.points() * dof;
      ASSERT_EQ(order.matrix_scalars(), planes * (kind == LayoutKind::user ? a_plane : (a_plane + 7) / 8 * 8));
      std::vector<bool> taken(static_cast<std::size_t>(order.matrix_scalars()));
      for (std::int64_t point = 0; point < grid.points(); ++point) {
        const Ijk p{static_cast<int>(point % grid.nx), static_cast<int>(point / grid.nx % grid.ny),
                    static_cast<int>(point / grid.nx / grid.ny)};
        for (int n = 0; n < stencil.size() * dof * dof; ++n) {
          const std::int64_t at = order.matrix().place(p).at(n / (dof * dof), n % dof, n / dof % dof);
          ASSERT_TRUE(at >= 0 && at < order.matrix_scalars());
          ASSERT_FALSE(taken[static_cast<std::size_t>(at)]);
          taken[static_cast<std::size_t>(at)] = true;
        }
      }
      EXPECT_ERROR(static_cast<void>(order.runs()), bad_argument, "not kept in runs");
    }
  }
}

TEST(TileOrder, OnThePointsOfAnotherIsTheSameAsAlone) {
  const Grid grid{9, 21, 19};
  for (const int dof : {1, 3}) {
    const Stencil leader = stencils::box27(), small = stencils::star7();
    std::optional<TileOrder> first(std::in_place, grid, small, leader, dof, TileShape{8, 4}, Device::host());
    const TileOrder beside(*first, leader), alone(grid, leader, dof, {8, 4}, Device::host());
    first.reset();  // the tables outlive it
    EXPECT_EQ(beside.matrix_scalars(), alone.matrix_scalars());
    EXPECT_EQ(beside.vector_scalars(), alone.vector_scalars());
    EXPECT_EQ(beside.runs(), alone.runs());
    EXPECT_EQ(beside.host_tiles().longest(), alone.host_tiles().longest());
    for (int k = 0; k < grid.nz; ++k) {
      for (int j = 0; j < grid.ny; ++j) {
        for (int i = 0; i < grid.nx; ++i) {
          const Place got = beside.matrix().place({i, j, k}), want = alone.matrix().place({i, j, k});
          ASSERT_EQ(got.at(5, dof - 1, 0), want.at(5, dof - 1, 0));
          ASSERT_EQ(beside.vector().place({i, j, k}).first, alone.vector().place({i, j, k}).first);
        }
      }
    }
  }
  const TileOrder plain(grid, stencils::star7(), 1, {8, 4}, Device::host(), LayoutKind::user);
  EXPECT_THROW(TileOrder(plain, stencils::box27()), Error);
}

TEST(TileOrder, SymmetrisedHoldsTheMirrorImage) {
  const Stencil one({{-1, 0, 0}, {1, -1, 0}});
  const Stencil both = symmetrised(one);
  EXPECT_EQ(both.size(), 5);
  EXPECT_TRUE(both.symmetric());
  EXPECT_EQ(symmetrised(stencils::box27()).size(), 27);
}

TEST(TileOrder, RefusesSizesBelowOne) {
  EXPECT_ERROR(TileOrder({4, 4, 4}, stencils::star7(), 0, TileShape{2, 2}, Device::host()), bad_argument, "0x1");
  EXPECT_ERROR(TileOrder({4, 4, 4}, stencils::star7(), 1, TileShape{0, 2}, Device::host()), bad_argument, "0x2");
}

}  // namespace
}  // namespace echelon
