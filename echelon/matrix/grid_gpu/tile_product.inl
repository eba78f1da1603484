// SPDX-License-Identifier: BSD-3-Clause
// One scalar row of a product in tile order, for host and device: entries ascending and columns ascending inside, by the Sum
// given, so y = A x has the bits of user order. Where a neighbour's values are: its line (ŷ, ẑ) and level are the own ones
// plus constants of the entry, and a table says where the line ŷ = 0 of a (tile, level, ẑ) would begin. A walk over some
// levels of a tile copies its part of the table (TileWindow) before the first row, so that a row asks nothing that is far
// before it reads coefficients and x; which column an entry's neighbour has there is found once for a walk. The x of a batch
// of entries are under way before the first is used. Neighbours outside are not multiplied.
#pragma once

#include "echelon/base/fma.hpp"
#include "echelon/matrix/doubled_sum.hpp"
#include "echelon/matrix/grid_gpu/tile_product_view.hpp"

namespace echelon::tile_product {

/// y = A x
struct PlainSum {
  static constexpr bool reads_x = true, wide = false;
  double sum;
  ECHELON_FN PlainSum(const TileProductView&, std::int64_t) : sum(0) {}
  ECHELON_FN void add(double a, double x) { sum = fma(a, x, sum); }
  ECHELON_FN double result() const { return sum; }
};

/// y = A x and, of each row, what it adds to x·y
struct DottedSum : PlainSum {
  using PlainSum::PlainSum;
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

/// Entries whose x are under way together, for blocks of b.
constexpr int batch_of(int b) {
  if (b <= 3) return b == 1 ? 7 : b == 2 ? 4 : 3;
  return b <= 6 ? 2 : 1;
}
template <int B>
constexpr int batch = batch_of(B);

ECHELON_FN EntryStep step_of(const TileProductView& v, int e) {
  return {v.neighbours[e].x, v.neighbours[e].line_y * v.block};
}

/// A line of a tile: one thread's work at every level.
struct Line {
  int ticket;
  int y, z;  // ŷ, ẑ
};

/// What is walked along: where `zeros` has a line at a level is a constant of the line and `by_level` times the level.
struct Walk {
  static constexpr int none = -2147483647 - 1;
  const unsigned* zeros;  // the window, whose first row is that of `first_level`, or the table
  int first_level;
  int by_level;
  int own, begin;    // constants of the own line, and of where the own run begins
  unsigned scalars;  // ŷ · b
  int start;         // level of the first point
};

/// The constant of a line (ŷ, ẑ), `level` levels from the one that is walked along.
ECHELON_FN int line_constant(const TileProductView& v, int ticket, int y, int z, int level, int first_level) {
  const TileView& tiles = v.vector.tiles;
  if (v.window.levels > 0) {
    const Tile tile = tiles.tiles[ticket];
    const int side = (y - tile.y + v.window.sides * tiles.shape.y) / tiles.shape.y;
    return side * v.window.width_z(tiles.shape) + (z - tile.z + v.window.reach_z) +
           (level - first_level) * v.window.columns(tiles.shape);
  }
  return table_column(v, tiles.tile_of_line(y, z), z % tiles.shape.z).origin + level * v.table_columns();
}

/// The same of the neighbour of entry e; Walk::none where the line has none.
ECHELON_FN int neighbour_constant(const TileProductView& v, const Line& line, int e, int first_level) {
  const Wavefront& f = v.vector.tiles.front;
  const TileNeighbour to = v.neighbours[e];
  const int j = line.y - f.c * line.z + to.y, k = line.z + to.z;
  const bool inside =
      static_cast<unsigned>(j) < static_cast<unsigned>(f.ny) && static_cast<unsigned>(k) < static_cast<unsigned>(f.nz);
  return inside ? line_constant(v, line.ticket, line.y + to.line_y, line.z + to.line_z, to.level, first_level) : Walk::none;
}

ECHELON_FN Walk walk_of(const TileProductView& v, const Line& line, const unsigned* zeros, int first_level) {
  const TileView& tiles = v.vector.tiles;
  const bool window = v.window.levels > 0;
  const int by_level = window ? v.window.columns(tiles.shape) : v.table_columns();
  const int begin = window ? by_level - 1 - first_level * by_level : table_column(v, line.ticket, tiles.shape.z).origin;
  return {zeros,
          first_level,
          by_level,
          line_constant(v, line.ticket, line.y, line.z, 0, first_level),
          begin,
          static_cast<unsigned>(line.y * v.block),
          tiles.front.line_start(line.y, line.z)};
}

/// What the entries of a line have of their own, found before the walk.
struct Places {
  const int* constants;  // an entry each, `stride` apart
  int stride;
  const EntryStep* steps;
  ECHELON_FN int constant(int e) const { return constants[e * stride]; }
  ECHELON_FN EntryStep step(int e) const { return steps[e]; }
};

/// Where a row is: i of its point, the point's first scalar and the row's own, and the run.
struct RowPlace {
  int i, by_level;
  unsigned point, at, start, length;
};
ECHELON_FN RowPlace place_of(const Walk& walk, int level, int row) {
  const int by_level = level * walk.by_level;
  const unsigned point = walk.zeros[walk.own + by_level] + walk.scalars, start = walk.zeros[walk.begin + by_level];
  return {level - walk.start,
          by_level,
          point,
          point + static_cast<unsigned>(row),
          start,
          walk.zeros[walk.begin + by_level + walk.by_level] - start};
}

/// The values of a point, which begin at a multiple of 16 bytes when their number is even.
template <int B>
ECHELON_FN void read_point(const double* from, double (&x)[B]) {
#ifdef __CUDA_ARCH__
  if constexpr (B % 2 == 0) {
    for (int c = 0; c < B; c += 2) {
      const double2 two = __ldg(reinterpret_cast<const double2*>(from + c));
      x[c] = two.x;
      x[c + 1] = two.y;
    }
  } else {
    for (int c = 0; c < B; ++c) x[c] = __ldg(from + c);
  }
#else
  for (int c = 0; c < B; ++c) x[c] = from[c];
#endif
}

/// The entries from `first` on of one row, E = 0 takes their number at run time.
template <int B, class Sum, int E = 0>
class Batch {
 public:
  static constexpr int together = batch<B>;
  /// Where there is no neighbour the own point is read, and behind the last entry the last: nothing waits for a branch.
  template <class Found>
  ECHELON_FN void ask(const TileProductView& v, const Walk& walk, const Found& found, const RowPlace& at, int first) {
    const int entries = E > 0 ? E : v.entries, nx = v.vector.front.nx;
    for (int n = 0; n < together; ++n) {
      const int e = first + n < entries ? first + n : entries - 1, constant = found.constant(e);
      const EntryStep step = found.step(e);
      has_[n] =
          constant != Walk::none && static_cast<unsigned>(at.i + step.x) < static_cast<unsigned>(nx) && first + n < entries;
      if constexpr (Sum::reads_x) {
        const unsigned zero = walk.zeros[(has_[n] ? constant : walk.own) + at.by_level];
        const unsigned from = zero + walk.scalars + (has_[n] ? static_cast<unsigned>(step.scalars) : 0u);
        read_point(v.x + from, x_[n]);
      }
    }
  }
  /// A is the row's value in the first column of the first entry. `Room`: behind the last entry there is memory to read, so
  /// all values are on their way before the first is used.
  template <bool Room>
  ECHELON_FN void add(const double* A, unsigned length, Sum& sum) const {
    double a[together][B];
    for (int n = 0; n < together; ++n) {
      for (int c = 0; c < B; ++c) a[n][c] = Room || has_[n] ? A[static_cast<unsigned>(n * B + c) * length] : 0.0;
    }
    for (int n = 0; n < together; ++n) {
      for (int c = 0; c < B; ++c) {
        if (has_[n]) sum.add(a[n][c], Sum::reads_x ? x_[n][c] : 0.0);
      }
    }
  }

 private:
  double x_[together][B];
  bool has_[together];
};

/// Row `row` of the line's point at `level`, which is inside the grid; B = 0 takes the block size at run time.
template <int B, class Sum>
ECHELON_FN void row(const TileProductView& v, const Walk& walk, const Places& places, int level, int row) {
  const int b = B > 0 ? B : v.block;
  const RowPlace at = place_of(walk, level, row);
  const double* const A = v.values + std::int64_t{at.start} * (v.entries * b) + (at.at - at.start);
  Sum sum(v, at.at);
  if constexpr (B > 0) {
    Batch<B, Sum> entries;
    for (int e = 0; e < v.entries; e += batch<B>) {
      entries.ask(v, walk, places, at, e);
      entries.template add<false>(A + static_cast<unsigned>(e * b) * at.length, at.length, sum);
    }
  } else {
    for (int e = 0; e < v.entries; ++e) {
      const int constant = places.constant(e);
      const EntryStep step = places.step(e);
      const bool has =
          constant != Walk::none && static_cast<unsigned>(at.i + step.x) < static_cast<unsigned>(v.vector.front.nx);
      if (!has) continue;
      const unsigned from = walk.zeros[constant + at.by_level] + walk.scalars + static_cast<unsigned>(step.scalars);
      for (int c = 0; c < b; ++c) {
        sum.add(A[static_cast<unsigned>(e * b + c) * at.length], Sum::reads_x ? v.x[from + static_cast<unsigned>(c)] : 0.0);
      }
    }
  }
  v.y[at.at] = sum.result();
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
