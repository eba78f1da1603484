// SPDX-License-Identifier: BSD-3-Clause
// Patterns that are stencils are found with their grid, on square, thin and flat grids and in blocks; the matrix on that
// grid is the same one; and what is nearly a stencil, or another numbering of one, is not taken for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "echelon/base/threads.hpp"
#include "echelon/matrix/grid/stencil_recognition.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon {
namespace {

BlockCsr<double> stencil_rows(const Grid& grid, const Stencil& stencil, int block = 1) {
  return to_block_csr(problems::random(grid, stencil, block, 7));
}

/// A copy without the entries (row, column) of `without` and with those of `with`, as ones.
BlockCsr<double> changed(const BlockCsr<double>& A, std::vector<std::pair<std::int64_t, std::int64_t>> without,
                         std::vector<std::pair<std::int64_t, std::int64_t>> with = {}) {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t row = 0; row < A.rows(); ++row) {
    for (auto e = A.row_start()[row]; e < A.row_start()[row + 1]; ++e) {
      const auto column = A.column()[e];
      if (std::find(without.begin(), without.end(), std::pair<std::int64_t, std::int64_t>(row, column)) != without.end())
        continue;
      triplets.push_back({static_cast<std::int32_t>(row), column, A.values()[e]});
    }
  }
  for (const auto& [row, column] : with) {
    triplets.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), 1.0});
  }
  return from_triplets<double>(A.rows(), A.rows(), triplets);
}

/// The same matrix, to the bit, whatever the grid was taken for.
void expect_same_matrix(const BlockCsr<double>& A, const RecognisedStencil& found) {
  const auto back = to_block_csr(to_struct(A, found));
  ASSERT_TRUE(std::ranges::equal(back.row_start(), A.row_start()));
  ASSERT_TRUE(std::ranges::equal(back.column(), A.column()));
  ASSERT_TRUE(std::ranges::equal(back.values(), A.values()));
}

TEST(StencilRecognition, FindsEveryNamedStencilAndItsGrid) {
  for (const auto& name : stencils::names()) {
    const Stencil stencil = stencils::named(name);
    const bool flat = stencil.find({0, 0, 1}) < 0;
    const std::vector<Grid> grids = flat ? std::vector<Grid>{{9, 11, 1}, {30, 7, 1}, {8, 40, 1}, {12, 12, 1}}
                                         : std::vector<Grid>{{9, 10, 11}, {8, 8, 8}, {25, 6, 7}, {6, 7, 20}, {10, 9, 5}};
    for (const Grid& grid : grids) {
      for (const int block : {1, 2, 3, 4, 5}) {
        SCOPED_TRACE(testing::Message() << name << " on " << grid.nx << "x" << grid.ny << "x" << grid.nz << ", b " << block);
        const auto A = stencil_rows(grid, stencil, block);
        const auto found = recognise_stencil(A);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->grid, grid);
        EXPECT_EQ(found->stencil.name(), name);
        EXPECT_TRUE(std::ranges::equal(found->stencil.offsets(), stencil.offsets()));
        EXPECT_EQ(found->absent, 0);
        expect_same_matrix(A, *found);
      }
    }
  }
}

// On a grid thinner than the stencil another grid may explain the same pattern; the matrix is the same one on any of them.
TEST(StencilRecognition, TakesThinGrids) {
  for (const auto& name : stencils::names()) {
    const Stencil stencil = stencils::named(name);
    const bool flat = stencil.find({0, 0, 1}) < 0;
    const std::vector<Grid> grids = flat ? std::vector<Grid>{{2, 30, 1}, {30, 2, 1}, {3, 17, 1}}
                                         : std::vector<Grid>{{2, 9, 10}, {9, 2, 10}, {9, 10, 2}, {2, 2, 20},
                                                             {20, 3, 2}, {1, 9, 10}, {9, 1, 10}, {9, 10, 1}};
    for (const Grid& grid : grids) {
      SCOPED_TRACE(testing::Message() << name << " on " << grid.nx << "x" << grid.ny << "x" << grid.nz);
      const auto A = stencil_rows(grid, stencil);
      const auto found = recognise_stencil(A);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->absent, 0);
      expect_same_matrix(A, *found);
    }
  }
}

TEST(StencilRecognition, TakesStencilsWithoutAName) {
  const Stencil skew({{-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {1, -1, 0}, {0, 1, 0}, {-2, 3, 1}}, "custom");
  const auto A = stencil_rows({14, 15, 16}, skew, 2);
  const auto found = recognise_stencil(A);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->grid, (Grid{14, 15, 16}));
  EXPECT_TRUE(std::ranges::equal(found->stencil.offsets(), skew.offsets()));
  expect_same_matrix(A, *found);
  EXPECT_EQ(describe(*found), "7 offsets on 14x15x16");
}

TEST(StencilRecognition, OneEntryOffIsNoStencil) {
  const Grid grid{9, 10, 11};
  for (const auto& name : {"star7", "star13", "diamond13", "diamond25", "box27"}) {
    const auto A = stencil_rows(grid, stencils::named(name));
    const std::int64_t row = grid.index(4, 5, 6), far = grid.index(8, 1, 1), wrapped = grid.index(8, 3, 3);
    EXPECT_FALSE(recognise_stencil(changed(A, {}, {{row, far}}))) << name;
    EXPECT_FALSE(recognise_stencil(changed(A, {{row, row + 1}}, {{row, row + 5}}))) << name;
    // The last point of a line coupled to the first of the next.
    EXPECT_FALSE(recognise_stencil(changed(A, {}, {{wrapped, wrapped + 1}}))) << name;
    // No diagonal.
    EXPECT_FALSE(recognise_stencil(changed(A, {{row, row}}))) << name;
  }
}

TEST(StencilRecognition, CountsWhatIsAbsentInside) {
  const Grid grid{9, 10, 11};
  const auto A = stencil_rows(grid, stencils::star7());
  const std::int64_t row = grid.index(4, 5, 6);
  const auto holed = changed(A, {{row, row + 1}, {row, row - 90}});
  const auto found = recognise_stencil(holed);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->grid, grid);
  EXPECT_EQ(found->absent, 2);
  const auto on_grid = to_struct(holed, *found);
  EXPECT_EQ(on_grid.block(row, found->stencil.find({1, 0, 0}))[0], 0);
  EXPECT_EQ(on_grid.block(row + 1, found->stencil.find({1, 0, 0}))[0], A.at(row + 1, row + 2));
}

// More than half of a neighbour's entries are gone: what is left is not worth a plane of zeros.
TEST(StencilRecognition, ANeighbourThatIsMostlyAbsentIsNone) {
  const Grid grid{12, 12, 1};
  const auto A = stencil_rows(grid, stencils::star5());
  std::vector<std::pair<std::int64_t, std::int64_t>> gone;
  for (std::int64_t j = 0; j < 12; ++j) {
    for (std::int64_t i = 0; i < 11; ++i) {
      if (i % 3 != 0) gone.emplace_back(grid.index(i, j, 0), grid.index(i + 1, j, 0));
    }
  }
  EXPECT_FALSE(recognise_stencil(changed(A, gone)));
}

TEST(StencilRecognition, OtherNumberingsAndLinesAreNone) {
  const auto A = stencil_rows({9, 10, 11}, stencils::star7());
  std::vector<std::int32_t> order(static_cast<std::size_t>(A.block_rows()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[300], order[301]);
  EXPECT_FALSE(recognise_stencil(permuted(A, std::span<const std::int32_t>(order))));
  std::shuffle(order.begin(), order.end(), std::mt19937(5));
  EXPECT_FALSE(recognise_stencil(permuted(A, std::span<const std::int32_t>(order))));
  EXPECT_FALSE(recognise_stencil(stencil_rows({97, 1, 1}, stencils::star5())));
  EXPECT_FALSE(recognise_stencil(from_triplets<double>(1, 1, std::vector<Triplet<double>>{{0, 0, 1.0}})));
  EXPECT_FALSE(recognise_stencil(from_triplets<double>(0, 0, std::vector<Triplet<double>>{})));
}

TEST(StencilRecognition, AnyNumberOfThreads) {
  const int before = threads();
  const auto A = stencil_rows({40, 41, 42}, stencils::star7());
  for (const int count : {1, 2, 7}) {
    set_threads(count);
    const auto found = recognise_stencil(A);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->grid, (Grid{40, 41, 42}));
    expect_same_matrix(A, *found);
  }
  set_threads(before);
}

}  // namespace
}  // namespace echelon
