// SPDX-License-Identifier: BSD-3-Clause
// The line schedule played without threads: whatever order the threads run in, every step is done once and never before
// what it needs, and the play always ends; and with threads.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <atomic>
#include <random>
#include <set>

#include "echelon/schedule/grid/line_groups.hpp"

namespace ec = echelon;
namespace {

struct Drawn {
  ec::Grid grid;
  std::vector<ec::Offset> earlier;
  ec::LineGroups::Shape shape;
  int threads;
};

Drawn draw() {
  Drawn d;
  std::set<std::tuple<int, int, int>> chosen;
  for (int t = *rc::gen::inRange(1, 9); t > 0; --t) {
    const int z = *rc::gen::inRange(-2, 1), y = *rc::gen::inRange(-3, z < 0 ? 4 : 1);
    const int x = *rc::gen::inRange(-9, z < 0 || y < 0 ? 10 : 0);
    chosen.insert({x, y, z});
  }
  for (const auto& [x, y, z] : chosen) d.earlier.push_back({x, y, z});
  // Many lines in few planes go in batches.
  const bool flat = *rc::gen::element(false, true);
  d.grid = {*rc::gen::inRange(1, 40), *rc::gen::inRange(1, flat ? 120 : 14), *rc::gen::inRange(1, flat ? 3 : 10)};
  d.shape = {*rc::gen::inRange(1, 6), *rc::gen::element(1, 4, 8), *rc::gen::inRange(0, 4)};
  d.threads = *rc::gen::inRange(1, 6);
  return d;
}

/// Marks the points of a step of a group and checks that what they need was there.
class Player {
 public:
  Player(const Drawn& d, const ec::LineGroups& plan)
      : d_(d), plan_(plan), done_(static_cast<std::size_t>(d.grid.points()), 0) {}

  bool play(const ec::LineWork& work) {
    for (std::int64_t s = work.begin; s < work.end; ++s) {
      for (int l = 0; l < work.lines; ++l) {
        const std::int64_t first = (s - std::int64_t{plan_.lag()} * l) * d_.shape.width;
        for (std::int64_t i = std::max<std::int64_t>(first, 0); i < std::min(first + d_.shape.width, d_.grid.nx); ++i) {
          if (!mark(i, work.line + l, work.plane)) return false;
        }
      }
    }
    return true;
  }
  bool complete() const {
    return std::ranges::all_of(done_, [](char c) { return c == 1; });
  }

 private:
  bool mark(std::int64_t i, std::int64_t j, std::int64_t k) {
    for (const auto& o : d_.earlier) {
      if (d_.grid.contains(i + o.x, j + o.y, k + o.z) && !at(i + o.x, j + o.y, k + o.z)) return false;
    }
    return ++at(i, j, k) == 1;
  }
  char& at(std::int64_t i, std::int64_t j, std::int64_t k) {
    return done_[static_cast<std::size_t>(d_.grid.index(i, j, k))];
  }
  const Drawn& d_;
  const ec::LineGroups& plan_;
  std::vector<char> done_;
};

/// One thread's place in its own list.
struct Cursor {
  std::int64_t plane = 0;
  std::size_t turn = 0;
};

TEST(LineGroups, AnyInterleavingKeepsEveryDependencyAndEnds) {
  ASSERT_TRUE(rc::check("random stencils, grids, shapes, threads", [] {
    const Drawn d = draw();
    const ec::LineGroups plan(d.grid, d.earlier, d.shape, d.threads);
    Player player(d, plan);
    std::vector<std::int64_t> progress(static_cast<std::size_t>(plan.groups()), 0);
    std::vector<Cursor> cursor(static_cast<std::size_t>(plan.threads()));
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    const auto finished = [&](int t) { return cursor[static_cast<std::size_t>(t)].plane == d.grid.nz; };
    const auto may_run = [&](int t) {
      const Cursor& c = cursor[static_cast<std::size_t>(t)];
      const auto turn = plan.turns(t)[c.turn];
      return std::ranges::all_of(plan.waits(turn.group), [&](const auto& wait) {
        return progress[static_cast<std::size_t>(wait.group)] >= plan.progress_needed(wait, c.plane, turn.end);
      });
    };
    for (;;) {
      std::vector<int> ready;
      bool all = true;
      for (int t = 0; t < plan.threads(); ++t) {
        all = all && finished(t);
        if (!finished(t) && may_run(t)) ready.push_back(t);
      }
      if (all) break;
      RC_ASSERT(!ready.empty());
      const int t = ready[random() % ready.size()];
      Cursor& c = cursor[static_cast<std::size_t>(t)];
      const auto turn = plan.turns(t)[c.turn];
      RC_ASSERT(player.play(plan.work(c.plane, turn.group, turn.begin, turn.end)));
      progress[static_cast<std::size_t>(turn.group)] = c.plane * plan.steps() + turn.end;
      if (++c.turn == plan.turns(t).size()) c.turn = 0, ++c.plane;
    }
    RC_ASSERT(player.complete());
  }));
}

TEST(LineGroups, ALagTooShortIsSeenByThePlayer) {
  // The player must be able to fail: with a neighbour one step ahead in the line before, lines may not run side by side.
  const Drawn d{{32, 4, 1}, {{9, -1, 0}}, {4, 8}, 1};
  const ec::LineGroups right(d.grid, d.earlier, d.shape, 1);
  EXPECT_EQ(right.lag(), 3);
  const std::vector<ec::Offset> nearer{{-1, -1, 0}};
  const ec::LineGroups wrong(d.grid, nearer, d.shape, 1);
  Player player(d, wrong);
  EXPECT_FALSE(player.play(wrong.work(0, 0, 0, wrong.steps())));
}

TEST(LineGroups, ThreadsPublishAndWait) {
  // Few planes (groups dealt in turn, pieces of lines) and many (stripes); every point adds up what it needs.
  for (const ec::Grid grid : {ec::Grid{64, 12, 1}, ec::Grid{64, 150, 1}, ec::Grid{16, 12, 40}}) {
    const std::vector<ec::Offset> earlier{{0, 1, -1}, {1, -1, 0}, {-1, 0, 0}};
    const ec::LineGroups::Shape shape{2, 4};
    std::vector<std::int64_t> expected;
    for (const int threads : {1, 3}) {
      ec::set_threads(threads);
      const ec::LineGroups plan(grid, earlier, shape, threads);
      ec::GroupProgress progress(plan.groups());
      std::vector<std::int64_t> value(static_cast<std::size_t>(grid.points()));
      for (int repeat = 0; repeat < 3; ++repeat) {
        ec::run_groups(plan, progress, [&](const ec::LineWork& work, int) {
          for (std::int64_t s = work.begin; s < work.end; ++s) {
            for (int l = 0; l < work.lines; ++l) {
              const std::int64_t first = (s - std::int64_t{plan.lag()} * l) * shape.width;
              for (auto i = std::max<std::int64_t>(first, 0); i < std::min(first + shape.width, grid.nx); ++i) {
                std::int64_t sum = 1 + repeat;
                for (const auto& o : earlier) {
                  if (!grid.contains(i + o.x, work.line + l + o.y, work.plane + o.z)) continue;
                  const auto at = grid.index(i + o.x, work.line + l + o.y, work.plane + o.z);
                  sum = (sum + 3 * value[static_cast<std::size_t>(at)]) % 1000003;
                }
                value[static_cast<std::size_t>(grid.index(i, work.line + l, work.plane))] = sum;
              }
            }
          }
        });
      }
      if (threads == 1) expected = value;
      EXPECT_EQ(value, expected) << threads << " threads";
    }
    ec::set_threads(0);
  }
}

}  // namespace
