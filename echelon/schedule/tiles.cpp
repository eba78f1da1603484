// SPDX-License-Identifier: BSD-3-Clause
// Tiles row by row (ẑ, then ŷ) see every tile they wait for before themselves. A tile is ready once its own first level and
// all it waits for have come; sorted by that, stably, the order stays one of dependencies and follows the wave.
#include "echelon/schedule/tiles.hpp"

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
  for (int at = z; at < std::min(z + shape.z, front.nz); ++at) {
    const int begin = std::max(y, front.c * at), end = std::min(y + shape.y, front.c * at + front.ny);
    if (begin >= end) continue;
    first = std::min(first, front.line_start(begin, at));
    last = std::max(last, front.line_start(end - 1, at) + front.nx - 1);
  }
  return last < 0 ? Tile{y, z, 0, 0} : Tile{y, z, first, last - first + 1};
}

}  // namespace

TileSchedule::TileSchedule(const Wavefront& front, const Stencil& stencil, TileShape shape)
    : front_(front),
      // A tile larger than the grid is one tile; this keeps sums of sides small.
      shape_{std::min(shape.y, front.rows_y()), std::min(shape.z, front.nz)} {
  if (shape.y < 1 || shape.z < 1) {
    throw Error(ErrorCode::bad_argument, fmt::format("tiles of {}x{} lines: at least 1x1", shape.y, shape.z));
  }
  tiles_y_ = (front.rows_y() + shape_.y - 1) / shape_.y;
  const int tiles_z = (front.nz + shape_.z - 1) / shape_.z;
  const std::int64_t places = std::int64_t{tiles_y_} * tiles_z;
  if (places > std::numeric_limits<int>::max()) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("{} tiles of {}x{} lines: 2^31 are too many", places, shape.y, shape.z));
  }
  const auto around = neighbours(dependencies(front, stencil), shape_);
  std::vector<Tile> all;
  std::vector<int> number(static_cast<std::size_t>(places), -1), ready;
  std::vector<std::vector<TileWait>> waits;
  for (int z = 0; z < tiles_z; ++z) {
    for (int y = 0; y < tiles_y_; ++y) {
      const Tile tile = with_levels(front, shape_, y * shape_.y, z * shape_.z);
      if (tile.levels == 0) continue;
      int when = tile.first_level;
      auto& list = waits.emplace_back();
      for (const Neighbour& n : around) {
        if (y + n.dy < 0 || z + n.dz < 0) continue;
        const int other = number[static_cast<std::size_t>(z + n.dz) * tiles_y_ + (y + n.dy)];
        if (other < 0) continue;
        when = std::max(when, ready[static_cast<std::size_t>(other)]);
        list.push_back({other, n.behind});
      }
      number[static_cast<std::size_t>(z) * tiles_y_ + y] = static_cast<int>(all.size());
      all.push_back(tile);
      ready.push_back(when);
    }
  }
  std::vector<int> order(all.size()), ticket(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int s, int t) { return ready[s] < ready[t]; });
  for (std::size_t t = 0; t < order.size(); ++t) ticket[static_cast<std::size_t>(order[t])] = static_cast<int>(t);

  tiles_ = Array<Tile>(static_cast<std::int64_t>(all.size()));
  wait_start_ = Array<int>(tiles_.size() + 1);
  std::vector<TileWait> in_order;
  for (std::int64_t t = 0; t < tiles_.size(); ++t) {
    const auto from = static_cast<std::size_t>(order[static_cast<std::size_t>(t)]);
    tiles_[t] = all[from];
    longest_ = std::max(longest_, all[from].levels);
    wait_start_[t] = static_cast<int>(in_order.size());
    for (const TileWait& w : waits[from]) in_order.push_back({ticket[static_cast<std::size_t>(w.tile)], w.behind});
  }
  wait_start_[tiles_.size()] = static_cast<int>(in_order.size());
  waits_ = Array<TileWait>(std::span<const TileWait>(in_order));
  tile_of_ = Array<int>(places);
  for (std::int64_t p = 0; p < places; ++p) {
    const int at = number[static_cast<std::size_t>(p)];
    tile_of_[p] = at < 0 ? -1 : ticket[static_cast<std::size_t>(at)];
  }
}

TileView TileSchedule::view() const {
  return {front_, shape_, count(), tiles_y_, tiles_.data(), tile_of_.data(), wait_start_.data(), waits_.data()};
}

}  // namespace echelon
