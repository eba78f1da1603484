// SPDX-License-Identifier: BSD-3-Clause
// ILU(0) in diagonal block rows: the bits of the textbook's on the permuted matrix, entry by entry, for every bsize, thread
// count and instruction set; padding exactly zero where 0/0 or fill would appear; by hand; storage in FP32.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "echelon/base/threads.hpp"
#include "echelon/factor/dbsr/dbsr_factors.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/schedule/blocks/graph_blocks.hpp"
#include "echelon/schedule/blocks/grid_blocks.hpp"
#include "tests/reference/every_target.hpp"
#include "tests/reference/ilu_reference.hpp"
#include "tests/reference/random_matrix.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

using Order = std::shared_ptr<const BlockColouring>;

template <class T>
struct Factored {
  Factored(const BlockCsr<T>& A, Order given)
      : order(std::move(given)), matrix(A, order), factors(order, matrix.share_pattern()) {
    factors.attempt(matrix, {0, 0, false, false, 1, &log});
  }
  Order order;
  DbsrMatrix<T> matrix;
  PivotLog log;
  DbsrFactors<T> factors;
};

template <class T>
BlockCsr<T> eliminated(const BlockCsr<T>& A, const BlockColouring& order) {
  const auto natural = order.order();
  return permuted(A, natural.span());
}

/// Position → row of the permuted matrix, −1 for padding.
std::vector<int> rows_by_position(const BlockColouring& order) {
  std::vector<int> rows;
  int next = 0;
  for (const auto point : order.point()) rows.push_back(point < 0 ? -1 : next++);
  return rows;
}

template <class T>
void expect_triangle(const BlockColouring& order, const DbsrPattern::Triangle& pattern, const DbsrTriangleView& found,
                     const std::vector<std::map<int, std::vector<T>>>& want, const char* what) {
  const auto rows = rows_by_position(order);
  const int bsize = order.bsize();
  const T* values = static_cast<const T*>(found.values);
  std::size_t met = 0, wanted = 0;
  for (std::int64_t row = 0; row < order.block_rows(); ++row) {
    for (auto e = pattern.blk_ptr[row]; e < pattern.blk_ptr[row + 1]; ++e) {
      for (int lane = 0; lane < bsize; ++lane) {
        const T value = values[e * bsize + lane];
        if ((pattern.lanes[e] >> lane & 1) == 0) {
          ASSERT_EQ(value, T(0)) << what << ": padding";
          continue;
        }
        const int i = rows[static_cast<std::size_t>(row * bsize + lane)];
        const int j = rows[static_cast<std::size_t>(pattern.first_column(e, bsize) + lane)];
        ASSERT_EQ(value, want[static_cast<std::size_t>(i)].at(j)[0]) << what << " " << i << ", " << j;
        ++met;
      }
    }
  }
  for (const auto& row : want) wanted += row.size();
  ASSERT_EQ(met, wanted) << what;
  for (int n = 1; n <= bsize; ++n) {
    ASSERT_EQ(values[-n], T(0)) << "guard";
    ASSERT_EQ(values[pattern.blocks() * bsize + n - 1], T(0)) << "guard";
  }
}

template <class T>
void check(const BlockCsr<T>& A, Order order) {
  const Factored<T> f(A, order);
  const auto want = reference::ilu(eliminated(A, *order), 0);
  ASSERT_NO_FATAL_FAILURE(expect_triangle(*order, f.matrix.pattern().lower, f.factors.lower(), want.lower, "L"));
  ASSERT_NO_FATAL_FAILURE(expect_triangle(*order, f.matrix.pattern().upper, f.factors.upper(), want.upper, "U"));
  const T* inverse = static_cast<const T*>(f.factors.inverse());
  const auto rows = rows_by_position(*order);
  for (std::int64_t p = 0; p < order->positions(); ++p) {
    const int i = rows[static_cast<std::size_t>(p)];
    ASSERT_EQ(inverse[p], i < 0 ? T(0) : want.inverse_diagonal[static_cast<std::size_t>(i)][0]) << "position " << p;
  }
}

template <class T>
BlockCsr<T> drawn(const Grid& grid, const Stencil& stencil, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  StructMatrix<T> A(grid, stencil);
  for (int e = 0; e < stencil.size(); ++e) {
    for (std::int64_t p = 0; p < grid.points(); ++p) {
      const Offset o = stencil.offsets()[static_cast<std::size_t>(e)];
      if (!grid.contains(p % grid.nx + o.x, p / grid.nx % grid.ny + o.y, p / grid.nx / grid.ny + o.z)) continue;
      A.block(p, e)[0] = static_cast<T>(uniform(random) + (e == stencil.center() ? stencil.size() : 0));
    }
  }
  return to_block_csr(A);
}

Order boxes(const Grid& grid, const Stencil& stencil, const Grid& shape, int bsize) {
  return std::make_shared<BlockColouring>(grid_block_colouring(grid, stencil, {BlockChoice::given, shape, bsize, 1}));
}

template <class T>
void check_grid(const Grid& grid, const Stencil& stencil, const Grid& shape, int bsize, std::uint64_t seed) {
  ASSERT_NO_FATAL_FAILURE(check<T>(drawn<T>(grid, stencil, seed), boxes(grid, stencil, shape, bsize)));
}

class Bsizes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(DbsrIlu, Bsizes, testing::Values(1, 2, 4, 8, 16, 32, 64));

TEST_P(Bsizes, EveryTargetHasTheBitsOfTheTextbook) {
  reference::on_every_target([&] {
    check_grid<double>({13, 11, 9}, stencils::box27(), {4, 4, 4}, GetParam(), 1);
    check_grid<float>({13, 11, 9}, stencils::star13(), {2, 3, 2}, GetParam(), 2);
    check_grid<double>({21, 18, 1}, stencils::box9(), {1, 1, 1}, GetParam(), 3);
  });
}

TEST_P(Bsizes, EveryThreadCountHasTheSameBits) {
  for (const int count : {1, 2, 3, 4}) {
    set_threads(count);
    check_grid<double>({16, 15, 14}, stencils::diamond25(), {3, 2, 4}, GetParam(), 4);
  }
  set_threads(0);
}

/// Blocks whose lanes wrap from row to row, and shifted diagonals whose two parts meet different block rows.
TEST(DbsrIlu, RandomGridsStencilsAndBlocks) {
  std::mt19937_64 random(11);
  for (int n = 0; n < 150; ++n) {
    const bool flat = n % 3 == 0;
    const Stencil stencil = reference::random_stencil(random, 12, 1 + n % 3, flat);
    const Grid grid = reference::random_grid(random, 10, flat);
    const auto side = [&] { return static_cast<std::int64_t>(1 + random() % 5); };
    SCOPED_TRACE(testing::Message() << "case " << n);
    ASSERT_NO_FATAL_FAILURE(check_grid<double>(grid, stencil, {side(), side(), side()}, 1 << (n % 7), random()));
  }
}

TEST(DbsrIlu, AnyGraph) {
  for (int seed = 0; seed < 16; ++seed) {
    const auto A = reference::with_random_values<double>(
        reference::random_rows(1 + 13 * seed, 0.06, static_cast<std::uint64_t>(seed)), 1, 3);
    const PatternView view{A.block_rows(), A.row_start().data(), A.column().data()};
    ASSERT_NO_FATAL_FAILURE(
        check<double>(A, std::make_shared<BlockColouring>(graph_block_colouring(view, 5, 1 << (seed % 4)))));
  }
}

/// Five points in a row, −1 2 −1, four lanes: red 0, 2, 4 and a lane without a point, where 0/0 would be. d = 2 for red;
/// black: l = −1/2 twice, d = 2 − 1/2 − 1/2 = 1.
TEST(DbsrIlu, FivePointsByHandWithALaneOfPadding) {
  StructMatrix<double> A({5, 1, 1}, Stencil({{-1, 0, 0}, {0, 0, 0}, {1, 0, 0}}));
  A.fill([](std::int64_t, std::int64_t, std::int64_t, int entry, std::span<double> a) { a[0] = entry == 1 ? 2 : -1; });
  const Factored<double> f(to_block_csr(A), boxes(A.grid(), A.stencil(), {1, 1, 1}, 4));
  const double* inverse = static_cast<const double*>(f.factors.inverse());
  const std::vector<double> want = {0, 0, 0, 0, 0.5, 0.5, 0.5, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0};
  ASSERT_EQ(f.order->positions(), 20);
  for (int p = 0; p < 20; ++p) EXPECT_EQ(inverse[p], want[static_cast<std::size_t>(p)]) << p;
  EXPECT_EQ(f.log.count(), 0) << "a lane of padding is no bad pivot";
}

TEST(DbsrIlu, FactorsInSinglePrecisionAreTheRoundedOnes) {
  const auto A = drawn<double>({9, 9, 9}, stencils::box27(), 5);
  Factored<double> wide(A, boxes({9, 9, 9}, stencils::box27(), {2, 2, 2}, 8));
  Factored<double> narrow(A, wide.order);
  EXPECT_EQ(narrow.factors.narrow(), 0);
  EXPECT_EQ(narrow.factors.stored(), Stored::fp32);
  const double s = narrow.factors.r_scale();
  EXPECT_EQ(std::ilogb(s) + std::ilogb(wide.factors.norm()), 0) << "a power of two near 1/norm";
  const auto* u = static_cast<const float*>(narrow.factors.upper().values);
  const auto* exact = static_cast<const double*>(wide.factors.upper().values);
  for (std::int64_t n = 0; n < wide.matrix.pattern().upper.blocks() * 8; ++n) {
    ASSERT_EQ(u[n], static_cast<float>(exact[n] * s));
  }
  const auto* d = static_cast<const float*>(narrow.factors.inverse());
  const auto* exact_d = static_cast<const double*>(wide.factors.inverse());
  for (std::int64_t p = 0; p < wide.order->positions(); ++p) ASSERT_EQ(d[p], static_cast<float>(exact_d[p] / s));
}

TEST(DbsrIlu, ZeroPivotsAreNotedWithTheUsersRow) {
  auto A = drawn<double>({8, 8, 1}, stencils::star5(), 6);
  const auto order = boxes({8, 8, 1}, stencils::star5(), {1, 1, 1}, 8);
  // Point 9 = (1, 1) is red and eliminated before its neighbours: its pivot is its diagonal.
  for (auto p = A.row_start()[9]; p < A.row_start()[10]; ++p) {
    if (A.column()[static_cast<std::size_t>(p)] == 9) A.values()[static_cast<std::size_t>(p)] = 0;
  }
  const Factored<double> f(A, order);
  ASSERT_EQ(f.log.count(), 1);
  EXPECT_EQ(f.log.first().front().row, 9);
  EXPECT_EQ(f.log.first().front().kind, PivotNote::Kind::zero);
}

}  // namespace
}  // namespace echelon
