// SPDX-License-Identifier: BSD-3-Clause
// The plan of a GPU's block, without a GPU: the named stencils get the ring for every block size, and whatever is drawn, a
// plan that says it can run keeps the rules the kernel rests on.
#include "echelon/sweep/grid_gpu/wavefront_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "echelon/schedule/rows/sweep_plan.hpp"
#include "echelon/stencil/stencil_fill.hpp"
#include "echelon/stencil/tile_order.hpp"
#include "echelon/sweep/grid_gpu/wavefront_many.hpp"
#include "echelon/sweep/grid_gpu/wavefront_sweep_known.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

SweepTriangle triangle_of(const Grid& grid, const Stencil& stencil, Triangle triangle) {
  return sweep_triangle(wavefront(grid, symmetrised(stencil)), stencil, triangle);
}

TEST(WavefrontPlan, Star7HasThreeNeighboursOneLevelBehind) {
  const auto lower = triangle_of({8, 8, 8}, stencils::star7(), Triangle::lower);
  ASSERT_EQ(lower.neighbours.size(), 3u);
  for (const auto& n : lower.neighbours) EXPECT_EQ(n.behind, 1);
  EXPECT_EQ(lower.neighbours[0].dz, 1);  // the farthest first
  EXPECT_EQ(lower.neighbours[1].dy, 1);
  EXPECT_EQ(lower.early, 0);
  EXPECT_FALSE(lower.corner);
  const auto upper = triangle_of({8, 8, 8}, stencils::star7(), Triangle::upper);
  EXPECT_EQ(upper.neighbours[0].dz, 1);
  EXPECT_EQ(upper.neighbours[0].entry, 6);
}

TEST(WavefrontPlan, Box27LooksSevenLevelsBack) {
  const auto lower = triangle_of({8, 8, 8}, stencils::box27(), Triangle::lower);
  EXPECT_EQ(lower.deepest, 7);
  EXPECT_EQ(lower.early, 8);  // the ninth, (1, 1, −1), is one level behind
  EXPECT_TRUE(lower.corner);
}

template <int N>
void expect_entries(const NearEntries<N>& near, const Stencil& stencil) {
  for (const Triangle side : {Triangle::lower, Triangle::upper}) {
    const SweepTriangle t = triangle_of({64, 64, 64}, stencil, side);
    ASSERT_EQ(t.neighbours.size(), static_cast<std::size_t>(N));
    for (int q = 0; q < N; ++q) {
      const SweepNeighbour& n = t.neighbours[static_cast<std::size_t>(q)];
      EXPECT_EQ(n.dy, near.entry[q].dy) << q;
      EXPECT_EQ(n.dz, near.entry[q].dz) << q;
      EXPECT_EQ(n.behind, near.entry[q].behind) << q;
    }
    EXPECT_EQ(t.early, near.early());
    EXPECT_EQ(t.corner, near.corner());
  }
}

/// What kernels are compiled for is what the named stencils have.
TEST(WavefrontPlan, KnownTrianglesAreThoseOfTheNamedStencils) {
  expect_entries(near_entries::star7, stencils::star7());
  expect_entries(near_entries::diamond13, stencils::named("diamond13"));
  expect_entries(near_entries::diamond13, grown(stencils::star7(), 1));
  expect_entries(near_entries::star13, stencils::named("star13"));
  expect_entries(near_entries::diamond25, stencils::named("diamond25"));
  expect_entries(near_entries::box27, stencils::box27());
}

/// What a kernel is chosen by, as WavefrontSweep makes it.
WavefrontSweepView view_of(const SweepTriangle& t, TileShape tile, int dof, const WavefrontPlan& plan) {
  WavefrontSweepView v;
  v.pipelined = plan.pipelined;
  v.plan = plan;
  v.dof = dof;
  v.count = static_cast<int>(t.neighbours.size());
  v.vector.tiles.shape = tile;
  v.reach_y = t.reach_y;
  v.reach_z = t.reach_z;
  v.deepest = t.deepest;
  v.early = t.early;
  v.corner = t.corner;
  for (int q = 0; q < v.count; ++q) {
    const SweepNeighbour& n = t.neighbours[static_cast<std::size_t>(q)];
    v.place[q] = {-(n.dz * (tile.y + t.reach_y) + n.dy) * dof * 8, n.behind};
  }
  return v;
}

template <int B>
bool is_known(const WavefrontSweepView& v) {
  return any_known<B>([&]<const auto & Near, KnownTuning tuning>() {
    using Known = KnownSweep<Near, B, tuning, double>;
    EXPECT_TRUE(!Known::fits(v) || v.plan.threads == Known::threads) << v.plan.threads << " of " << Known::threads;
    return Known::fits(v);
  });
}

/// Whoever changes tiles or plans has to change the kernels' list, or sweeps get slower and nobody knows why.
TEST(WavefrontPlan, NamedStencilsHaveKernelsOfTheirOwn) {
  bool (*const known[])(const WavefrontSweepView&) = {is_known<1>, is_known<2>, is_known<3>, is_known<4>,
                                                      is_known<5>, is_known<6>, is_known<7>, is_known<8>};
  for (const char* name : {"star7", "star13", "diamond13", "diamond25", "box27"}) {
    const Stencil stencil = stencils::named(name);
    for (int dof = 1; dof <= 8; ++dof) {
      for (const std::int64_t side : {64, 512}) {
        const Grid grid{64, side, side};
        for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
          for (const int stored : {8, 4, 2}) {
            const TileShape tile = sweep_tile_shape(grid, stencil, dof);
            const SweepTriangle t = triangle_of(grid, stencil, triangle);
            const WavefrontPlan plan = wavefront_plan(t, tile, {dof, 8, stored});
            // Levels that come in two pieces have the kernel for anything.
            EXPECT_EQ(known[dof - 1](view_of(t, tile, dof, plan)), plan.pieces == 1)
                << name << " b=" << dof << ' ' << side << ", stored in " << stored << ", pieces " << plan.pieces;
            EXPECT_TRUE(plan.pieces == 1 || dof * stencil.center() >= 60);
          }
        }
      }
    }
  }
}

TEST(WavefrontPlan, NamedStencilsRunInARing) {
  for (const std::string& name : stencils::names()) {
    const Stencil stencil = stencils::named(name);
    for (int dof = 1; dof <= 8; ++dof) {
      for (const Triangle side : {Triangle::lower, Triangle::upper}) {
        for (const SweepSizes sizes :
             {SweepSizes{dof, 8, 8}, SweepSizes{dof, 8, 4}, SweepSizes{dof, 8, 2}, SweepSizes{dof, 4, 4}}) {
          const auto plan =
              wavefront_plan(triangle_of({64, 64, 64}, stencil, side), sweep_tile_shape({64, 64, 64}, stencil, dof), sizes);
          EXPECT_TRUE(plan.pipelined) << name << " b=" << dof << ": " << plan.why_not;
          EXPECT_GE(plan.stages, 4) << name << " b=" << dof;
        }
      }
    }
  }
}

TEST(WavefrontPlan, WhatRunsKeepsTheRules) {
  std::mt19937_64 random(3);
  int pipelined = 0;
  for (int repeat = 0; repeat < 5000; ++repeat) {
    const bool flat = repeat % 4 == 0;
    const auto upto = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
    const Stencil stencil = reference::random_stencil(random, 40, 3, flat);
    const Grid grid = reference::random_grid(random, 40, flat);
    const Triangle side = repeat % 2 ? Triangle::lower : Triangle::upper;
    const SweepTriangle t = triangle_of(grid, stencil, side);
    const SweepTuning wish{upto(4),
                           random() % 2 ? 0 : upto(32),
                           random() % 2 ? 0 : upto(16),
                           random() % 2 ? 0 : upto(40),
                           random() % 2 ? 0 : upto(5),
                           random() % 2 ? 0 : upto(5),
                           0,
                           false,
                           random() % 2 ? 0 : upto(3)};
    const TileShape tile{upto(32), upto(16)};
    const int dof = upto(9), stored = 1 << upto(3);
    for (const SweepNeighbour& n : t.neighbours) {
      ASSERT_GE(n.dy, 0);
      ASSERT_GE(n.dz, 0);
      ASSERT_GE(n.behind, 1);
    }
    const WavefrontPlan plan = wavefront_plan(t, tile, {dof, 8, stored}, wish);
    if (!plan.pipelined) {
      EXPECT_FALSE(plan.why_not.empty());
      continue;
    }
    ++pipelined;
    const int held = static_cast<int>(t.neighbours.size()) + (side == Triangle::upper ? 1 : 0);
    EXPECT_GE(plan.history, t.deepest + 2);
    EXPECT_EQ(plan.history & (plan.history - 1), 0);
    EXPECT_LE(plan.history, sweep_limits::history);
    EXPECT_LE(plan.stages, sweep_limits::stages);
    EXPECT_LE(plan.shared_bytes, sweep_limits::shared_bytes);
    EXPECT_LE(plan.threads, sweep_limits::threads);
    EXPECT_GE(plan.pieces * plan.entries_a_stage, held);
    EXPECT_LE(plan.groups, plan.history);
    EXPECT_LE(plan.border_groups, plan.history);
    EXPECT_TRUE(plan.groups == 1 || plan.groups * plan.pieces <= plan.stages);
    EXPECT_TRUE(plan.copiers == 1 || plan.copiers * plan.pieces <= plan.stages);
    EXPECT_TRUE(copiers_can_tell(plan.copiers, plan.groups, plan.pieces, plan.stages));
    EXPECT_GE(plan.warps * plan.lines_a_thread * (32 / dof), tile.y * tile.z);
    EXPECT_GE(plan.border_warps * 32, ((tile.z + t.reach_z) * (tile.y + t.reach_y) - tile.y * tile.z) * dof);
    EXPECT_EQ(plan.threads, 32 * (plan.groups * plan.warps + plan.copiers + plan.border_groups * plan.border_warps));
    EXPECT_GE(plan.stage_bytes, plan.values_offset + tile.y * tile.z * dof * dof * plan.entries_a_stage * stored);
    EXPECT_EQ(plan.stage_bytes % 16, 0);
  }
  EXPECT_GT(pipelined, 1000);
}

TEST(WavefrontPlan, SeveralVectorsGoTogether) {
  for (const std::string& name : stencils::names()) {
    const Stencil stencil = stencils::named(name);
    for (int dof = 1; dof <= 8; ++dof) {
      for (const std::int64_t side : {64, 512}) {
        const TileShape tile = sweep_tile_shape({side, side, side}, stencil, dof);
        for (const int columns : {2, 4, 8}) {
          for (const Triangle half : {Triangle::lower, Triangle::upper}) {
            const auto plan = many_wavefront_plan(triangle_of({side, side, side}, stencil, half), tile, dof, columns);
            const std::string about = name + " b=" + std::to_string(dof) + ", " + std::to_string(columns) + " vectors";
            const bool room = (tile.y * tile.z <= 256 && stencil.center() <= 6) || columns <= 4;
            EXPECT_EQ(plan.pipelined, dof == 1 ? room : columns <= 4) << about << ": " << plan.why_not;
            if (!plan.pipelined) continue;
            EXPECT_LE(plan.lines_a_thread, dof == 1 ? 2 : 1) << about;
            EXPECT_GE(plan.stages, 3) << about;
            EXPECT_EQ(plan.plane_bytes % (8 * columns), 0) << about;
          }
        }
      }
    }
  }
}

TEST(WavefrontPlan, TilesReachedAreThoseOfTheLines) {
  std::mt19937_64 random(4);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const Stencil stencil = reference::random_stencil(random, 10, 3, false);
    const SweepTriangle t = triangle_of({20, 20, 20}, stencil, Triangle::lower);
    const TileShape tile{1 + static_cast<int>(random() % 5), 1 + static_cast<int>(random() % 5)};
    const auto reached = tile_reaches(t, tile);
    for (const SweepNeighbour& n : t.neighbours) {
      for (int y = 0; y < tile.y; ++y) {
        for (int z = 0; z < tile.z; ++z) {
          const int dy = -floor_quotient(y - n.dy, tile.y), dz = -floor_quotient(z - n.dz, tile.z);
          const bool listed =
              std::any_of(reached.begin(), reached.end(), [&](const TileReach& r) { return r.dy == dy && r.dz == dz; });
          ASSERT_TRUE(listed || (dy == 0 && dz == 0));
        }
      }
    }
  }
}

/// What the two plans own is freed by destructors of their own: two types of one name would share one, which a build
/// without optimisation (the preset `debug`) does not inline away.
TEST(WavefrontPlan, LivesBesideThePlanOfRows) {
  constexpr std::int64_t rows = 1000;
  TrianglePattern chain{rows, Array<std::int64_t>(rows + 1), Array<std::int32_t>(rows - 1), {}, false};
  chain.start[0] = 0;
  for (std::int64_t s = 0; s < rows; ++s) chain.start[s + 1] = s;
  for (std::int32_t& distance : chain.distance) distance = 1;
  WavefrontPlan of_tiles =
      wavefront_plan(triangle_of({8, 8, 8}, stencils::star7(), Triangle::lower), {8, 8}, {}, {.plain = true});
  SweepPlan of_rows = level_plan(chain, 1);
  EXPECT_EQ(of_rows.levels, rows);
  EXPECT_EQ(of_rows.order.size(), rows);
  EXPECT_EQ(of_tiles.why_not, "asked for");
  of_tiles = WavefrontPlan{};
  of_tiles.why_not.assign(1000, 'x');
  of_rows = SweepPlan{};
  EXPECT_EQ(of_tiles.why_not.size(), 1000u);
}

}  // namespace
}  // namespace echelon
