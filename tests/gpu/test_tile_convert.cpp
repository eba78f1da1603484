// SPDX-License-Identifier: BSD-3-Clause
// Conversions to tile order and back: on the host against the host's own converter and by hand, on a GPU bit for bit against
// the host over random stencils, grids, blocks and tile shapes; what is missing or padding is zero.
#include "echelon/matrix/grid_gpu/tile_convert.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "bench/layout/layout_convert.hpp"
#include "echelon/matrix/grid_gpu/tile_convert_view.hpp"
#include "echelon/stencil/stencil_fill.hpp"
#include "tests/expect_error.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

template <class T>
Array<T> numbered(std::int64_t n) {
  Array<T> values(n);
  for (std::int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(std::sin(0.37 * static_cast<double>(i + 1)));
  return values;
}

template <class T>
bool same_bytes(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0;
}

/// What a conversion may meet: any stencil and grid, any tile, blocks with and without a kernel of their own.
struct Drawn {
  Stencil stencil;
  Grid grid;
  int dof;
  TileShape shape;
  LayoutKind kind = LayoutKind::tile_contiguous;

  TileOrder order(Device device) const { return TileOrder(grid, stencil, dof, shape, device, kind); }
};

Drawn draw(std::mt19937_64& random, int most_side) {
  const bool flat = random() % 4 == 0;
  Stencil stencil = reference::random_stencil(random, 9, 3, flat);
  const Grid grid = reference::random_grid(random, most_side, flat);
  constexpr int dofs[] = {1, 1, 2, 3, 4, 5, 6, 7, 8, 11};
  constexpr int sides[] = {1, 2, 3, 4, 5, 8, 16, 33};
  return {std::move(stencil), grid, dofs[random() % 10], {sides[random() % 8], sides[random() % 8]}};
}

std::int64_t matrix_size(const Drawn& one) { return one.grid.points() * one.stencil.size() * one.dof * one.dof; }

TEST(TileConversion, OnTheHostIsTheLayoutsConversion) {
  std::mt19937_64 random(11);
  for (int repeat = 0; repeat < 100; ++repeat) {
    Drawn one = draw(random, 9);
    if (repeat % 3 == 0) one.kind = LayoutKind::skewed;
    const TileOrder order = one.order(Device::host());
    const TileConversion convert(order, one.stencil);
    const auto user = numbered<float>(matrix_size(one));
    Array<float> tiles(order.matrix_scalars(), 7.0F), expected(order.matrix_scalars(), 7.0F), back(user.size());
    convert.matrix_to_tiles(user, tiles);
    to_layout<float, float>(order.host_matrix(), user.span(), expected.span());
    ASSERT_TRUE(same_bytes(tiles, expected)) << repeat;
    convert.matrix_to_user(tiles, back);
    ASSERT_TRUE(same_bytes(back, user)) << repeat;
    const auto x = numbered<float>(one.grid.points() * one.dof);
    Array<float> laid(order.vector_scalars(), 7.0F), laid_expected(order.vector_scalars(), 7.0F), x_back(x.size());
    convert.vector_to_tiles(x, laid);
    to_layout<float, float>(order.host_vector(), x.span(), laid_expected.span());
    ASSERT_TRUE(same_bytes(laid, laid_expected)) << repeat;
    convert.vector_to_user(laid, x_back);
    ASSERT_TRUE(same_bytes(x_back, x)) << repeat;
  }
}

TEST(TileConversion, EntriesThatTheMatrixLacksBecomeZero) {
  const Grid grid{5, 4, 3};
  const TileOrder order(grid, stencils::diamond13(), 2, {2, 2}, Device::host());
  const TileConversion convert(order, stencils::star7());
  const auto user = numbered<double>(grid.points() * 7 * 4);
  Array<double> tiles(order.matrix_scalars(), 7.0), back(user.size(), 7.0);
  convert.matrix_to_tiles(user, tiles);
  double sum = 0, expected = 0;
  for (const double value : tiles) sum += value * value;
  for (const double value : user) expected += value * value;
  EXPECT_NEAR(sum, expected, 1e-10 * expected) << "something beside the matrix' values is there";
  convert.matrix_to_user(tiles, back);
  EXPECT_TRUE(same_bytes(back, user));
}

TEST(TileConversion, RoundsScaledPartsAndCountsWhatLeavesTheRange) {
  const TileOrder order({3, 1, 1}, Stencil({{-1, 0, 0}, {1, 0, 0}}), 1, {1, 1}, Device::host());
  const TileConversion convert(order, order.stencil());
  // L, D, U of three points; FP16 ends at 65504.
  const Array<double> user = {0, 3, 1e5, 8, 8, 1e6, 2e6, 1, std::numeric_limits<double>::infinity()};
  const PartScales scales{1, 0.5, 0.25};
  Array<std::byte> tiles(order.matrix_scalars() * 2), again(order.matrix_scalars() * 2);
  EXPECT_EQ(convert.narrow_to_tiles(user, scales, Stored::fp16, tiles), 3) << "1e5, 5e5 and 5e5; infinity stays";
  const auto at = [&](int point, int entry) {
    return widened(tiles.data(), order.host_matrix().view().place({point, 0, 0}).at(entry, 0, 0), Stored::fp16);
  };
  EXPECT_EQ(at(1, 0), 3);
  EXPECT_EQ(at(0, 1), 4);
  EXPECT_EQ(at(1, 2), 0.25);
  EXPECT_TRUE(std::isinf(at(2, 0)));

  Array<double> wide(order.matrix_scalars());
  convert.matrix_to_tiles(user, wide);
  EXPECT_EQ(narrow_tiles(order, wide, scales, Stored::fp16, again), 3);
  EXPECT_TRUE(same_bytes(tiles, again));
}

TEST(TileConversion, UserOrderIsACopy) {
  const Drawn one{stencils::box27(), {5, 4, 3}, 2, {2, 2}, LayoutKind::user};
  const TileOrder order = one.order(Device::host());
  const TileConversion convert(order, one.stencil);
  const auto user = numbered<double>(matrix_size(one)), x = numbered<double>(one.grid.points() * 2);
  Array<double> there(order.matrix_scalars(), 7.0), x_there(order.vector_scalars(), 7.0);
  convert.matrix_to_tiles(user, there);
  convert.vector_to_tiles(x, x_there);
  EXPECT_TRUE(same_bytes(there, user));
  EXPECT_TRUE(same_bytes(x_there, x));
}

TEST(TileConversion, RefusesWhatDoesNotFit) {
  const TileOrder order({4, 4, 4}, stencils::star7(), 1, {2, 2}, Device::host());
  EXPECT_ERROR(TileConversion(order, stencils::box27()), structure, "(-1,-1,-1)");
  const TileConversion convert(order, stencils::star7());
  Array<double> tiles(order.matrix_scalars()), few(3);
  EXPECT_ERROR(convert.matrix_to_tiles(few, tiles), size_mismatch, "448");
  EXPECT_ERROR(convert.vector_to_tiles(few, tiles), size_mismatch, "64");
  const TileOrder skewed({4, 4, 4}, stencils::star7(), 1, {2, 2}, Device::host(), LayoutKind::skewed);
  Array<std::byte> narrow(skewed.matrix_scalars() * 4);
  EXPECT_ERROR(narrow_tiles(skewed, tiles, {}, Stored::fp32, narrow), bad_argument, "not in tile order");
}

TEST(ConvertCut, FitsTheThreadsAndCoversTheTile) {
  std::mt19937_64 random(12);
  for (int repeat = 0; repeat < 300; ++repeat) {
    Drawn one = draw(random, 12);
    if (repeat % 10 == 0) one.dof = 40 + static_cast<int>(random() % 30);
    const TileOrder order(one.grid, one.stencil, one.dof, one.shape, Device::host());
    for (const auto* layout : {&order.matrix(), &order.vector()}) {
      const ConvertCut cut =
          convert_cut(*layout, order.host_vector().tiles().longest(), 8, {repeat % 2 == 0 ? 64 : 32, 1 + repeat % 5});
      EXPECT_LE(cut.elements(layout->rows), ConvertCut::most_elements);
      EXPECT_GE(cut.elements(layout->rows), 1);
      EXPECT_EQ(cut.columns * cut.chunks, layout->columns);
      EXPECT_GE(cut.row_pitch, cut.lines() * layout->rows);
      EXPECT_GE(cut.lines_y * cut.boxes_y, layout->tiles.shape.y);
      EXPECT_GE(cut.lines_z * cut.boxes_z, layout->tiles.shape.z);
      EXPECT_GE(cut.levels * cut.windows_a_walk * cut.walks, order.host_vector().tiles().longest());
      EXPECT_LT(cut.buffer_scalars(), 1 << 16);
    }
  }
  for (int d = 1; d < 5000; d += 7) {
    const SmallDivisor by(d);
    for (unsigned n = 0; n < 65536; n += 11) ASSERT_EQ(by.quotient(n), n / static_cast<unsigned>(d)) << n << "/" << d;
  }
}

class TileConversionGpu : public GpuTest {
 protected:
  /// A matrix and a vector there and back, on the GPU and on the host.
  template <class T>
  void compare(const Drawn& one, const Stencil& user_stencil) {
    const TileOrder host = one.order(Device::host()), gpu = one.order(Device::cuda());
    const TileConversion on_host(host, user_stencil), on_gpu(gpu, user_stencil);
    const auto user = numbered<T>(one.grid.points() * user_stencil.size() * one.dof * one.dof);
    Array<T> expected(host.matrix_scalars());
    on_host.matrix_to_tiles(user, expected);
    const auto there = user.to(Device::cuda());
    auto tiles = Array<T>(expected.size(), T(7)).to(Device::cuda());
    on_gpu.matrix_to_tiles(there, tiles);
    ASSERT_TRUE(same_bytes(tiles.to(Device::host()), expected));
    auto back = Array<T>(user.size(), T(7)).to(Device::cuda());
    on_gpu.matrix_to_user(tiles, back);
    ASSERT_TRUE(same_bytes(back.to(Device::host()), user));

    const auto x = numbered<T>(one.grid.points() * one.dof);
    Array<T> x_expected(host.vector_scalars());
    on_host.vector_to_tiles(x, x_expected);
    const auto x_there = x.to(Device::cuda());
    auto x_tiles = Array<T>(x_expected.size(), T(7)).to(Device::cuda());
    on_gpu.vector_to_tiles(x_there, x_tiles);
    ASSERT_TRUE(same_bytes(x_tiles.to(Device::host()), x_expected));
    auto x_back = Array<T>(x.size(), T(7)).to(Device::cuda());
    on_gpu.vector_to_user(x_tiles, x_back);
    ASSERT_TRUE(same_bytes(x_back.to(Device::host()), x));

    const PartScales scales{1, 1e6, 1e-6};
    for (const Stored stored : {Stored::fp32, Stored::bf16, Stored::fp16}) {
      const std::int64_t bytes = host.matrix_scalars() * bytes_of(stored);
      Array<std::byte> short_expected(bytes), short_tiles(bytes, Device::cuda()), short_again(bytes, Device::cuda());
      const auto lost = on_host.narrow_to_tiles(user, scales, stored, short_expected);
      ASSERT_EQ(on_gpu.narrow_to_tiles(there, scales, stored, short_tiles), lost);
      ASSERT_TRUE(same_bytes(short_tiles.to(Device::host()), short_expected)) << word(stored);
      if (one.kind != LayoutKind::tile_contiguous) continue;
      ASSERT_EQ(narrow_tiles(gpu, tiles, scales, stored, short_again), lost);
      ASSERT_TRUE(same_bytes(short_again.to(Device::host()), short_expected)) << word(stored);
    }
  }
};

TEST_F(TileConversionGpu, HasTheBytesOfTheHost) {
  std::mt19937_64 random(13);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Drawn one = draw(random, 24);
    SCOPED_TRACE(repeat);
    if (matrix_size(one) > 300000) continue;  // the host takes its time
    ASSERT_NO_FATAL_FAILURE(compare<double>(one, one.stencil));
    ASSERT_NO_FATAL_FAILURE(compare<float>(one, one.stencil));
  }
}

/// What compute-sanitizer is run on.
TEST_F(TileConversionGpu, OneSmallCaseOfEachKernel) {
  compare<double>({stencils::star7(), {6, 5, 4}, 1, {4, 4}}, stencils::star7());
  compare<double>({stencils::star7(), {6, 5, 4}, 3, {2, 2}}, stencils::star7());
}

TEST_F(TileConversionGpu, LongLinesBigBlocksAndGrownStencils) {
  for (const Drawn& one :
       {Drawn{stencils::star7(), {257, 33, 18}, 1, {32, 16}}, Drawn{stencils::box27(), {300, 1, 1}, 1, {8, 8}},
        Drawn{stencils::star5(), {1, 200, 1}, 2, {32, 1}}, Drawn{stencils::star7(), {5, 4, 3}, 50, {4, 4}},
        Drawn{stencils::box27(), {70, 19, 23}, 1, {16, 8}}, Drawn{stencils::star7(), {40, 11, 9}, 8, {4, 4}}}) {
    ASSERT_NO_FATAL_FAILURE(compare<double>(one, one.stencil));
  }
  const Drawn larger{grown(stencils::box27(), 1), {19, 9, 11}, 2, {8, 8}};
  ASSERT_NO_FATAL_FAILURE(compare<double>(larger, stencils::box27()));
}

TEST_F(TileConversionGpu, OtherKindsToo) {
  std::mt19937_64 random(14);
  for (int repeat = 0; repeat < 60; ++repeat) {
    Drawn one = draw(random, 16);
    SCOPED_TRACE(repeat);
    if (matrix_size(one) > 200000) continue;
    one.kind = repeat % 4 == 0 ? LayoutKind::user : LayoutKind::skewed;
    ASSERT_NO_FATAL_FAILURE(compare<double>(one, one.stencil));
    ASSERT_NO_FATAL_FAILURE(compare<float>(one, one.stencil));
  }
  const Drawn larger{grown(stencils::box27(), 1), {19, 9, 11}, 2, {8, 8}, LayoutKind::skewed};
  ASSERT_NO_FATAL_FAILURE(compare<double>(larger, stencils::box27()));
}

TEST_F(TileConversionGpu, RefusesMixedPlaces) {
  const TileOrder order({4, 4, 4}, stencils::star7(), 1, {2, 2}, Device::cuda());
  const TileConversion convert(order, stencils::star7());
  Array<double> tiles(order.matrix_scalars(), Device::cuda());
  EXPECT_ERROR(convert.matrix_to_tiles(Array<double>(448), tiles), device, "host");
}

}  // namespace
}  // namespace echelon
