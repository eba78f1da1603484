// SPDX-License-Identifier: BSD-3-Clause
// Tiles of a wavefront: each waits only for earlier ones, every dependency is waited for, every point belongs to one tile
// and level; and the schedule ends with any number of resident tiles, whichever of them advances.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "echelon/stencil/tiles.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/random_stencil.hpp"
#include "tests/reference/tile_simulator.hpp"

namespace echelon {
namespace {

using reference::simulate;
using Choice = reference::TileSimulation::Choice;

TEST(Tiles, StarByHand) {
  // 4×4×4 in tiles of 2×2 lines: four tiles, the last waits for both of its neighbours one level behind.
  const Stencil star = stencils::star7();
  const TileSchedule s(wavefront({4, 4, 4}, star), star, {2, 2});
  ASSERT_EQ(s.count(), 4);
  EXPECT_EQ(s.tiles()[0].first_level, 0);
  EXPECT_EQ(s.tiles()[0].levels, 6);
  EXPECT_EQ(s.tiles()[3].first_level, 4);
  EXPECT_TRUE(s.waits(0).empty());
  ASSERT_EQ(s.waits(3).size(), 2u);
  for (const TileWait& w : s.waits(3)) {
    EXPECT_TRUE(w.tile == 1 || w.tile == 2);
    EXPECT_EQ(w.behind, 1);
    // The neighbours begin at level 2: before level 4 runs, their levels 2 and 3 are finished.
    EXPECT_EQ(TileView::needed(s.tiles()[w.tile], w.behind, 4), 2);
    EXPECT_EQ(TileView::needed(s.tiles()[w.tile], w.behind, 100), 6);
    EXPECT_EQ(TileView::needed(s.tiles()[w.tile], w.behind, 1), 0);
  }
  const TileView view = s.view();
  const LineRange lines = view.lines_at(s.tiles()[0], 0, 0);
  EXPECT_EQ(lines.begin, 0);
  EXPECT_EQ(lines.end, 1);
  EXPECT_EQ(view.lines_before(s.tiles()[0], 1, 1), 2);
  EXPECT_EQ(view.lines_before(s.tiles()[0], 1, 2), 3);
}

TEST(Tiles, BoxTilesAreShearedAndSomeAreEmpty) {
  const Stencil box = stencils::box27();
  const TileSchedule s(wavefront({8, 8, 8}, box), box, {4, 4});
  // ŷ = j + k runs to 14: four tiles in ŷ, two in ẑ; the one with ŷ ≥ 12 has no line with k < 4.
  EXPECT_EQ(s.view().tiles_y, 4);
  EXPECT_EQ(s.count(), 6);
  EXPECT_EQ(s.view().tile_of_line(12, 0), -1);
  EXPECT_EQ(s.view().tile_of_line(0, 4), -1);
}

TEST(Tiles, OneLineAndOneTile) {
  for (const auto& grid : {Grid{9, 1, 1}, Grid{1, 1, 1}, Grid{1, 5, 3}}) {
    const Stencil box = stencils::box27();
    const TileSchedule s(wavefront(grid, box), box, {32, 32});
    EXPECT_EQ(s.count(), 1);
    EXPECT_EQ(s.tiles()[0].levels, s.front().levels());
    EXPECT_EQ(s.longest(), s.front().levels());
  }
}

TEST(Tiles, AloneInTheSameOrder) {
  // Few levels for their tiles, and many: the order is found in two ways.
  for (const auto& grid : {Grid{5, 60, 60}, Grid{50000, 6, 5}}) {
    const Stencil box = stencils::box27();
    const Wavefront front = wavefront(grid, box);
    const TileSchedule s(front, box, {2, 1});
    const auto places = tile_places_in_order(front, box, {2, 1});
    ASSERT_EQ(places.size(), s.tiles().size());
    std::vector<int> ready;  // own first level, and that of all it waits for
    for (std::size_t t = 0; t < places.size(); ++t) {
      EXPECT_EQ(places[t] % s.view().tiles_y * 2, s.tiles()[t].y);
      EXPECT_EQ(places[t] / s.view().tiles_y, s.tiles()[t].z);
      ready.push_back(s.tiles()[t].first_level);
      for (const TileWait& w : s.waits(static_cast<int>(t))) {
        ASSERT_LT(w.tile, static_cast<int>(t));
        ready.back() = std::max(ready.back(), ready[static_cast<std::size_t>(w.tile)]);
      }
    }
    EXPECT_TRUE(std::ranges::is_sorted(ready));
  }
}

TEST(Tiles, BadInput) {
  const Stencil star = stencils::star7();
  EXPECT_ERROR(TileSchedule(wavefront({4, 4, 4}, star), star, {0, 4}), bad_argument, "0x4 lines");
  EXPECT_ERROR(TileSchedule(wavefront({1, 1 << 20, 1 << 20}, star), star, {1, 1}), bad_argument, "too many");
}

struct Drawn {
  Stencil stencil;
  Grid grid;
  Triangle triangle;
  TileShape shape;
  TileSchedule schedule() const { return {wavefront(grid, stencil, triangle), stencil, shape}; }
};

Drawn draw(std::mt19937_64& random, int largest_side) {
  const auto within = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const bool flat = within(0, 3) == 0;
  Stencil stencil = reference::random_stencil(random, 14, within(1, 4), flat);
  const Grid grid = reference::random_grid(random, largest_side, flat);
  return {std::move(stencil), grid, within(0, 1) ? Triangle::lower : Triangle::upper, {within(1, 5), within(1, 5)}};
}

/// The waits of the tile, looked up by what each point needs; and that ranges of lines hold each point once.
void expect_promises(const Drawn& d) {
  const TileSchedule schedule = d.schedule();
  const TileView view = schedule.view();
  std::vector<int> times(static_cast<std::size_t>(d.grid.points()), 0);
  for (int t = 0; t < view.count; ++t) {
    const Tile& tile = view.tiles[t];
    for (const TileWait& w : schedule.waits(t)) {
      ASSERT_LT(w.tile, t) << "a tile waits only for earlier ones";
      ASSERT_GT(w.behind, 0);
    }
    for (int level = tile.first_level; level < tile.first_level + tile.levels; ++level) {
      int rank = 0;
      for (int z = tile.z; z < view.end_z(tile); ++z) {
        ASSERT_EQ(view.lines_before(tile, level, z), rank);
        const LineRange lines = view.lines_at(tile, level, z);
        for (int y = lines.begin; y < lines.end; ++y, ++rank) {
          const Ijk p = view.front.on_line(y, z, level);
          ASSERT_TRUE(d.grid.contains(p.i, p.j, p.k));
          ASSERT_EQ(view.front.level(p), level);
          ASSERT_EQ(view.tile_of_line(y, z), t);
          ++times[static_cast<std::size_t>(d.grid.index(p.i, p.j, p.k))];
          const bool upper = d.triangle == Triangle::upper;
          const int center = d.stencil.center();
          for (int e = upper ? center + 1 : 0; e < (upper ? d.stencil.size() : center); ++e) {
            const Offset o = d.stencil.offsets()[e];
            if (!d.grid.contains(p.i + o.x, p.j + o.y, p.k + o.z)) continue;
            const Ijk q{p.i + o.x, p.j + o.y, p.k + o.z};
            const SkewedPoint s = view.front.map(q);
            const int other = view.tile_of_line(s.y, s.z), needs = view.front.level(q);
            ASSERT_LT(needs, level);
            if (other == t) continue;
            const auto waits = schedule.waits(t);
            const auto w = std::find_if(waits.begin(), waits.end(), [&](const TileWait& one) { return one.tile == other; });
            ASSERT_NE(w, waits.end());
            ASSERT_GT(TileView::needed(view.tiles[other], w->behind, level), needs - view.tiles[other].first_level);
          }
        }
      }
    }
  }
  for (const int n : times) ASSERT_EQ(n, 1);
}

TEST(Tiles, RandomStencilsGridsAndShapes) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 4000; ++trial) {
    SCOPED_TRACE(testing::Message() << "trial " << trial);
    ASSERT_NO_FATAL_FAILURE(expect_promises(draw(random, 9)));
  }
}

TEST(Tiles, EndWithAnyNumberOfResidentTiles) {
  std::mt19937_64 random(12);
  for (int trial = 0; trial < 1500; ++trial) {
    const Drawn d = draw(random, 8);
    const TileSchedule s = d.schedule();
    for (const int resident : {1, 2, 3, 7, s.count()}) {
      const Choice choice = Choice(random() % 3);
      const int chunk = 1 + static_cast<int>(random() % 9);
      ASSERT_EQ(simulate(s.view(), d.stencil, {resident, chunk, choice, random()}), "")
          << "trial " << trial << ", " << resident << " resident";
    }
  }
}

TEST(Tiles, NamedStencilsEndWithAnyNumberOfResidentTiles) {
  for (const auto& name : stencils::names()) {
    const Stencil stencil = stencils::named(name);
    for (const auto triangle : {Triangle::lower, Triangle::upper}) {
      const TileSchedule s(wavefront({19, 17, 18}, stencil, triangle), stencil, {4, 4});
      for (const int resident : {1, 2, 5, s.count()}) {
        for (const auto choice : {Choice::any, Choice::oldest, Choice::newest}) {
          ASSERT_EQ(simulate(s.view(), stencil, {resident, 8, choice, 3}), "") << name;
        }
      }
    }
  }
}

/// A schedule whose parts a test may spoil.
struct Spoiled {
  std::vector<Tile> tiles;
  std::vector<int> wait_start;
  std::vector<TileWait> waits;
  TileView view;
  explicit Spoiled(const TileSchedule& s) : view(s.view()) {
    tiles.assign(view.tiles, view.tiles + view.count);
    wait_start.assign(view.wait_start, view.wait_start + view.count + 1);
    waits.assign(view.waits, view.waits + wait_start.back());
    view.tiles = tiles.data(), view.wait_start = wait_start.data(), view.waits = waits.data();
  }
};

TEST(TileSimulator, SeesWhatIsBroken) {
  const Stencil box = stencils::box27();
  const TileSchedule good(wavefront({8, 8, 8}, box), box, {4, 4});
  const auto run = [&](const Spoiled& s, int resident) { return simulate(s.view, box, {resident, 2, Choice::newest, 1}); };
  EXPECT_EQ(run(Spoiled(good), 3), "");
  {
    Spoiled s(good);  // a wait that looks one level too far back
    for (auto& w : s.waits) ++w.behind;
    EXPECT_NE(run(s, 6).find("needs"), std::string::npos);
  }
  {
    Spoiled s(good);  // no waits at all
    std::fill(s.wait_start.begin(), s.wait_start.end(), 0);
    EXPECT_NE(run(s, 6).find("needs"), std::string::npos);
  }
  {
    Spoiled s(good);  // the first tile waits for the last: with few residents nobody can go on
    s.waits.insert(s.waits.begin(), {good.count() - 1, 1});
    for (std::size_t t = 1; t < s.wait_start.size(); ++t) ++s.wait_start[t];
    s.tiles.back().first_level = 0;
    s.view.waits = s.waits.data();
    EXPECT_NE(run(s, 2).find("no resident tile can advance"), std::string::npos);
  }
  {
    Spoiled s(good);  // a tile that stops a level too early
    --s.tiles.back().levels;
    EXPECT_NE(run(s, 2).find("never computed"), std::string::npos);
  }
  {
    Spoiled s(good);  // two workers on the same tile
    s.tiles[1] = s.tiles[0];
    EXPECT_NE(run(s, 1).find("twice"), std::string::npos);
  }
}

}  // namespace
}  // namespace echelon
