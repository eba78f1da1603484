// SPDX-License-Identifier: BSD-3-Clause
// The walk of the GPU's plain sweep on the host, in every kind of layout: tiles by ticket, a tile's levels in turn, the
// points of a level through the layout's place. It meets no neighbour before its turn, and the bits are those of the loop
// over points.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "echelon/sweep/grid_gpu/wavefront_plan.hpp"
#include "tests/reference/random_stencil.hpp"
#include "tests/reference/tile_order_values.hpp"

namespace echelon {
namespace {

/// One scalar a point; x begins as NaN, so that whoever reads too early is found out.
Vector<double> swept(const TileOrder& order, Triangle triangle, const Array<double>& values, const Vector<double>& r) {
  const bool lower = triangle == Triangle::lower;
  const LayoutView &matrix = order.matrix(), &vector = order.vector();
  const TileView& tiles = vector.tiles;
  const SweepTriangle entries = sweep_triangle(vector.front, order.stencil(), triangle);
  Vector<double> x(order.vector_scalars(), std::numeric_limits<double>::quiet_NaN());
  const auto row = [&](Ijk p) {
    const Place at = matrix.place(p);
    double sum = r[vector.place(p).first];
    for (const SweepNeighbour& n : entries.neighbours) {
      const Offset o = order.stencil().offsets()[static_cast<std::size_t>(n.entry)];
      if (!order.grid().contains(p.i + o.x, p.j + o.y, p.k + o.z)) continue;
      sum = std::fma(-values[at.at(n.entry, 0, 0)], x[vector.place({p.i + o.x, p.j + o.y, p.k + o.z}).first], sum);
    }
    x[vector.place(p).first] = lower ? sum : values[at.at(order.stencil().center(), 0, 0)] * sum;
  };
  for (int ticket = 0; ticket < tiles.count; ++ticket) {
    const Tile& tile = tiles.tiles[lower ? ticket : tiles.count - 1 - ticket];
    for (int step = 0; step < tile.levels; ++step) {
      const int level = lower ? tile.first_level + step : tile.first_level + tile.levels - 1 - step;
      for (int z = tile.z; z < tiles.end_z(tile); ++z) {
        const LineRange lines = tiles.lines_at(tile, level, z);
        for (int y = lines.begin; y < lines.end; ++y) row(vector.front.on_line(y, z, level));
      }
    }
  }
  return x;
}

TEST(SweepByPlace, HasTheBitsOfTheLoopOverPoints) {
  std::mt19937_64 random(31);
  for (int repeat = 0; repeat < 150; ++repeat) {
    const bool flat = repeat % 4 == 0;
    const Stencil stencil = reference::random_stencil(random, 9, 2, flat);
    const Grid grid = reference::random_grid(random, 11, flat);
    const TileShape shape{1 + static_cast<int>(random() % 6), 1 + static_cast<int>(random() % 6)};
    StructMatrix<double> LU(grid, stencil, 1);
    Vector<double> r(grid.points());
    for (std::int64_t i = 0; i < r.size(); ++i) r[i] = std::sin(1.3 * static_cast<double>(i));
    LU.fill([&](std::int64_t i, std::int64_t j, std::int64_t k, int entry, std::span<double> block) {
      block[0] = std::sin(static_cast<double>(7 * i + 3 * j + 5 * k + entry)) / stencil.size();
    });
    for (const LayoutKind kind : {LayoutKind::tile_contiguous, LayoutKind::skewed, LayoutKind::user}) {
      const TileOrder order(grid, stencil, 1, shape, Device::host(), kind);
      const auto values = reference::in_tile_order(order, LU);
      const auto laid = reference::in_tile_order(order, r);
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        const auto got = reference::in_natural_order(order, swept(order, triangle, values, laid));
        const auto expected = reference::sweep(LU, triangle, r);
        for (std::int64_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], expected[i]) << repeat << ", unknown " << i;
      }
    }
  }
}

}  // namespace
}  // namespace echelon
