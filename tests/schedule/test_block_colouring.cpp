// SPDX-License-Identifier: BSD-3-Clause
// Block multicolour orders: every point has one place, no two blocks of a colour are coupled, lanes of a block row belong to
// one colour, by hand for a small grid, over random grids, stencils and blocks, and for graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "echelon/problem/problems.hpp"
#include "echelon/schedule/blocks/graph_blocks.hpp"
#include "echelon/schedule/blocks/grid_blocks.hpp"
#include "echelon/schedule/blocks/lattice_colours.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/random_matrix.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

/// Blocks are what shares a colour, a group and a lane; visit(i, neighbours) gives couplings of either way.
template <class Couplings>
void expect_valid(const BlockColouring& order, std::int64_t points, const Couplings& couplings) {
  ASSERT_EQ(order.points(), points);
  std::vector<std::int64_t> colour(static_cast<std::size_t>(points), -1), block(colour);
  const int bsize = order.bsize();
  std::vector<int> seen(static_cast<std::size_t>(points), 0);
  std::int64_t guards = 1, inside = 0, last_end = 1;
  for (std::size_t c = 0; c < order.colours().size(); ++c) {
    const auto& rows = order.colours()[c];
    ASSERT_EQ(rows.begin, last_end) << "one row of guard before each colour";
    last_end = rows.end + 1;
    inside += rows.end - rows.begin;
    ++guards;
    ASSERT_GT(rows.groups, 0);
    std::int64_t covered = rows.begin;
    for (int part = 0; part < rows.groups; ++part) {
      const auto [begin, end] = order.rows(rows, part, static_cast<int>(rows.groups));
      ASSERT_EQ(begin, covered);
      ASSERT_GT(end, begin);
      covered = end;
      for (std::int64_t p = begin * bsize; p < end * bsize; ++p) {
        const auto point = order.point()[static_cast<std::size_t>(p)];
        if (point < 0) continue;
        ++seen[static_cast<std::size_t>(point)];
        ASSERT_EQ(order.position()[static_cast<std::size_t>(point)], p);
        colour[static_cast<std::size_t>(point)] = static_cast<std::int64_t>(c);
        block[static_cast<std::size_t>(point)] = (rows.first_group + part) * bsize + p % bsize;
      }
    }
    ASSERT_EQ(covered, rows.end);
  }
  ASSERT_EQ(guards + inside, order.block_rows());
  ASSERT_TRUE(std::ranges::all_of(seen, [](int n) { return n == 1; }));
  for (std::int64_t i = 0; i < points; ++i) {
    couplings(i, [&](std::int64_t j) {
      if (colour[static_cast<std::size_t>(i)] == colour[static_cast<std::size_t>(j)]) {
        ASSERT_EQ(block[static_cast<std::size_t>(i)], block[static_cast<std::size_t>(j)]) << i << " and " << j;
      }
    });
  }
}

void expect_valid_grid(const BlockColouring& order, const Grid& grid, const Stencil& stencil) {
  expect_valid(order, grid.points(), [&](std::int64_t p, const auto& visit) {
    const std::int64_t i = p % grid.nx, j = p / grid.nx % grid.ny, k = p / grid.nx / grid.ny;
    for (const Offset& o : stencil.offsets()) {
      if (grid.contains(i + o.x, j + o.y, k + o.z)) visit(grid.index(i + o.x, j + o.y, k + o.z));
    }
  });
}

TEST(LatticeColours, KnownStencilsHaveTheirKnownNumbers) {
  const auto colours = [](const Stencil& s) {
    return lattice_colours({20, 20, s.name() == "star5" || s.name() == "box9" ? 1 : 20}, s.offsets()).colours();
  };
  EXPECT_EQ(colours(stencils::star5()), 2);
  EXPECT_EQ(colours(stencils::star7()), 2);
  EXPECT_EQ(colours(stencils::box9()), 4);
  EXPECT_EQ(colours(stencils::box27()), 8);
  EXPECT_EQ(colours(stencils::star13()), 3);
  EXPECT_EQ(colours(stencils::diamond25()), 7);
  const Stencil box = stencils::box27();
  EXPECT_EQ(lattice_colours({20, 20, 20}, box.offsets()).period, (std::array<std::int64_t, 3>{2, 2, 2}));
  EXPECT_EQ(lattice_colours({1, 1, 9}, box.offsets()).colours(), 2) << "what leaves the lattice does not count";
}

/// 4×2 points, star5, blocks 1×1, bsize 2: red and black, rows of guard at positions 0–1, 6–7 and 12–13.
TEST(BlockColouring, FourByTwoByHand) {
  const Grid grid{4, 2, 1};
  const auto order = grid_block_colouring(grid, stencils::star5(), {BlockChoice::given, {1, 1, 1}, 2, 1});
  EXPECT_EQ(order.numbering(), "along x");
  const std::vector<std::int32_t> want = {-1, -1, 0, 2, 5, 7, -1, -1, 1, 3, 4, 6, -1, -1};
  EXPECT_EQ(std::vector<std::int32_t>(order.point().begin(), order.point().end()), want);
  const auto natural = order.order();
  EXPECT_EQ(std::vector<std::int32_t>(natural.begin(), natural.end()), (std::vector<std::int32_t>{0, 2, 5, 7, 1, 3, 4, 6}));
}

TEST(BlockColouring, RandomGridsStencilsAndBlocks) {
  std::mt19937_64 random(24);
  for (int n = 0; n < 300; ++n) {
    const bool flat = n % 3 == 0;
    const Stencil stencil = reference::random_stencil(random, 12, 1 + n % 3, flat);
    const Grid grid = reference::random_grid(random, 14, flat);
    const auto side = [&] { return static_cast<std::int64_t>(1 + random() % 6); };
    const BlockOptions options{n % 4 == 0   ? BlockChoice::fixed
                               : n % 4 == 1 ? BlockChoice::automatic
                                            : BlockChoice::given,
                               {side(), side(), side()},
                               n % 5 == 0 ? 0 : 1 << (n % 7),
                               1 + n % 3};
    SCOPED_TRACE(testing::Message() << "case " << n << ", grid " << grid.nx << "x" << grid.ny << "x" << grid.nz);
    ASSERT_NO_FATAL_FAILURE(expect_valid_grid(grid_block_colouring(grid, stencil, options), grid, stencil));
  }
}

TEST(BlockColouring, FixedBlocksHaveSixtyFourPoints) {
  EXPECT_EQ(block_shape({100, 90, 80}, stencils::box27(), {}).points(), 64);
  EXPECT_EQ(block_shape({100, 90, 1}, stencils::box9(), {}), (Grid{8, 8, 1}));
  EXPECT_EQ(block_shape({3, 90, 80}, stencils::box27(), {}), (Grid{3, 4, 4})) << "a grid thinner than a block";
}

TEST(BlockColouring, AutomaticBlocksAreTheLargestThatKeepThreadsBusy) {
  const Grid grid{64, 64, 64};
  std::int64_t last = grid.points();
  for (const int threads : {1, 2, 8}) {
    const BlockOptions options{BlockChoice::automatic, {}, 8, threads};
    const Grid shape = block_shape(grid, stencils::box27(), options);
    const auto order = grid_block_colouring(grid, stencils::box27(), options);
    EXPECT_GE(order.fewest_blocks(), threads * 8);
    EXPECT_LE(std::max({shape.nx, shape.ny, shape.nz}), std::min({shape.nx, shape.ny, shape.nz}) + 1) << "near to a cube";
    EXPECT_LE(shape.points(), last);
    last = shape.points();
  }
}

TEST(BlockColouring, FewBlocksHaveFewLanes) {
  EXPECT_EQ(grid_block_colouring({8, 8, 8}, stencils::box27()).bsize(), 1) << "one block a colour";
  EXPECT_EQ(grid_block_colouring({3, 3, 3}, stencils::star7()).colours().size(), 1u) << "a single block";
  EXPECT_EQ(grid_block_colouring({64, 64, 64}, stencils::box27()).bsize(), 8);
}

/// 26 blocks a side, 13 of a colour in a row: lanes along x break in two at every shifted neighbour, lanes apart never.
TEST(BlockColouring, TheNumberingWithTheFewestDiagonalsIsTaken) {
  const auto order = grid_block_colouring({104, 104, 104}, stencils::box27());
  EXPECT_TRUE(order.numbering().starts_with("apart")) << order.numbering();
  ASSERT_NO_FATAL_FAILURE(expect_valid_grid(order, {104, 104, 104}, stencils::box27()));
}

TEST(BlockColouring, AlgebraicBlocksOfAnyGraph) {
  for (int seed = 0; seed < 24; ++seed) {
    const auto n = 1 + 11 * seed;
    const auto A = reference::with_random_values<double>(
        reference::random_rows(n, 0.03, static_cast<std::uint64_t>(seed), seed % 2 == 0), 1, 1);
    const PatternView view{A.block_rows(), A.row_start().data(), A.column().data()};
    for (const int bsize : {1, 4}) {
      for (const std::int64_t block : {1, 5, 64}) {
        const auto order = graph_block_colouring(view, block, bsize);
        ASSERT_NO_FATAL_FAILURE(expect_valid(order, n, [&](std::int64_t i, const auto& visit) {
          for (auto p = view.start[i]; p < view.start[i + 1]; ++p) visit(view.column[p]);
        }));
      }
    }
  }
  EXPECT_EQ(graph_block_colouring({0, Array<std::int64_t>(1, 0).data(), nullptr}).points(), 0);
}

TEST(BlockColouring, BadShapesAreRefused) {
  const Stencil star = stencils::star7();
  EXPECT_ERROR((grid_block_colouring({8, 8, 8}, star, {BlockChoice::given, {0, 4, 4}, 8, 1})), bad_argument, "at least 1");
  EXPECT_ERROR((grid_block_colouring({8, 8, 8}, star, {BlockChoice::fixed, {}, 3, 1})), bad_argument, "got 3");
  EXPECT_ERROR((grid_block_colouring({8, 8, 8}, star, {BlockChoice::fixed, {}, 128, 1})), bad_argument, "got 128");
  const auto A = to_block_csr(problems::poisson({3, 3, 1}, stencils::star5()));
  EXPECT_ERROR((graph_block_colouring({9, A.row_start().data(), A.column().data()}, 0)), bad_argument, "at least 1");
}

}  // namespace
}  // namespace echelon
