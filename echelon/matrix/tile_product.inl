// SPDX-License-Identifier: BSD-3-Clause
// One scalar row of a product in tile order, for host and device: entries ascending and columns ascending inside, by the Sum
// given, so y = A x has the bits of user order. Where a neighbour's values are: its line (ŷ, ẑ) and level are the own ones
// plus constants of the entry, and a table says where the line ŷ = 0 of a (tile, level, ẑ) would begin: where in that table
// the neighbour's line is found at level 0 is found once for a walk along the line. Loads of a batch of entries are under
// way before the first is used. Neighbours outside are neither read nor multiplied.
#pragma once

#include "echelon/base/fma.hpp"
#include "echelon/matrix/doubled_sum.hpp"
#include "echelon/matrix/tile_product_view.hpp"

namespace echelon::tile_product {

/// y = A x
struct PlainSum {
  static constexpr bool reads_x = true;
  double sum;
  ECHELON_FN PlainSum(const TileProductView&, std::int64_t) : sum(0) {}
  ECHELON_FN void add(double a, double x) { sum = fma(a, x, sum); }
  ECHELON_FN double result() const { return sum; }
};

/// r = b − A x
struct CarefulSum {
  static constexpr bool reads_x = true;
  DoubledSum sum;
  ECHELON_FN CarefulSum(const TileProductView& view, std::int64_t at) : sum{view.b[at], 0} {}
  ECHELON_FN void add(double a, double x) { sum.subtract_product(a, x); }
  ECHELON_FN double result() const { return sum.high + sum.low; }
};

/// Σ |a|
struct SizeSum {
  static constexpr bool reads_x = false;
  double sum;
  ECHELON_FN SizeSum(const TileProductView&, std::int64_t) : sum(0) {}
  ECHELON_FN void add(double a, double) { sum += a < 0 ? -a : a; }
  ECHELON_FN double result() const { return sum; }
};

/// Where the runs of a tile begin, counted from level 0; of a tile without lines it is never asked for.
ECHELON_FN std::int64_t run_origin(const LayoutView& v, int tile_y, int tile_z) {
  const TileView& tiles = v.tiles;
  if (tile_y < 0 || tile_z < 0 || tile_y >= tiles.tiles_y || tile_z * tiles.shape.z >= tiles.front.nz) return 0;
  const int t = tiles.tile_of[tile_z * tiles.tiles_y + tile_y];
  return t < 0 ? 0 : v.first_run[t] - tiles.tiles[t].first_level;
}

/// The own tile and the eight around it, [z][y].
constexpr int around = 9;
ECHELON_FN std::int64_t origin_around(const LayoutView& v, const Tile& tile, int n) {
  return run_origin(v, tile.y / v.tiles.shape.y + n % 3 - 1, tile.z / v.tiles.shape.z + n / 3 - 1);
}

/// Entries whose loads are under way together; of any block size one at a time.
template <int B>
constexpr int batch = B == 1             ? 7
                      : B == 2           ? 4
                      : B == 3 || B == 4 ? 2
                                         : 1;

/// A line of a tile: one thread's work at every level.
struct Line {
  Tile tile;
  const std::int64_t* origins;
  int y, z;  // ŷ, ẑ
};

/// What is walked along: of entry e, found[e · stride] is where line_zero has the neighbour's line, less the level; or
/// `none`.
struct Walk {
  static constexpr int none = -2147483647 - 1;
  const int* found;
  int stride;
  int own;           // the same of the own line
  int y, start;      // ŷ; level of the first point
  std::int64_t run;  // of the own tile at level 0
};

/// Where line_zero has the line (ŷ, ẑ) moved by the neighbour, less the level; negative where the tile begins above level 0.
ECHELON_FN int find_line(const TileProductView& v, const Line& line, const TileNeighbour& to) {
  const TileShape shape = v.vector.tiles.shape;
  const int y = line.y + to.line_y, z = line.z + to.line_z;
  std::int64_t origin = 0;
  int z_in_tile = 0;
  if (to.far) {
    origin = run_origin(v.vector, y / shape.y, z / shape.z);
    z_in_tile = z % shape.z;
  } else {
    const int side_y = y < line.tile.y ? 0 : y < line.tile.y + shape.y ? 1 : 2;
    const int side_z = z < line.tile.z ? 0 : z < line.tile.z + shape.z ? 1 : 2;
    origin = line.origins[side_z * 3 + side_y];
    z_in_tile = z - line.tile.z - (side_z - 1) * shape.z;
  }
  return static_cast<int>((origin + to.level) * shape.z + z_in_tile);
}

/// Before a walk: fills `found`, and returns what rows are computed with.
ECHELON_FN Walk begin_walk(const TileProductView& v, const Line& line, int* found, int stride) {
  const Wavefront& f = v.vector.front;
  const int j = line.y - f.c * line.z, k = line.z;
  for (int e = 0; e < v.entries; ++e) {
    const TileNeighbour to = v.neighbours[e];
    const bool inside = static_cast<unsigned>(j + to.y) < static_cast<unsigned>(f.ny) &&
                        static_cast<unsigned>(k + to.z) < static_cast<unsigned>(f.nz);
    found[e * stride] = inside ? find_line(v, line, to) : Walk::none;
  }
  return {found, stride, find_line(v, line, {}), line.y, f.line_start(line.y, line.z), line.origins[around / 2]};
}

/// Row `row` of the line's point at `level`, which is inside the grid; B = 0 takes the block size at run time.
template <int B, class Sum>
ECHELON_FN void row(const TileProductView& v, const Walk& walk, int level, int row) {
  const int b = B > 0 ? B : v.block;
  const int i = level - walk.start, nx = v.vector.front.nx;
  const int by_level = level * v.vector.tiles.shape.z;
  const std::int64_t at = v.line_zero[walk.own + by_level] + std::int64_t{walk.y} * b + row;
  const std::int64_t start = v.vector.run_start[walk.run + level];
  const std::int64_t length = v.vector.run_start[walk.run + level + 1] - start;
  const double* const A = v.values + start * v.entries * b + (at - start);
  Sum sum(v, at);
  constexpr int together = batch<B>, columns = B > 0 ? B : 1;
  for (int e = 0; e < v.entries; e += together) {
    double a[together][columns], x[together][columns];
    bool has[together];
    std::int64_t from[together] = {};
    for (int n = 0; n < together; ++n) {
      has[n] = e + n < v.entries;
      if (!has[n]) continue;
      const int found = walk.found[(e + n) * walk.stride];
      has[n] = found != Walk::none && static_cast<unsigned>(i + v.neighbours[e + n].x) < static_cast<unsigned>(nx);
      if (Sum::reads_x && has[n]) {
        from[n] = v.line_zero[found + by_level] + std::int64_t{walk.y + v.neighbours[e + n].line_y} * b;
      }
    }
    if constexpr (B == 0) {
      for (int c = 0; has[0] && c < b; ++c) {
        sum.add(A[(std::int64_t{e} * b + c) * length], Sum::reads_x ? v.x[from[0] + c] : 0.0);
      }
    } else {
      for (int n = 0; n < together; ++n) {
        if (!has[n]) continue;
        for (int c = 0; c < columns; ++c) {
          a[n][c] = A[(std::int64_t{e + n} * B + c) * length];
          if constexpr (Sum::reads_x) x[n][c] = v.x[from[n] + c];
        }
      }
      for (int n = 0; n < together; ++n) {
        if (!has[n]) continue;
        for (int c = 0; c < columns; ++c) sum.add(a[n][c], Sum::reads_x ? x[n][c] : 0.0);
      }
    }
  }
  v.y[at] = sum.result();
}

/// The table of one run; `line_zero` is that of its first ẑ.
ECHELON_FN void line_zeros(const LayoutView& v, const Tile& tile, std::int64_t run, int level, std::int64_t* line_zero) {
  const TileView& tiles = v.tiles;
  std::int64_t before = v.run_start[run];
  for (int z = 0; z < tiles.shape.z; ++z) {
    const bool inside = tile.z + z < tiles.front.nz;
    const LineRange lines = inside ? tiles.lines_at(tile, level, tile.z + z) : LineRange{0, 0};
    line_zero[z] = before - std::int64_t{lines.begin} * v.rows;
    before += std::int64_t{lines.count()} * v.rows;
  }
}

}  // namespace echelon::tile_product
