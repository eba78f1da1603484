// SPDX-License-Identifier: BSD-3-Clause
// The tile protocol with threads: sweeps of random matrices equal the sequential ones bit for bit, with many more tiles than
// threads, more threads than processors, and again and again on the same flags.
#include <gtest/gtest.h>

#include <numeric>

#include "echelon/base/small_block.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/random_stencil.hpp"
#include "tests/reference/run_tiles.hpp"

namespace echelon {
namespace {

/// x ← r − Σ A_e x_neighbour over the triangle's neighbours inside, one point.
void sweep_point(const StructMatrix<double>& A, Triangle triangle, Ijk p, Vector<double>& x) {
  const Grid& grid = A.grid();
  const int b = A.dof(), center = A.stencil().center();
  const std::int64_t point = grid.index(p.i, p.j, p.k);
  const bool upper = triangle == Triangle::upper;
  for (int e = upper ? center + 1 : 0; e < (upper ? A.stencil().size() : center); ++e) {
    const Offset o = A.stencil().offsets()[e];
    if (!grid.contains(p.i + o.x, p.j + o.y, p.k + o.z)) continue;
    const std::int64_t other = grid.index(p.i + o.x, p.j + o.y, p.k + o.z);
    subtract_product<0>(b, A.block(point, e).data(), x.data() + other * b, x.data() + point * b);
  }
}

Vector<double> right_side(std::int64_t rows) {
  Vector<double> x(rows);
  for (std::int64_t i = 0; i < rows; ++i) x[i] = 1.0 / static_cast<double>(i % 97 + 3);
  return x;
}

Vector<double> sequential(const StructMatrix<double>& A, Triangle triangle) {
  Vector<double> x = right_side(A.rows());
  const Grid& g = A.grid();
  for (std::int64_t n = 0; n < g.points(); ++n) {
    const std::int64_t p = triangle == Triangle::upper ? g.points() - 1 - n : n;
    sweep_point(A, triangle,
                {static_cast<int>(p % g.nx), static_cast<int>(p / g.nx % g.ny), static_cast<int>(p / g.nx / g.ny)}, x);
  }
  return x;
}

void by_tiles(const StructMatrix<double>& A, const TileSchedule& schedule, TileProgress& progress, int chunk,
              Triangle triangle, Vector<double>& x) {
  const TileView view = schedule.view();
  run_tiles(schedule, progress, chunk, [&](const Tile& tile, int begin, int end) {
    for (int level = begin; level < end; ++level) {
      for (int z = tile.z; z < view.end_z(tile); ++z) {
        const LineRange lines = view.lines_at(tile, level, z);
        for (int y = lines.begin; y < lines.end; ++y) sweep_point(A, triangle, view.front.on_line(y, z, level), x);
      }
    }
  });
}

struct Case {
  Grid grid;
  Stencil stencil;
  int dof;
};

void expect_equal(const Case& c, TileShape shape, int team) {
  set_threads(team);
  const auto A = problems::random(c.grid, c.stencil, c.dof, 5);
  for (const auto triangle : {Triangle::lower, Triangle::upper}) {
    const TileSchedule schedule(wavefront(c.grid, c.stencil, triangle), c.stencil, shape);
    TileProgress progress(schedule);
    const auto wanted = sequential(A, triangle);
    for (const int chunk : {1, 3, 8, 1000}) {
      Vector<double> x = right_side(A.rows());
      by_tiles(A, schedule, progress, chunk, triangle, x);
      for (std::int64_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(x[i], wanted[i]) << c.stencil.name() << ", " << team << " threads, chunk " << chunk << ", row " << i;
      }
    }
  }
  set_threads(0);
}

TEST(RunTiles, SweepsEqualTheSequentialOnesBitForBit) {
  for (const char* name : {"star7", "box27", "diamond25"}) {
    for (const int team : {1, 2, 4}) {
      const Stencil stencil = stencils::named(name);
      const Case c{{14, 19, 17}, stencil, team == 2 ? 3 : 1};
      ASSERT_GE(TileSchedule(wavefront(c.grid, stencil), stencil, {3, 3}).count(), 8 * team);
      expect_equal(c, {3, 3}, team);
    }
  }
}

TEST(RunTiles, RandomStencilsAndThinGrids) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 40; ++trial) {
    const bool flat = trial % 4 == 0;
    const Stencil stencil = reference::random_stencil(random, 12, 3, flat);
    const Grid grid = reference::random_grid(random, 12, flat);
    SCOPED_TRACE(testing::Message() << "trial " << trial);
    expect_equal({grid, stencil, 1}, {1 + trial % 3, 1 + trial % 2}, 2 + trial % 3);
  }
}

TEST(RunTiles, InsideAnotherRegionOneThreadDoesEverything) {
  const Stencil box = stencils::box27();
  const auto A = problems::random({6, 6, 6}, box, 1, 5);
  const TileSchedule schedule(wavefront(A.grid(), box), box, {2, 2});
  TileProgress progress(schedule);
  Vector<double> x = right_side(A.rows());
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    by_tiles(A, schedule, progress, 4, Triangle::lower, x);
  }
  const auto wanted = sequential(A, Triangle::lower);
  for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], wanted[i]);
}

}  // namespace
}  // namespace echelon
