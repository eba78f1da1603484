// SPDX-License-Identifier: BSD-3-Clause
// One scalar row of a product in tile order, for host and device: entries ascending and columns ascending inside, by the Sum
// given, so y = A x has the bits of user order. Where a neighbour's values are: its line (ŷ, ẑ) and level are the own ones
// plus constants of the entry, and a table says where the line ŷ = 0 of a (tile, level, ẑ) would begin. A walk over some
// levels of a tile copies its part of the table (TileWindow) before the first row, so that a row asks nothing that is far
// before it reads coefficients and x; which column an entry's neighbour has there is found once for a walk. Loads of a batch
// of entries are under way before the first is used. Neighbours outside are not multiplied.
#pragma once

#include "echelon/base/fma.hpp"
#include "echelon/matrix/doubled_sum.hpp"
#include "echelon/matrix/tile_product_view.hpp"

namespace echelon::tile_product {

/// y = A x
struct PlainSum {
  static constexpr bool reads_x = true, wide = false;
  double sum;
  ECHELON_FN PlainSum(const TileProductView&, std::int64_t) : sum(0) {}
  ECHELON_FN void add(double a, double x) { sum = fma(a, x, sum); }
  ECHELON_FN double result() const { return sum; }
};

/// y = b + A x
struct AddedSum {
  static constexpr bool reads_x = true, wide = false;
  double sum;
  ECHELON_FN AddedSum(const TileProductView& view, std::int64_t at) : sum(view.b[at]) {}
  ECHELON_FN void add(double a, double x) { sum = fma(a, x, sum); }
  ECHELON_FN double result() const { return sum; }
};

/// r = b − A x
struct CarefulSum {
  static constexpr bool reads_x = true, wide = true;  // needs many registers
  DoubledSum sum;
  ECHELON_FN CarefulSum(const TileProductView& view, std::int64_t at) : sum{view.b[at], 0} {}
  ECHELON_FN void add(double a, double x) { sum.subtract_product(a, x); }
  ECHELON_FN double result() const { return sum.high + sum.low; }
};

/// Σ |a|
struct SizeSum {
  static constexpr bool reads_x = false, wide = false;
  double sum;
  ECHELON_FN SizeSum(const TileProductView&, std::int64_t) : sum(0) {}
  ECHELON_FN void add(double a, double) { sum += a < 0 ? -a : a; }
  ECHELON_FN double result() const { return sum; }
};

/// Coefficients pass through once: they should not push x out of the caches.
ECHELON_FN double read_once(const double* from) {
#ifdef __CUDA_ARCH__
  return __ldcs(from);
#else
  return *from;
#endif
}
ECHELON_FN double read_often(const double* from) {
#ifdef __CUDA_ARCH__
  return __ldg(from);
#else
  return *from;
#endif
}

/// Ticket of a tile, −1 where there are no lines.
ECHELON_FN int ticket(const TileView& tiles, int tile_y, int tile_z) {
  const bool inside = tile_y >= 0 && tile_z >= 0 && tile_y < tiles.tiles_y && tile_z * tiles.shape.z < tiles.front.nz;
  return inside ? tiles.tile_of[tile_z * tiles.tiles_y + tile_y] : -1;
}

/// A column of the table along the levels of a tile: at `level` it is at origin + level · table_columns, from `low` to
/// `high`, which is behind the last.
struct TableColumn {
  int origin, low, high;
};

/// The column of a tile; `place` is ẑ in the tile, or shape.z for where the run begins, which is known one level further.
ECHELON_FN TableColumn table_column(const TileProductView& v, int t, int place) {
  if (t < 0) return {0, 0, 0};
  const Tile tile = v.vector.tiles.tiles[t];
  const int end = tile.first_level + tile.levels + (place == v.vector.tiles.shape.z ? 1 : 0);
  const auto first = static_cast<int>(v.vector.first_run[t] - tile.first_level);
  return {first * v.table_columns() + place, tile.first_level, end};
}

/// What stands in a column of the window of tile t.
ECHELON_FN TableColumn window_column(const TileProductView& v, int t, int column) {
  const TileView& tiles = v.vector.tiles;
  const int width = v.window.width_z(tiles.shape), side = column / width - v.window.sides;
  if (side > v.window.sides) return table_column(v, t, tiles.shape.z);
  const Tile tile = tiles.tiles[t];
  const int z = tile.z - v.window.reach_z + column % width;
  if (z < 0 || z >= tiles.front.nz) return {0, 0, 0};
  return table_column(v, ticket(tiles, tile.y / tiles.shape.y + side, z / tiles.shape.z), z % tiles.shape.z);
}

ECHELON_FN unsigned window_value(const TileProductView& v, const TableColumn& column, int level) {
  const bool known = level >= column.low && level < column.high;
  return known ? v.line_zero[column.origin + level * v.table_columns()] : 0u;
}

/// Entries whose loads are under way together; of any block size one at a time.
template <int B>
constexpr int batch = B == 1             ? 7
                      : B == 2           ? 4
                      : B >= 3 && B <= 5 ? 2
                                         : 1;

/// What rows need of an entry: the neighbour's x, and scalars from the own line to its line, were they of one ẑ.
struct alignas(8) EntryStep {
  int x, scalars;
};
ECHELON_FN EntryStep step_of(const TileProductView& v, int e) {
  return {v.neighbours[e].x, v.neighbours[e].line_y * v.block};
}

/// A line of a tile: one thread's work at every level.
struct Line {
  int ticket;
  int y, z;  // ŷ, ẑ
};

/// Where a walk finds what it asks for; `first_level` is that of the window's first row.
struct Near {
  const unsigned* zeros;  // the window, or the table
  const EntryStep* steps;
  int* found;  // room for an entry each, `stride` apart
  int stride;
  int first_level;
};

/// What is walked along: of entry e, found[e · stride] is where `zeros` has the neighbour's line, less the level; or `none`.
struct Walk {
  static constexpr int none = -2147483647 - 1;
  Near near;
  int by_level;    // from one level to the next
  int own, begin;  // the same of the own line, and of where the own run begins
  int scalars;     // ŷ · b
  int start;       // level of the first point
};

/// Before a walk: fills `found`, and returns what rows are computed with.
ECHELON_FN Walk begin_walk(const TileProductView& v, const Line& line, const Near& near) {
  const TileView& tiles = v.vector.tiles;
  const Wavefront& f = tiles.front;
  const Tile tile = tiles.tiles[line.ticket];
  const int j = line.y - f.c * line.z, k = line.z;
  const bool window = v.window.levels > 0;
  const int by_level = window ? v.window.columns(tiles.shape) : v.table_columns();
  const int width = v.window.width_z(tiles.shape);
  const auto at = [&](int y, int z, int level) {
    if (window) {
      const int side = (y - tile.y + v.window.sides * tiles.shape.y) / tiles.shape.y;
      return side * width + (z - tile.z + v.window.reach_z) + (level - near.first_level) * by_level;
    }
    const int t = tiles.tile_of_line(y, z);
    return table_column(v, t, z % tiles.shape.z).origin + level * by_level;
  };
  for (int e = 0; e < v.entries; ++e) {
    const TileNeighbour to = v.neighbours[e];
    const bool inside = static_cast<unsigned>(j + to.y) < static_cast<unsigned>(f.ny) &&
                        static_cast<unsigned>(k + to.z) < static_cast<unsigned>(f.nz);
    near.found[e * near.stride] = inside ? at(line.y + to.line_y, line.z + to.line_z, to.level) : Walk::none;
  }
  const int begin = window ? by_level - 1 - near.first_level * by_level : table_column(v, line.ticket, tiles.shape.z).origin;
  return {near, by_level, at(line.y, line.z, 0), begin, line.y * v.block, f.line_start(line.y, line.z)};
}

/// Row `row` of the line's point at `level`, which is inside the grid; B = 0 takes the block size at run time, E = 0 the
/// number of entries.
template <int B, class Sum, int E = 0>
ECHELON_FN void row(const TileProductView& v, const Walk& walk, int level, int row) {
  const int b = B > 0 ? B : v.block, entries = E > 0 ? E : v.entries;
  const int i = level - walk.start, nx = v.vector.front.nx, by_level = level * walk.by_level;
  const unsigned* const zeros = walk.near.zeros;
  const unsigned scalars = static_cast<unsigned>(walk.scalars);
  const unsigned point = zeros[walk.own + by_level] + scalars, at = point + static_cast<unsigned>(row);
  const unsigned start = zeros[walk.begin + by_level], length = zeros[walk.begin + by_level + walk.by_level] - start;
  const double* const A = v.values + std::int64_t{start} * (entries * b) + (at - start);
  Sum sum(v, at);
  constexpr int together = batch<B>, columns = B > 0 ? B : 1;
  for (int e = 0; e < entries; e += together) {
    double a[together][columns], x[together][columns];
    bool has[together];
    unsigned from[together];
    // Where there is no neighbour the own point is read, and behind the last entry the last: nothing waits for a branch.
    for (int n = 0; n < together; ++n) {
      const int entry = e + n < entries ? e + n : entries - 1;
      const int found = walk.near.found[entry * walk.near.stride];
      const EntryStep step = walk.near.steps[entry];
      has[n] = found != Walk::none && static_cast<unsigned>(i + step.x) < static_cast<unsigned>(nx) && e + n < entries;
      from[n] =
          zeros[(has[n] ? found : walk.own) + by_level] + scalars + (has[n] ? static_cast<unsigned>(step.scalars) : 0u);
    }
    if constexpr (B == 0) {
      for (int c = 0; has[0] && c < b; ++c) {
        sum.add(A[static_cast<unsigned>(e * b + c) * length], Sum::reads_x ? v.x[from[0] + static_cast<unsigned>(c)] : 0.0);
      }
    } else {
      for (int n = 0; n < together; ++n) {
        const int entry = e + n < entries ? e + n : entries - 1;
        for (int c = 0; c < columns; ++c) {
          a[n][c] = read_once(A + static_cast<unsigned>(entry * B + c) * length);
          if constexpr (Sum::reads_x) x[n][c] = read_often(v.x + (from[n] + static_cast<unsigned>(c)));
        }
      }
      for (int n = 0; n < together; ++n) {
        for (int c = 0; c < columns; ++c) {
          if (has[n]) sum.add(a[n][c], Sum::reads_x ? x[n][c] : 0.0);
        }
      }
    }
  }
  v.y[at] = sum.result();
}

/// Where a (tile, level) keeps one entry of scalar points, in the matrix and in a vector.
struct EntryRun {
  std::int64_t from, to;
  int points, length;  // `length` with padding
};
ECHELON_FN EntryRun entry_run(const TileProductView& v, int ticket, int level, int entry) {
  const TileView& tiles = v.vector.tiles;
  const Tile tile = tiles.tiles[ticket];
  const std::int64_t run = v.vector.first_run[ticket] + (level - tile.first_level), start = v.vector.run_start[run];
  const auto length = static_cast<int>(v.vector.run_start[run + 1] - start);
  return {start * v.entries + std::int64_t{entry} * length, start, tiles.lines_before(tile, level, tiles.end_z(tile)),
          length};
}

/// The table's part of one run; `line_zero` is that of its first ẑ.
ECHELON_FN void line_zeros(const LayoutView& v, const Tile& tile, std::int64_t run, int level, unsigned* line_zero) {
  const TileView& tiles = v.tiles;
  auto before = static_cast<unsigned>(v.run_start[run]);
  line_zero[tiles.shape.z] = before;
  for (int z = 0; z < tiles.shape.z; ++z) {
    const bool inside = tile.z + z < tiles.front.nz;
    const LineRange lines = inside ? tiles.lines_at(tile, level, tile.z + z) : LineRange{0, 0};
    line_zero[z] = before - static_cast<unsigned>(lines.begin) * static_cast<unsigned>(v.rows);
    before += static_cast<unsigned>(lines.count() * v.rows);
  }
}

/// Behind the last run: where all end.
ECHELON_FN void table_end(const LayoutView& v, std::int64_t runs, unsigned* line_zero) {
  const int columns = v.tiles.shape.z + 1;
  line_zero[(runs + 1) * columns - 1] = static_cast<unsigned>(v.run_start[runs]);
}

}  // namespace echelon::tile_product
