// SPDX-License-Identifier: BSD-3-Clause
// Tiles row by row (ẑ, then ŷ) see every tile they wait for before themselves. A tile is ready once its own first level and
// all it waits for have come; sorted by that, stably, the order stays one of dependencies and follows the wave.
#include "echelon/stencil/tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "echelon/base/error.hpp"

namespace echelon {
namespace {

struct Neighbour {
  int dy, dz, behind;
};

/// Which tiles (relative to its own) a tile may need values of, and the nearest level it needs there.
std::vector<Neighbour> neighbours(const std::vector<Dependency>& needs, TileShape shape) {
  std::map<std::pair<int, int>, int> nearest;
  for (const Dependency& d : needs) {
    // From the first and the last line of a tile the offset reaches at most two tiles in each direction.
    for (int dz = floor_quotient(d.skewed.z, shape.z); dz <= floor_quotient(shape.z - 1 + d.skewed.z, shape.z); ++dz) {
      for (int dy = floor_quotient(d.skewed.y, shape.y); dy <= floor_quotient(shape.y - 1 + d.skewed.y, shape.y); ++dy) {
        if (dy == 0 && dz == 0) continue;
        const auto [found, fresh] = nearest.try_emplace({dz, dy}, -d.level);
        if (!fresh) found->second = std::min(found->second, -d.level);
      }
    }
  }
  std::vector<Neighbour> list;
  for (const auto& [place, behind] : nearest) list.push_back({place.second, place.first, behind});
  return list;
}

/// Levels of the tile's points; none when no line of it is inside.
Tile with_levels(const Wavefront& front, TileShape shape, int y, int z) {
  int first = std::numeric_limits<int>::max(), last = -1;
  // Without a shear all ẑ have the same ŷ, and the first and the last say everything.
  const int last_z = std::min(z + shape.z, front.nz) - 1, step = front.c == 0 ? std::max(1, last_z - z) : 1;
  for (int at = z; at <= last_z; at += step) {
    const int begin = std::max(y, front.c * at), end = std::min(y + shape.y, front.c * at + front.ny);
    if (begin >= end) continue;
    first = std::min(first, front.line_start(begin, at));
    last = std::max(last, front.line_start(end - 1, at) + front.nx - 1);
  }
  return last < 0 ? Tile{y, z, 0, 0} : Tile{y, z, first, last - first + 1};
}

/// Where tiles may be, row by row, and those with lines in the order of their tickets.
struct PlacedTiles {
  struct Placed {
    int place;  // z·tiles_y + y
    int when;   // it is ready
    int first_level, levels;
  };
  TileShape shape;
  int tiles_y, tiles_z;
  std::vector<Neighbour> around;
  std::vector<Placed> order;

  PlacedTiles(const Wavefront& front, const Stencil& stencil, TileShape wanted)
      // A tile larger than the grid is one tile; this keeps sums of sides small.
      : shape{std::min(wanted.y, front.rows_y()), std::min(wanted.z, front.nz)} {
    if (wanted.y < 1 || wanted.z < 1) {
      throw Error(ErrorCode::bad_argument, fmt::format("tiles of {}x{} lines: at least 1x1", wanted.y, wanted.z));
    }
    tiles_y = (front.rows_y() + shape.y - 1) / shape.y;
    tiles_z = (front.nz + shape.z - 1) / shape.z;
    if (places() > std::numeric_limits<int>::max()) {
      throw Error(ErrorCode::bad_argument,
                  fmt::format("{} tiles of {}x{} lines: 2^31 are too many", places(), wanted.y, wanted.z));
    }
    around = neighbours(dependencies(front, stencil), shape);
    sort_by_readiness(front);
  }
  std::int64_t places() const { return std::int64_t{tiles_y} * tiles_z; }

 private:
  /// Places before the first ones stand for nothing to wait for: level 0.
  void sort_by_readiness(const Wavefront& front) {
    int before_y = 0, before_z = 0;
    for (const Neighbour& n : around) before_y = std::max(before_y, -n.dy), before_z = std::max(before_z, -n.dz);
    const std::int64_t width = tiles_y + before_y;
    std::vector<int> when_of(static_cast<std::size_t>(width * (tiles_z + before_z)), 0);
    std::vector<std::int64_t> steps;
    for (const Neighbour& n : around) steps.push_back(n.dz * width + n.dy);
    std::vector<Placed> ready;
    ready.reserve(static_cast<std::size_t>(places()));
    int last = 0;
    for (int z = 0; z < tiles_z; ++z) {
      int* const of_row = when_of.data() + (z + before_z) * width + before_y;
      // Lines of a ẑ begin at ŷ = c ẑ: beyond those of the row's first and last ẑ there is nothing.
      const int first_z = z * shape.z, last_z = std::min(first_z + shape.z, front.nz) - 1;
      const int end_y = (front.c * last_z + front.ny + shape.y - 1) / shape.y;
      for (int y = front.c * first_z / shape.y; y < end_y; ++y) {
        const Tile tile = with_levels(front, shape, y * shape.y, first_z);
        if (tile.levels == 0) continue;
        int when = tile.first_level;
        for (const std::int64_t step : steps) when = std::max(when, of_row[y + step]);
        of_row[y] = when;
        last = std::max(last, when);
        ready.push_back({z * tiles_y + y, when, tile.first_level, tile.levels});
      }
    }
    sort(std::move(ready), static_cast<std::size_t>(last) + 1);
  }
  /// Stably. Mostly there are few different levels, and counting them is quicker than comparing.
  void sort(std::vector<Placed> ready, std::size_t levels) {
    constexpr std::size_t levels_a_tile = 8, some_levels = 4096;
    if (levels > levels_a_tile * ready.size() + some_levels) {
      std::ranges::stable_sort(ready, {}, &Placed::when);
      order = std::move(ready);
      return;
    }
    std::vector<int> next(levels + 1, 0);
    for (const Placed& one : ready) ++next[static_cast<std::size_t>(one.when) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    order.resize(ready.size());
    for (const Placed& one : ready) order[static_cast<std::size_t>(next[static_cast<std::size_t>(one.when)]++)] = one;
  }
};

}  // namespace

TileSchedule::TileSchedule(const Wavefront& front, const Stencil& stencil, TileShape shape) : front_(front) {
  const PlacedTiles placed(front, stencil, shape);
  shape_ = placed.shape;
  tiles_y_ = placed.tiles_y;
  const auto count = static_cast<std::int64_t>(placed.order.size());
  tile_of_ = Array<int>(placed.places(), -1);
  for (int t = 0; const auto& one : placed.order) tile_of_[one.place] = t++;
  tiles_ = Array<Tile>(count);
  wait_start_ = Array<int>(count + 1);
  std::vector<TileWait> waits;
  waits.reserve(placed.order.size() * placed.around.size());
  for (std::int64_t t = 0; t < count; ++t) {
    const auto& one = placed.order[static_cast<std::size_t>(t)];
    const int y = one.place % tiles_y_, z = one.place / tiles_y_;
    tiles_[t] = {y * shape_.y, z * shape_.z, one.first_level, one.levels};
    longest_ = std::max(longest_, one.levels);
    wait_start_[t] = static_cast<int>(waits.size());
    for (const Neighbour& n : placed.around) {
      if (y + n.dy < 0 || z + n.dz < 0) continue;
      const int other = tile_of_[std::int64_t{z + n.dz} * tiles_y_ + (y + n.dy)];
      if (other >= 0) waits.push_back({other, n.behind});
    }
  }
  wait_start_[count] = static_cast<int>(waits.size());
  waits_ = Array<TileWait>(std::span<const TileWait>(waits));
}

std::vector<int> tile_places_in_order(const Wavefront& front, const Stencil& stencil, TileShape shape) {
  const PlacedTiles placed(front, stencil, shape);
  std::vector<int> places;
  places.reserve(placed.order.size());
  for (const auto& one : placed.order) places.push_back(one.place);
  return places;
}

TileView TileSchedule::view() const {
  return {front_, shape_, count(), tiles_y_, tiles_.data(), tile_of_.data(), wait_start_.data(), waits_.data()};
}

}  // namespace echelon
