// SPDX-License-Identifier: BSD-3-Clause
// Layouts: every value has a place of its own inside the bounds, for random stencils and ragged grids; runs are aligned;
// and tile-contiguous storage stays within a tenth of the grid's own bytes at the sizes of paper 1's table 3.
#include <gtest/gtest.h>

#include <vector>

#include "echelon/stencil/layout_view.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

TEST(Layout, UserOrderByHand) {
  const Layout layout = Layout::user({4, 3, 2}, 7, 2);
  EXPECT_EQ(layout.size(), 24 * 7 * 4);
  EXPECT_EQ(layout.at(5, 3), 3 * 24 + 5);
  EXPECT_EQ(layout.view().place({1, 1, 0}).at(3, 1, 0), layout.at(5, 3) * 4 + 1);
  EXPECT_EQ(layout.view().place({1, 1, 0}).at(3, 0, 1), layout.at(5, 3) * 4 + 2);
}

TEST(Layout, SkewedOrderByHand) {
  // Of the star the level is i + j + k: the points (2,0,1), (1,1,1), (0,2,1) of level 3 stand side by side.
  const Stencil star = stencils::star7();
  const Layout layout = Layout::skewed(wavefront({3, 4, 2}, star), StoredBlocks::matrix(lower_entries(star), 1, 8));
  EXPECT_EQ(layout.size(), 24 * 3);
  const auto first = layout.view().place({2, 0, 1}).at(0, 0, 0);
  EXPECT_EQ(first, 1 * 12 + (3 % 3) * 4);
  EXPECT_EQ(layout.view().place({1, 1, 1}).at(0, 0, 0), first + 1);
  EXPECT_EQ(layout.view().place({0, 2, 1}).at(0, 0, 0), first + 2);
  EXPECT_EQ(layout.view().place({2, 0, 1}).at(2, 0, 0), first + 2 * 24);
}

TEST(Layout, TilesByHand) {
  // 3×2×1 in one tile of the box (level i + 2j): runs of 1, 1, 2, 1, 1 lines, each padded to four doubles.
  const Stencil box = stencils::box9();
  const Layout layout =
      Layout::tile_contiguous(wavefront({3, 2, 1}, box), box, {32, 32}, StoredBlocks::matrix(upper_entries(box), 1, 8));
  EXPECT_EQ(layout.tiles().count(), 1);
  EXPECT_EQ(layout.size(), 5 * 4 * 4);
  EXPECT_EQ(layout.view().place({2, 0, 0}).at(5, 0, 0), 2 * 16);
  EXPECT_EQ(layout.view().place({0, 1, 0}).at(5, 0, 0), 2 * 16 + 1);
  EXPECT_EQ(layout.view().place({0, 1, 0}).at(8, 0, 0), 2 * 16 + 3 * 4 + 1);
  EXPECT_EQ(layout.bytes(), 80 * 8 + (2 + 2 + 6) * 8);
}

/// Every value of every point has a place of its own, and runs begin at multiples of 32 bytes.
void expect_own_places(const Layout& layout) {
  const Grid grid = layout.grid();
  const auto& stored = layout.stored();
  std::vector<char> taken(static_cast<std::size_t>(layout.size()), 0);
  for (int k = 0; k < grid.nz; ++k) {
    for (int j = 0; j < grid.ny; ++j) {
      for (int i = 0; i < grid.nx; ++i) {
        const Place place = layout.view().place({i, j, k});
        for (int e = stored.entries.begin; e < stored.entries.end; ++e) {
          for (int c = 0; c < stored.columns; ++c) {
            for (int r = 0; r < stored.rows; ++r) {
              const std::int64_t at = place.at(e, r, c);
              ASSERT_TRUE(at >= 0 && at < layout.size());
              ASSERT_EQ(taken[static_cast<std::size_t>(at)]++, 0);
            }
          }
        }
        if (layout.kind() != LayoutKind::user) {
          ASSERT_EQ(place.column_stride * stored.scalar_bytes % 32, 0);
        }
      }
    }
  }
}

EntryRange some_entries(std::mt19937_64& random, const Stencil& stencil) {
  switch (random() % 4) {
    case 0: return lower_entries(stencil);
    case 1: return upper_entries(stencil);
    case 2: return diagonal_and_upper_entries(stencil);
    default: return all_entries(stencil);
  }
}

TEST(Layout, EveryValueHasAPlaceOfItsOwn) {
  std::mt19937_64 random(21);
  for (int trial = 0; trial < 1500; ++trial) {
    SCOPED_TRACE(testing::Message() << "trial " << trial);
    const bool flat = random() % 4 == 0;
    const Stencil stencil = reference::random_stencil(random, 12, 4, flat);
    const Grid grid = reference::random_grid(random, 9, flat);
    const Wavefront front = wavefront(grid, stencil, random() % 2 ? Triangle::lower : Triangle::upper);
    const int dof = 1 + static_cast<int>(random() % 3), bytes = random() % 2 ? 8 : 4;
    const auto stored = random() % 4 == 0 ? StoredBlocks::vector(dof, bytes)
                                          : StoredBlocks::matrix(some_entries(random, stencil), dof, bytes);
    const TileShape shape{1 + static_cast<int>(random() % 5), 1 + static_cast<int>(random() % 5)};
    ASSERT_NO_FATAL_FAILURE(expect_own_places(Layout::skewed(front, stored)));
    ASSERT_NO_FATAL_FAILURE(expect_own_places(Layout::tile_contiguous(front, stencil, shape, stored)));
  }
}

TEST(Layout, SkewedOrderLosesNoMemoryOnNonCubicGrids) {
  for (const auto& name : stencils::names()) {
    const Stencil stencil = stencils::named(name);
    for (const Grid grid : {Grid{8, 20, 12}, Grid{20, 4, 8}, Grid{4, 8, 40}, Grid{64, 1, 1}, Grid{1, 4, 16}}) {
      const Layout layout = Layout::skewed(wavefront(grid, stencil), StoredBlocks::vector(1, 8));
      EXPECT_EQ(layout.size(), grid.points());
      ASSERT_NO_FATAL_FAILURE(expect_own_places(layout)) << name;
    }
  }
}

TEST(Layout, TilesStayWithinATenthOfTheGridAtTheSizesOfTable3) {
  struct Row {
    const char* name;
    int sides[2][5];  // DoF 1, 2, 4, 6, 8 on either card
  };
  constexpr Row table[] = {{"star7", {{512, 336, 208, 160, 128}, {560, 416, 256, 192, 160}}},
                           {"star13", {{432, 272, 160, 128, 96}, {544, 336, 208, 160, 128}}},
                           {"diamond13", {{432, 272, 160, 128, 96}, {544, 336, 208, 160, 128}}},
                           {"diamond25", {{336, 208, 128, 96, 80}, {416, 256, 160, 128, 104}}},
                           {"box27", {{336, 208, 128, 96, 80}, {416, 256, 160, 128, 104}}}};
  constexpr int dofs[] = {1, 2, 4, 6, 8};
  for (const Row& row : table) {
    const Stencil stencil = stencils::named(row.name);
    for (const auto& card : row.sides) {
      for (int d = 0; d < 5; ++d) {
        const std::int64_t n = card[d];
        const auto entries = lower_entries(stencil);
        const Layout layout = Layout::tile_contiguous(wavefront({n, n, n}, stencil), stencil, {32, 32},
                                                      StoredBlocks::matrix(entries, dofs[d], 8));
        const std::int64_t grid_bytes = n * n * n * entries.count() * dofs[d] * dofs[d] * 8;
        EXPECT_GE(layout.bytes(), grid_bytes);
        EXPECT_LE(static_cast<double>(layout.bytes()), 1.1 * static_cast<double>(grid_bytes))
            << row.name << " DoF " << dofs[d] << ' ' << n;
      }
    }
  }
}

TEST(LayoutBadInput, ShapesAndScalars) {
  const Stencil star = stencils::star7();
  const Wavefront front = wavefront({4, 4, 4}, star);
  EXPECT_ERROR((void)Layout::skewed(front, StoredBlocks::matrix(all_entries(star), 0, 8)), bad_argument, "0x0 blocks");
  EXPECT_ERROR((void)Layout::skewed(front, StoredBlocks::vector(1, 3)), bad_argument, "3 bytes");
  EXPECT_ERROR((void)Layout::skewed(front, {{3, 2}, 1, 1, 8}), bad_argument, "entries 3 to 2");
  EXPECT_ERROR((void)Layout::tile_contiguous(front, star, {0, 1}, StoredBlocks::vector(1, 8)), bad_argument, "0x1 lines");
}

}  // namespace
}  // namespace echelon
