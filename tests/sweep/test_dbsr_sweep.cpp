// SPDX-License-Identifier: BSD-3-Clause
// Gauss-Seidel on diagonal block rows: every kernel has the bits of the sequential method on the permuted matrix, for every
// bsize, thread count and instruction set; padding stays exactly zero; by hand; lanes that wrap; bad diagonals.
#include "echelon/sweep/dbsr/dbsr_gauss_seidel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "echelon/base/threads.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/schedule/blocks/graph_blocks.hpp"
#include "echelon/schedule/blocks/grid_blocks.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/dbsr_reference.hpp"
#include "tests/reference/every_target.hpp"
#include "tests/reference/random_matrix.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

template <class T>
Vector<T> drawn(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Vector<T> v(n);
  for (auto& value : v) value = static_cast<T>(uniform(random));
  return v;
}

template <class T>
StructMatrix<T> drawn_matrix(const Grid& grid, const Stencil& stencil, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  StructMatrix<T> A(grid, stencil);
  const std::int64_t n = grid.points();
  for (int e = 0; e < stencil.size(); ++e) {
    for (std::int64_t p = 0; p < n; ++p) {
      const Offset o = stencil.offsets()[static_cast<std::size_t>(e)];
      if (!grid.contains(p % grid.nx + o.x, p / grid.nx % grid.ny + o.y, p / grid.nx / grid.ny + o.z)) continue;
      A.block(p, e)[0] = static_cast<T>(uniform(random) + (e == stencil.center() ? stencil.size() : 0));
    }
  }
  return A;
}

/// `kept` has `want` in its points' positions, and exact zeros elsewhere.
template <class T>
void expect_kept(const BlockColouring& order, const Vector<T>& kept, const std::vector<T>& want, const char* what) {
  std::size_t n = 0;
  for (std::int64_t p = 0; p < order.positions(); ++p) {
    if (order.point()[static_cast<std::size_t>(p)] >= 0) {
      ASSERT_EQ(kept[p], want[n]) << what << ", position " << p;
      ++n;
    } else {
      ASSERT_EQ(kept[p], T(0)) << what << ": padding, position " << p;
    }
  }
}

template <class T>
struct Case {
  Case(const BlockCsr<T>& A, const BlockColouring& order)
      : natural(order.order()),
        permuted_rows(permuted(A, natural.span())),
        sequential(permuted_rows),
        r(drawn<T>(A.rows(), 7)),
        guess(drawn<T>(A.rows(), 8)) {
    const auto in_r = reference::in_order(r, natural.span());
    product = sequential.multiply(in_r);
    x_zero.assign(in_r.size(), T(0));
    half_zero = sequential.forward(in_r, x_zero, true);
    sequential.backward(half_zero, x_zero);
    residual = sequential.residual(in_r, half_zero, x_zero);
    x_guess = reference::in_order(guess, natural.span());
    half_guess = sequential.forward(in_r, x_guess, false);
    sequential.backward(half_guess, x_guess);
  }
  void check(const DbsrGaussSeidel<T>& gs) const {
    const DbsrMatrix<T>& A = gs.matrix();
    const BlockColouring& order = A.order();
    const T rubbish = std::numeric_limits<T>::quiet_NaN();
    Vector<T> b(A.positions()), half(A.positions(), rubbish), x(A.positions());
    A.permute(r, b);
    gs.multiply(b, x);
    ASSERT_NO_FATAL_FAILURE(expect_kept(order, x, product, "product"));
    x.fill(rubbish);  // what no kernel may read
    gs.from_zero(b, half, x);
    ASSERT_NO_FATAL_FAILURE(expect_kept(order, half, half_zero, "half, from zero"));
    ASSERT_NO_FATAL_FAILURE(expect_kept(order, x, x_zero, "from zero"));
    ASSERT_NO_FATAL_FAILURE(check_chosen(gs, b, half.clone(), x));
    gs.residual_after_zero(b, half, x);
    ASSERT_NO_FATAL_FAILURE(expect_kept(order, half, residual, "residual"));
    A.permute(guess, x);
    half.fill(rubbish);
    gs.from_guess(b, half, x);
    ASSERT_NO_FATAL_FAILURE(expect_kept(order, half, half_guess, "half, from a guess"));
    ASSERT_NO_FATAL_FAILURE(expect_kept(order, x, x_guess, "from a guess"));
  }

  /// Every third point, the last first, and a place of the result that no point has.
  void check_chosen(const DbsrGaussSeidel<T>& gs, const Vector<T>& b, Vector<T> half, const Vector<T>& x) const {
    const BlockColouring& order = gs.matrix().order();
    const auto before = half.clone();
    std::vector<std::int32_t> fine{-1};
    for (std::int64_t n = natural.size() - 1; n >= 0; n -= 3) {
      fine.push_back(order.position()[static_cast<std::size_t>(natural[n])]);
    }
    const DbsrInjection to(order, fine);
    Vector<T> chosen(to.size(), T(5));
    gs.coarse_residual_after_zero(b, half, x, to, chosen);
    ASSERT_EQ(chosen[0], T(5)) << "no point goes there";
    for (std::int64_t c = 1; c < to.size(); ++c) {
      const auto n = static_cast<std::size_t>(natural.size() - 1 - 3 * (c - 1));
      ASSERT_EQ(chosen[c], residual[n]) << "chosen point " << c;
    }
    std::vector<bool> touched(static_cast<std::size_t>(order.block_rows()));
    for (const auto row : to.block_rows()) touched[static_cast<std::size_t>(row)] = true;
    for (std::int64_t p = 0; p < order.positions(); ++p) {
      if (!touched[static_cast<std::size_t>(p / order.bsize())]) {
        ASSERT_EQ(half[p], before[p]) << "position " << p;
      }
    }
  }

  Array<std::int32_t> natural;
  BlockCsr<T> permuted_rows;
  reference::SequentialSweeps<T> sequential;
  Vector<T> r, guess;
  std::vector<T> product, x_zero, half_zero, residual, x_guess, half_guess;
};

template <class T>
void check_grid(const Grid& grid, const Stencil& stencil, const BlockOptions& options, std::uint64_t seed) {
  const StructMatrix<T> A = drawn_matrix<T>(grid, stencil, seed);
  const auto order = std::make_shared<BlockColouring>(grid_block_colouring(grid, stencil, options));
  const BlockCsr<T> rows = to_block_csr(A);
  const Case<T> wanted(rows, *order);
  const DbsrGaussSeidel<T> from_grid(A, order), from_rows(rows, order);
  ASSERT_NO_FATAL_FAILURE(wanted.check(from_grid));
  ASSERT_NO_FATAL_FAILURE(wanted.check(from_rows));
  EXPECT_EQ(from_grid.matrix().nonzeros(), A.nonzeros());
}

class Bsizes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Dbsr, Bsizes, testing::Values(1, 2, 4, 8, 16, 32, 64));

TEST_P(Bsizes, EveryTargetHasTheBitsOfTheSequentialMethod) {
  reference::on_every_target([&] {
    const BlockOptions fixed{BlockChoice::fixed, {}, GetParam(), 1}, points{BlockChoice::given, {1, 1, 1}, GetParam(), 1};
    check_grid<double>({13, 11, 9}, stencils::box27(), fixed, 1);
    check_grid<float>({13, 11, 9}, stencils::box27(), fixed, 2);
    check_grid<double>({13, 11, 9}, stencils::star7(), points, 3);
    check_grid<double>({21, 18, 1}, stencils::box9(), fixed, 4);
    check_grid<float>({9, 9, 9}, stencils::diamond25(), fixed, 5);
  });
}

TEST_P(Bsizes, EveryThreadCountHasTheSameBits) {
  for (const int count : {1, 2, 3, 4}) {
    set_threads(count);
    check_grid<double>({20, 19, 18}, stencils::box27(), {BlockChoice::fixed, {}, GetParam(), 1}, 6);
    check_grid<double>({20, 19, 18}, stencils::star13(), {BlockChoice::given, {3, 2, 5}, GetParam(), 1}, 7);
  }
  set_threads(0);
}

TEST(DbsrSweep, RandomGridsStencilsAndBlocks) {
  std::mt19937_64 random(5);
  for (int n = 0; n < 150; ++n) {
    const bool flat = n % 3 == 0;
    const Stencil stencil = reference::random_stencil(random, 12, 1 + n % 3, flat);
    const Grid grid = reference::random_grid(random, 11, flat);
    const auto side = [&] { return static_cast<std::int64_t>(1 + random() % 5); };
    SCOPED_TRACE(testing::Message() << "case " << n);
    ASSERT_NO_FATAL_FAILURE(check_grid<double>(
        grid, stencil, {BlockChoice::given, {side(), side(), side()}, 1 << (n % 7), 1}, static_cast<std::uint64_t>(n)));
  }
}

TEST(DbsrSweep, AnyGraphByAlgebraicBlocks) {
  for (int seed = 0; seed < 12; ++seed) {
    const auto A = reference::with_random_values<double>(
        reference::random_rows(1 + 17 * seed, 0.05, static_cast<std::uint64_t>(seed)), 1, 3);
    const PatternView view{A.block_rows(), A.row_start().data(), A.column().data()};
    const auto order = std::make_shared<BlockColouring>(graph_block_colouring(view, 6, 1 << (seed % 4)));
    ASSERT_NO_FATAL_FAILURE(Case<double>(A, *order).check(DbsrGaussSeidel<double>(A, order)));
  }
}

/// Five blocks of a colour in a row, four lanes: a group begins in one row of blocks and ends in the next.
TEST(DbsrSweep, LanesThatWrapFromOneRowOfBlocksToTheNext) {
  const Grid grid{20, 12, 4};
  const BlockOptions options{BlockChoice::given, {2, 2, 2}, 4, 1};
  const auto order = grid_block_colouring(grid, stencils::box27(), options);
  bool wraps = false;
  for (std::int64_t row = 1; row + 1 < order.block_rows(); ++row) {
    const auto first = order.point()[static_cast<std::size_t>(row * 4)],
               last = order.point()[static_cast<std::size_t>(row * 4 + 3)];
    wraps = wraps || (first >= 0 && last >= 0 && first / 20 != last / 20);
  }
  EXPECT_TRUE(wraps);
  check_grid<double>(grid, stencils::box27(), options, 9);
}

/// Three points in a row, −1 2 −1, red 0 and 2, black 1, two lanes. r = (1, 2, 3): forward red x = (1/2, 3/2), then
/// w = 2 + 2 = 4, x_1 = 2; backward black 2, red (1 + 2) / 2 and (3 + 2) / 2.
TEST(DbsrSweep, ThreePointsByHand) {
  StructMatrix<double> A({3, 1, 1}, Stencil({{-1, 0, 0}, {0, 0, 0}, {1, 0, 0}}));
  A.fill([](std::int64_t, std::int64_t, std::int64_t, int entry, std::span<double> a) { a[0] = entry == 1 ? 2 : -1; });
  const auto order =
      std::make_shared<BlockColouring>(grid_block_colouring(A.grid(), A.stencil(), {BlockChoice::given, {1, 1, 1}, 2, 1}));
  const DbsrGaussSeidel<double> gs(A, order);
  EXPECT_EQ(gs.matrix().pattern().lower.blocks(), 2) << "to point 0, which is left of it, and to point 2";
  Vector<double> r({1, 2, 3}), b(order->positions()), half(order->positions()), x(order->positions()), z(3);
  gs.matrix().permute(r, b);
  gs.from_zero(b, half, x);
  gs.matrix().permute_back(x, z);
  EXPECT_EQ(std::vector<double>(z.begin(), z.end()), (std::vector<double>{1.5, 2, 2.5}));
  gs.residual_after_zero(b, half, x);
  gs.matrix().permute_back(half, z);
  EXPECT_EQ(std::vector<double>(z.begin(), z.end()), (std::vector<double>{0, 2, 0})) << "r − A x";
}

/// Even points of 4×4×4 blocks are one block row in eight, and their residuals are those of the whole vector.
TEST(DbsrSweep, EvenPointsAreBlockRowsOfTheirOwn) {
  const Grid grid{32, 24, 16};
  const auto A = drawn_matrix<double>(grid, stencils::box27(), 11);
  for (const int bsize : {1, 8}) {
    const auto order = std::make_shared<BlockColouring>(
        grid_block_colouring(grid, stencils::box27(), {BlockChoice::fixed, {}, bsize, 1}));
    const DbsrGaussSeidel<double> gs(A, order);
    std::vector<std::int32_t> fine;
    for (std::int64_t p = 0; p < grid.points(); ++p) {
      const bool odd = p % grid.nx % 2 || p / grid.nx % grid.ny % 2 || p / grid.nx / grid.ny % 2;
      if (!odd) fine.push_back(order->position()[static_cast<std::size_t>(p)]);
    }
    const DbsrInjection to(*order, fine);
    EXPECT_EQ(std::ssize(to.block_rows()) * bsize, grid.points() / 8);
    Vector<double> b(order->positions()), half(order->positions()), x(order->positions()), coarse(to.size());
    gs.matrix().permute(drawn<double>(grid.points(), 12), b);
    for (const int count : {1, 2, 3, 4}) {
      set_threads(count);
      gs.from_zero(b, half, x);
      gs.coarse_residual_after_zero(b, half, x, to, coarse);
      gs.from_zero(b, half, x);
      gs.residual_after_zero(b, half, x);
      for (std::size_t c = 0; c < fine.size(); ++c) ASSERT_EQ(coarse[static_cast<std::int64_t>(c)], half[fine[c]]) << c;
    }
    set_threads(0);
  }
}

TEST(DbsrSweep, ChosenPointsThatDoNotFitAreRefused) {
  const Grid grid{8, 8, 1};
  const auto order = std::make_shared<BlockColouring>(grid_block_colouring(grid, stencils::star5()));
  const auto end = static_cast<std::int32_t>(order->positions());
  EXPECT_ERROR(DbsrInjection(*order, std::vector<std::int32_t>{end}), bad_argument, "place 0 wants position");
  EXPECT_ERROR(DbsrInjection(*order, std::vector<std::int32_t>{9, 9}), bad_argument, "place 1 wants position 9");
  const DbsrGaussSeidel<double> gs(drawn_matrix<double>(grid, stencils::star5(), 1), order);
  const DbsrInjection to(*order, std::vector<std::int32_t>{9, 10});
  Vector<double> r(end, 1.0), half(end), x(end), coarse(2), longer(3);
  gs.from_zero(r, half, x);
  EXPECT_ERROR(gs.coarse_residual_after_zero(r, half, x, to, longer), size_mismatch, "coarse");
  const auto other = grid_block_colouring({9, 8, 1}, stencils::star5());
  const DbsrInjection elsewhere(other, std::vector<std::int32_t>{9, 10});
  EXPECT_ERROR(gs.coarse_residual_after_zero(r, half, x, elsewhere, coarse), size_mismatch, "chosen points");
}

TEST(DbsrSweep, NewValuesWithoutNewPattern) {
  const Grid grid{9, 8, 7};
  const auto order = std::make_shared<BlockColouring>(grid_block_colouring(grid, stencils::star7()));
  const auto A = drawn_matrix<double>(grid, stencils::star7(), 1), B = drawn_matrix<double>(grid, stencils::star7(), 2);
  DbsrGaussSeidel<double> gs(A, order);
  gs.refresh(B);
  Case<double>(to_block_csr(B), *order).check(gs);
  gs.refresh(to_block_csr(A));
  Case<double>(to_block_csr(A), *order).check(gs);
  EXPECT_ERROR(gs.refresh(drawn_matrix<double>(grid, stencils::box27(), 3)), structure, "in the pattern");
}

TEST(DbsrSweep, BadDiagonalsAreNamed) {
  for (const double bad : {0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    auto A = drawn_matrix<double>({6, 5, 1}, stencils::star5(), 1);
    A.block(17, A.stencil().center())[0] = bad;
    const auto order = std::make_shared<BlockColouring>(grid_block_colouring(A.grid(), A.stencil()));
    EXPECT_ERROR(DbsrGaussSeidel<double>(A, order), bad_argument, "row 17");
  }
  const StructMatrix<double> pairs({4, 4, 1}, stencils::star5(), 2);
  const auto order = std::make_shared<BlockColouring>(grid_block_colouring(pairs.grid(), pairs.stencil()));
  EXPECT_ERROR(DbsrMatrix<double>(pairs, order), bad_argument, "2 unknowns a point");
  const auto other = drawn_matrix<double>({5, 4, 1}, stencils::star5(), 1);
  EXPECT_ERROR(DbsrMatrix<double>(other, order), structure, "16 points");
  const auto box = drawn_matrix<double>({16, 16, 1}, stencils::box9(), 1);
  const auto red_black = std::make_shared<BlockColouring>(
      grid_block_colouring({16, 16, 1}, stencils::star5(), {BlockChoice::given, {1, 1, 1}, 4, 1}));
  EXPECT_NO_THROW(DbsrMatrix<double>(drawn_matrix<double>({16, 16, 1}, stencils::star5(), 1), red_black));
  (void)box;
}

}  // namespace
}  // namespace echelon
