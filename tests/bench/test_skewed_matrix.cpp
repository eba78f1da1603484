// SPDX-License-Identifier: BSD-3-Clause
// Conversion to a layout and back returns every value, over random stencils, ragged grids and blocks; places are those the
// layout names; assembly in place equals conversion of the assembled; short storage rounds; vectors too.
#include <gtest/gtest.h>

#include <cmath>

#include "bench/layout/layout_convert.hpp"
#include "bench/layout/skewed_matrix.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

struct Case {
  Grid grid;
  Stencil stencil;
  int dof;
  EntryRange entries;
  LayoutChoice choice;
};

Case draw(std::mt19937_64& random, int dof, int largest_side) {
  const bool flat = random() % 4 == 0;
  Stencil stencil = reference::random_stencil(random, 10, 3, flat);
  const EntryRange choices[] = {lower_entries(stencil), upper_entries(stencil), diagonal_and_upper_entries(stencil),
                                all_entries(stencil)};
  const EntryRange entries = choices[random() % 4];
  const LayoutChoice choice{random() % 2 ? LayoutKind::skewed : LayoutKind::tile_contiguous,
                            random() % 2 ? Triangle::lower : Triangle::upper,
                            {1 + static_cast<int>(random() % 6), 1 + static_cast<int>(random() % 6)}};
  return {reference::random_grid(random, largest_side, flat), std::move(stencil), dof, entries, choice};
}

template <class T>
SkewedMatrix<T> make(const Case& c) {
  return {c.grid, c.stencil, c.dof, c.entries, c.choice};
}

template <class User>
StructMatrix<User> numbered(const Case& c) {
  StructMatrix<User> A(c.grid, c.stencil, c.dof);
  for (std::size_t n = 0; n < A.values().size(); ++n) A.values()[n] = static_cast<User>(0.1 + static_cast<double>(n));
  return A;
}

template <class User, class Laid>
void expect_round_trip(const Case& c) {
  const auto A = numbered<User>(c);
  auto S = make<Laid>(c);
  for (Laid& value : S.values()) value = Laid(-7);  // so that whatever conversion leaves out is seen
  S.assign(A);
  const int b = c.dof;
  std::size_t held = 0;
  double sum = 0;
  for (int k = 0; k < c.grid.nz; ++k) {
    for (int j = 0; j < c.grid.ny; ++j) {
      for (int i = 0; i < c.grid.nx; ++i) {
        const Place place = S.layout().view().place({i, j, k});
        for (int e = c.entries.begin; e < c.entries.end; ++e) {
          const auto block = A.block(c.grid.index(i, j, k), e);
          for (int n = 0; n < b * b; ++n, ++held) {
            const auto at = static_cast<std::size_t>(place.at(e, n % b, n / b));
            ASSERT_EQ(S.values()[at], static_cast<Laid>(block[static_cast<std::size_t>(n)]));
            sum += static_cast<double>(S.values()[at]);
          }
        }
      }
    }
  }
  double all = 0;
  for (const Laid value : S.values()) all += static_cast<double>(value);
  ASSERT_NEAR(all, sum, 1e-9 * sum) << "padding is zero";

  StructMatrix<User> back(c.grid, c.stencil, c.dof);
  std::fill(back.values().begin(), back.values().end(), User(-1));
  S.copy_to(back);
  std::size_t untouched = 0;
  for (std::size_t n = 0; n < A.values().size(); ++n) {
    if (back.values()[n] == User(-1)) {
      ++untouched;
    } else {
      ASSERT_EQ(back.values()[n], static_cast<User>(static_cast<Laid>(A.values()[n])));
    }
  }
  ASSERT_EQ(untouched + held, A.values().size()) << "entries that are not held stay as they are";
}

TEST(SkewedMatrix, RoundTripsOfRandomStencilsGridsAndBlocks) {
  std::mt19937_64 random(31);
  for (int trial = 0; trial < 600; ++trial) {
    SCOPED_TRACE(testing::Message() << "trial " << trial);
    constexpr int dofs[] = {1, 2, 3, 4, 5, 6, 7, 8, 11};
    const int dof = dofs[trial % 9];
    const Case c = draw(random, dof, dof > 3 ? 6 : 10);
    switch (trial % 3) {
      case 0: ASSERT_NO_FATAL_FAILURE((expect_round_trip<double, double>(c))); break;
      case 1: ASSERT_NO_FATAL_FAILURE((expect_round_trip<float, float>(c))); break;
      default: ASSERT_NO_FATAL_FAILURE((expect_round_trip<double, float>(c))); break;
    }
  }
}

TEST(SkewedMatrix, RoundTripsWithThreadsAndPanelsThatWrap) {
  for (const auto kind : {LayoutKind::skewed, LayoutKind::tile_contiguous}) {
    for (const auto triangle : {Triangle::lower, Triangle::upper}) {
      for (const Grid grid : {Grid{40, 75, 20}, Grid{7, 100, 33}}) {
        const Stencil box = stencils::box27();
        expect_round_trip<double, double>({grid, box, 1, all_entries(box), {kind, triangle, {32, 8}}});
      }
    }
  }
}

template <class T>
void expect_assembly(const Case& c) {
  const auto value = [&](std::int64_t i, std::int64_t j, std::int64_t k, int e, std::span<T> block) {
    for (std::size_t n = 0; n < block.size(); ++n) {
      block[n] += static_cast<T>(static_cast<double>(c.grid.index(i, j, k) * 100 + e) + 0.01 * static_cast<double>(n));
    }
  };
  StructMatrix<T> A(c.grid, c.stencil, c.dof);
  A.fill(value);
  auto converted = make<T>(c), assembled = make<T>(c);
  converted.assign(A);
  for (T& v : assembled.values()) v = T(-7);
  assembled.fill(value);
  ASSERT_TRUE(std::equal(converted.values().begin(), converted.values().end(), assembled.values().begin()));
}

TEST(SkewedMatrix, AssemblyInPlaceIsConversionOfTheAssembled) {
  std::mt19937_64 random(32);
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(testing::Message() << "trial " << trial);
    const Case c = draw(random, 1 + trial % 4, 9);
    ASSERT_NO_FATAL_FAILURE(expect_assembly<double>(c));
    ASSERT_NO_FATAL_FAILURE(expect_assembly<float>(c));
  }
}

TEST(SkewedMatrix, VectorsGoThereAndBack) {
  std::mt19937_64 random(33);
  for (int trial = 0; trial < 300; ++trial) {
    const Case c = draw(random, 1 + trial % 9, 9);
    const Wavefront front = wavefront(c.grid, c.stencil, c.choice.triangle);
    const auto stored = StoredBlocks::vector(c.dof, 8);
    const Layout layout = c.choice.kind == LayoutKind::skewed
                              ? Layout::skewed(front, stored)
                              : Layout::tile_contiguous(front, c.stencil, c.choice.shape, stored);
    Vector<double> x(c.grid.points() * c.dof), y(layout.size()), z(x.size(), -1.0);
    for (std::int64_t n = 0; n < x.size(); ++n) x[n] = static_cast<double>(n + 1);
    to_layout<double, double>(layout, x.span(), y.span());
    for (std::int64_t n = 0; n < c.grid.points(); ++n) {
      const Ijk p{static_cast<int>(n % c.grid.nx), static_cast<int>(n / c.grid.nx % c.grid.ny),
                  static_cast<int>(n / c.grid.nx / c.grid.ny)};
      for (int r = 0; r < c.dof; ++r)
        ASSERT_EQ(y[layout.view().place(p).at(0, r, 0)], x[n * c.dof + r]) << "trial " << trial;
    }
    to_user<double, double>(layout, y.span(), z.span());
    for (std::int64_t n = 0; n < x.size(); ++n) ASSERT_EQ(z[n], x[n]) << "trial " << trial;
  }
}

TEST(SkewedMatrixBadInput, ChoicesSizesAndWhatFillThrows) {
  const Stencil star = stencils::star7();
  EXPECT_ERROR(SkewedMatrix<double>({4, 4, 4}, star, 1, all_entries(star), {LayoutKind::user, Triangle::lower, {}}),
               bad_argument, "StructMatrix");
  EXPECT_ERROR(SkewedMatrix<double>({4, 4, 4}, star, 1, {0, 8}, {}), bad_argument, "which has 7");
  EXPECT_ERROR(SkewedMatrix<double>({4, 4, 4}, star, 0, all_entries(star), {}), bad_argument, "0x0 blocks");
  SkewedMatrix<double> S({4, 4, 4}, star, 1, all_entries(star), {});
  EXPECT_ERROR(S.assign(StructMatrix<double>({4, 4, 5}, star)), size_mismatch, "4x4x5");
  EXPECT_ERROR(S.assign(StructMatrix<double>({4, 4, 4}, stencils::box27())), size_mismatch, "'box27'");
  EXPECT_ERROR(S.fill([](std::int64_t i, auto, auto, int, std::span<double>) {
    if (i == 3) throw Error(ErrorCode::bad_argument, "mine");
  }),
               bad_argument, "mine");
  const Layout layout = Layout::skewed(wavefront({4, 4, 4}, star), StoredBlocks::vector(1, 8));
  Vector<double> x(64), y(63);
  Vector<float> f(64);
  EXPECT_ERROR((to_layout<double, double>(layout, x.span(), y.span())), size_mismatch, "got 63");
  EXPECT_ERROR((to_layout<double, double>(layout, y.span(), x.span())), size_mismatch, "got 63");
  EXPECT_ERROR((to_layout<double, float>(layout, x.span(), f.span())), bad_argument, "4 bytes");
  EXPECT_ERROR((to_layout<double, double>(Layout::user({4, 4, 4}, 1), x.span(), x.span())), bad_argument, "user order");
}

}  // namespace
}  // namespace echelon
