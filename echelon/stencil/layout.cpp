// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/stencil/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "echelon/base/array.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/stencil/layout_view.hpp"

namespace echelon {

EntryRange all_entries(const Stencil& stencil) { return {0, stencil.size()}; }
EntryRange lower_entries(const Stencil& stencil) { return {0, stencil.center()}; }
EntryRange upper_entries(const Stencil& stencil) { return {stencil.center() + 1, stencil.size()}; }
EntryRange diagonal_and_upper_entries(const Stencil& stencil) { return {stencil.center(), stencil.size()}; }

namespace {

/// Lines of a tile that have a point at each of its levels: where lines begin less where they have ended, added up.
void count_lines(const TileView& tiles, const Tile& tile, std::int64_t* lines) {
  std::fill_n(lines, tile.levels, 0);
  for (int z = tile.z; z < tiles.end_z(tile); ++z) {
    for (int y = tile.y; y < tile.y + tiles.shape.y; ++y) {
      if (!tiles.front.has_line(y, z)) continue;
      const int begin = tiles.front.line_start(y, z) - tile.first_level;
      ++lines[begin];
      if (begin + tiles.front.nx < tile.levels) --lines[begin + tiles.front.nx];
    }
  }
  for (int n = 1; n < tile.levels; ++n) lines[n] += lines[n - 1];
}

/// Tiles of one kind have the same lines, but for where they lie. Those wholly inside the grid are of one kind; others are
/// told by how they lie to the grid's first line, and by how many ẑ they have.
std::pair<int, int> kind_of(const TileView& tiles, const Tile& tile) {
  const Wavefront& front = tiles.front;
  const int depth = tiles.end_z(tile) - tile.z, before = tile.y - front.c * tile.z;
  const bool whole = before >= front.c * (depth - 1) && before + tiles.shape.y <= front.ny;
  return {whole ? -1 : depth, whole ? depth : before};
}

}  // namespace

struct Layout::Tables {
  StoredBlocks stored;
  LayoutView outline;  // all but where runs begin
  std::int64_t size = 0;
  std::optional<TileSchedule> schedule;
  std::shared_ptr<const Tables> vector;  // whose schedule and first runs are used
  Array<std::int64_t> first_run, tile_start;
  // As many numbers as there are levels of tiles, which a GPU makes for itself: made when somebody asks.
  mutable std::once_flag asked;
  mutable Array<std::int64_t> run_start;
  mutable LayoutView whole_view;

  Tables(LayoutKind kind, const Wavefront& front, std::int64_t points, const StoredBlocks& blocks) : stored(blocks) {
    if (stored.rows < 1 || stored.columns < 1 || stored.entries.begin < 0 || stored.entries.count() < 0 ||
        stored.scalar_bytes < 1 || 32 % stored.scalar_bytes != 0) {
      throw Error(ErrorCode::bad_argument,
                  fmt::format("a layout of {}x{} blocks of the entries {} to {} in scalars of {} bytes: blocks are at least "
                              "1x1, entries ascend from 0, and scalars have 1, 2, 4, 8, 16 or 32 bytes",
                              stored.rows, stored.columns, stored.entries.begin, stored.entries.end, stored.scalar_bytes));
    }
    outline.kind = kind;
    outline.front = front;
    outline.entries = stored.entries;
    outline.rows = stored.rows;
    outline.columns = stored.columns;
    outline.points = points;
  }
  /// Scalars rounded up to whole 32 bytes, a power of two of them.
  std::int64_t padded(std::int64_t scalars) const {
    const std::int64_t whole = 32 / stored.scalar_bytes;
    return (scalars + whole - 1) & -whole;
  }
  std::int64_t columns() const { return std::int64_t{stored.entries.count()} * stored.columns; }

  /// Scalars of a tile, of one column of one entry.
  std::int64_t tile_length(const Tile& tile, std::vector<std::int64_t>& lines) const {
    lines.resize(static_cast<std::size_t>(tile.levels));
    count_lines(outline.tiles, tile, lines.data());
    std::int64_t sum = 0;
    for (const std::int64_t n : lines) sum += padded(n * stored.rows);
    return sum;
  }

  const LayoutView& view() const {
    std::call_once(asked, [this] {
      whole_view = outline;
      if (outline.kind != LayoutKind::tile_contiguous) return;
      run_start = vector ? stretched(vector->view(), *vector) : counted();
      whole_view.run_start = run_start.data();
    });
    return whole_view;
  }

 private:
  Array<std::int64_t> counted() const {
    const TileView& tiles = outline.tiles;
    Array<std::int64_t> starts(first_run[tiles.count] + 1);
#pragma omp parallel for num_threads(threads_for(starts.size())) schedule(dynamic)
    for (int t = 0; t < tiles.count; ++t) {
      const Tile& tile = tiles.tiles[t];
      std::int64_t* const start = starts.data() + first_run[t];
      std::int64_t next = tile_start[t];
      count_lines(tiles, tile, start);
      for (int n = 0; n < tile.levels; ++n) next += columns() * padded(std::exchange(start[n], next) * stored.rows);
    }
    starts[starts.size() - 1] = size;
    return starts;
  }
  Array<std::int64_t> stretched(const LayoutView& like, const Tables& of) const {
    Array<std::int64_t> starts(of.run_start.size());
    for (std::int64_t run = 0; run < starts.size(); ++run) starts[run] = columns() * like.run_start[run];
    return starts;
  }
};

Layout::Layout(LayoutKind kind, Grid grid, std::shared_ptr<const Tables> tables)
    : kind_(kind), grid_(grid), points_(grid.points()), tables_(std::move(tables)) {}

Layout Layout::user(Grid grid, int entries, int dof, int scalar_bytes) {
  return user(grid, StoredBlocks::matrix({0, entries}, dof, scalar_bytes));
}

Layout Layout::user(Grid grid, const StoredBlocks& stored) {
  // Only the sides are used of this front; on a grid whose sides are no ints `at` still holds.
  Wavefront front;
  front.nx = static_cast<int>(grid.nx);
  front.ny = static_cast<int>(grid.ny);
  front.nz = static_cast<int>(grid.nz);
  const auto tables = std::make_shared<Tables>(LayoutKind::user, front, grid.points(), stored);
  tables->size = grid.points() * stored.entries.count() * stored.rows * stored.columns;
  return Layout(LayoutKind::user, grid, tables);
}

Layout Layout::skewed(const Wavefront& front, const StoredBlocks& stored) {
  const Grid grid{front.nx, front.ny, front.nz};
  const auto tables = std::make_shared<Tables>(LayoutKind::skewed, front, grid.points(), stored);
  tables->outline.plane = tables->padded(grid.points() * stored.rows);
  tables->size = tables->outline.plane * stored.entries.count() * stored.columns;
  return Layout(LayoutKind::skewed, grid, tables);
}

Layout Layout::tile_contiguous(const Wavefront& front, const Stencil& stencil, TileShape shape, const StoredBlocks& stored) {
  const Grid grid{front.nx, front.ny, front.nz};
  const auto tables = std::make_shared<Tables>(LayoutKind::tile_contiguous, front, grid.points(), stored);
  const TileView tiles = tables->outline.tiles = tables->schedule.emplace(front, stencil, shape).view();
  Array<std::int64_t> first_run(tiles.count + 1), tile_start(tiles.count + 1);
  first_run[0] = tile_start[0] = 0;
  std::map<std::pair<int, int>, std::int64_t> lengths;
  std::vector<std::int64_t> lines;
  for (int t = 0; t < tiles.count; ++t) {
    const Tile& tile = tiles.tiles[t];
    const auto [length, fresh] = lengths.try_emplace(kind_of(tiles, tile));
    if (fresh) length->second = tables->columns() * tables->tile_length(tile, lines);
    first_run[t + 1] = first_run[t] + tile.levels;
    tile_start[t + 1] = tile_start[t] + length->second;
  }
  tables->size = tile_start[tiles.count];
  tables->outline.first_run = first_run.data();
  tables->first_run = std::move(first_run);
  tables->tile_start = std::move(tile_start);
  return Layout(LayoutKind::tile_contiguous, grid, tables);
}

Layout Layout::on_points_of(const Layout& vector, const StoredBlocks& stored) {
  const StoredBlocks& of = vector.stored();
  if (vector.kind() != LayoutKind::tile_contiguous || of.entries.count() != 1 || of.columns != 1 || of.rows != stored.rows ||
      of.scalar_bytes != stored.scalar_bytes) {
    throw Error(ErrorCode::bad_argument,
                "a layout on the points of another: it needs a vector in tile order with as many rows");
  }
  const LayoutView& like = vector.outline();
  const auto tables = std::make_shared<Tables>(LayoutKind::tile_contiguous, like.front, like.points, stored);
  tables->vector = vector.tables_;
  tables->size = tables->columns() * vector.size();
  tables->outline.tiles = like.tiles;
  tables->outline.first_run = like.first_run;
  return Layout(LayoutKind::tile_contiguous, vector.grid(), tables);
}

std::int64_t Layout::size() const { return tables_->size; }
std::int64_t Layout::bytes() const {
  tables_->view();
  return tables_->size * tables_->stored.scalar_bytes + tables_->first_run.bytes() + tables_->tile_start.bytes() +
         tables_->run_start.bytes();
}
const StoredBlocks& Layout::stored() const { return tables_->stored; }
const LayoutView& Layout::view() const { return tables_->view(); }
const LayoutView& Layout::outline() const { return tables_->outline; }
std::span<const std::int64_t> Layout::tile_starts() const { return tables_->tile_start.span(); }
const TileSchedule& Layout::tiles() const {
  const Tables& with = tables_->vector ? *tables_->vector : *tables_;
  if (!with.schedule) throw Error(ErrorCode::bad_argument, "tiles of a layout that has none");
  return *with.schedule;
}

}  // namespace echelon
