// SPDX-License-Identifier: BSD-3-Clause
#include "tests/reference/tile_simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <vector>

namespace echelon::reference {
namespace {

class Simulator {
 public:
  Simulator(const TileView& schedule, const Stencil& stencil, const TileSimulation& how)
      : s_(schedule),
        grid_{s_.front.nx, s_.front.ny, s_.front.nz},
        stencil_(stencil),
        how_(how),
        random_(how.seed),
        finished_(static_cast<std::size_t>(s_.count), 0),
        owner_(static_cast<std::size_t>(grid_.points()), -1) {}

  std::string run() {
    std::vector<int> resident;
    int next = 0, done = 0;
    while (done < s_.count) {
      while (static_cast<int>(resident.size()) < how_.resident && next < s_.count) resident.push_back(next++);
      std::vector<std::size_t> able;
      for (std::size_t r = 0; r < resident.size(); ++r) {
        if (may_advance(resident[r])) able.push_back(r);
      }
      if (able.empty()) return fmt::format("no resident tile can advance, {} of {} are done", done, s_.count);
      const std::size_t chosen = choose(able);
      const int tile = resident[chosen];
      if (!advance(tile)) return trouble_;
      if (finished_[at(tile)] == s_.tiles[tile].levels) {
        ++done;
        resident.erase(resident.begin() + static_cast<std::ptrdiff_t>(chosen));
      }
    }
    for (std::int64_t p = 0; p < grid_.points(); ++p) {
      if (owner_[at(p)] < 0) return fmt::format("point {} was never computed", p);
    }
    return "";
  }

 private:
  template <class Index>
  static std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
  }
  /// One past the last level of the tile's next chunk.
  int chunk_end(int tile) const {
    const Tile& t = s_.tiles[tile];
    return t.first_level + std::min(finished_[at(tile)] + how_.chunk, t.levels);
  }
  bool may_advance(int tile) const {
    for (int w = s_.wait_start[tile]; w < s_.wait_start[tile + 1]; ++w) {
      const TileWait& wait = s_.waits[w];
      if (finished_[at(wait.tile)] < TileView::needed(s_.tiles[wait.tile], wait.behind, chunk_end(tile) - 1)) return false;
    }
    return true;
  }
  std::size_t choose(const std::vector<std::size_t>& able) {
    if (how_.choice == TileSimulation::Choice::oldest) return able.front();
    if (how_.choice == TileSimulation::Choice::newest) return able.back();
    return able[random_() % able.size()];
  }
  bool fail(std::string what) {
    trouble_ = std::move(what);
    return false;
  }
  bool advance(int tile) {
    const Tile& t = s_.tiles[tile];
    const int end = chunk_end(tile);
    for (int level = t.first_level + finished_[at(tile)]; level < end; ++level) {
      for (int z = t.z; z < s_.end_z(t); ++z) {
        const LineRange lines = s_.lines_at(t, level, z);
        for (int y = lines.begin; y < lines.end; ++y) {
          if (!compute(tile, level, s_.front.on_line(y, z, level))) return false;
        }
      }
    }
    finished_[at(tile)] = end - t.first_level;
    return true;
  }
  bool compute(int tile, int level, Ijk p) {
    const auto name = [&] { return fmt::format("tile {}, level {}, point ({},{},{})", tile, level, p.i, p.j, p.k); };
    if (!grid_.contains(p.i, p.j, p.k)) return fail(name() + " is outside the grid");
    int& owner = owner_[at(grid_.index(p.i, p.j, p.k))];
    if (owner >= 0) return fail(name() + " is computed twice");
    owner = tile;
    const bool upper = s_.front.mirrored;
    for (int e = upper ? stencil_.center() + 1 : 0; e < (upper ? stencil_.size() : stencil_.center()); ++e) {
      const Offset o = stencil_.offsets()[e];
      const Ijk q{p.i + o.x, p.j + o.y, p.k + o.z};
      if (!grid_.contains(q.i, q.j, q.k)) continue;
      const int other = owner_[at(grid_.index(q.i, q.j, q.k))], needs = s_.front.level(q);
      if (other < 0) return fail(name() + fmt::format(" needs ({},{},{}), not computed yet", q.i, q.j, q.k));
      const bool seen = other == tile ? needs < level : needs - s_.tiles[other].first_level < finished_[at(other)];
      if (!seen) return fail(name() + fmt::format(" needs ({},{},{}), not published yet", q.i, q.j, q.k));
    }
    return true;
  }

  TileView s_;
  Grid grid_;
  const Stencil& stencil_;
  TileSimulation how_;
  std::mt19937_64 random_;
  std::vector<int> finished_;  // published levels of each tile
  std::vector<int> owner_;     // tile that computed a point, −1 before
  std::string trouble_;
};

}  // namespace

std::string simulate(const TileView& schedule, const Stencil& stencil, const TileSimulation& how) {
  return Simulator(schedule, stencil, how).run();
}

}  // namespace echelon::reference
