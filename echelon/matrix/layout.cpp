// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "echelon/base/array.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/matrix/layout_view.hpp"

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

}  // namespace

struct Layout::Tables {
  StoredBlocks stored;
  LayoutView view;
  std::int64_t size = 0;
  std::optional<TileSchedule> schedule;
  std::shared_ptr<const Tables> vector;  // whose schedule and first runs are used
  Array<std::int64_t> first_run, run_start;

  Tables(LayoutKind kind, const Wavefront& front, std::int64_t points, const StoredBlocks& blocks) : stored(blocks) {
    if (stored.rows < 1 || stored.columns < 1 || stored.entries.begin < 0 || stored.entries.count() < 0 ||
        stored.scalar_bytes < 1 || 32 % stored.scalar_bytes != 0) {
      throw Error(ErrorCode::bad_argument,
                  fmt::format("a layout of {}x{} blocks of the entries {} to {} in scalars of {} bytes: blocks are at least "
                              "1x1, entries ascend from 0, and scalars have 1, 2, 4, 8, 16 or 32 bytes",
                              stored.rows, stored.columns, stored.entries.begin, stored.entries.end, stored.scalar_bytes));
    }
    view.kind = kind;
    view.front = front;
    view.entries = stored.entries;
    view.rows = stored.rows;
    view.columns = stored.columns;
    view.points = points;
  }
  /// Scalars rounded up to whole 32 bytes, a power of two of them.
  std::int64_t padded(std::int64_t scalars) const {
    const std::int64_t whole = 32 / stored.scalar_bytes;
    return (scalars + whole - 1) & -whole;
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
  tables->view.plane = tables->padded(grid.points() * stored.rows);
  tables->size = tables->view.plane * stored.entries.count() * stored.columns;
  return Layout(LayoutKind::skewed, grid, tables);
}

Layout Layout::tile_contiguous(const Wavefront& front, const Stencil& stencil, TileShape shape, const StoredBlocks& stored) {
  const Grid grid{front.nx, front.ny, front.nz};
  const auto tables = std::make_shared<Tables>(LayoutKind::tile_contiguous, front, grid.points(), stored);
  const TileView tiles = tables->schedule.emplace(front, stencil, shape).view();
  Array<std::int64_t> first_run(tiles.count + 1);
  first_run[0] = 0;
  for (int t = 0; t < tiles.count; ++t) first_run[t + 1] = first_run[t] + tiles.tiles[t].levels;
  Array<std::int64_t> run_start(first_run[tiles.count] + 1);
  run_start[0] = 0;
  const std::int64_t a_line = std::int64_t{stored.entries.count()} * stored.columns;
#pragma omp parallel for num_threads(threads_for(run_start.size())) schedule(dynamic)
  for (int t = 0; t < tiles.count; ++t) {
    const Tile& tile = tiles.tiles[t];
    std::int64_t* const length = run_start.data() + first_run[t] + 1;
    count_lines(tiles, tile, length);
    for (int n = 0; n < tile.levels; ++n) length[n] = a_line * tables->padded(length[n] * stored.rows);
  }
  for (std::int64_t run = 1; run < run_start.size(); ++run) run_start[run] += run_start[run - 1];
  tables->size = run_start[run_start.size() - 1];
  tables->view.tiles = tiles;
  tables->view.first_run = first_run.data();
  tables->view.run_start = run_start.data();
  tables->first_run = std::move(first_run);
  tables->run_start = std::move(run_start);
  return Layout(LayoutKind::tile_contiguous, grid, tables);
}

Layout Layout::on_points_of(const Layout& vector, const StoredBlocks& stored) {
  const StoredBlocks& of = vector.stored();
  if (vector.kind() != LayoutKind::tile_contiguous || of.entries.count() != 1 || of.columns != 1 || of.rows != stored.rows ||
      of.scalar_bytes != stored.scalar_bytes) {
    throw Error(ErrorCode::bad_argument,
                "a layout on the points of another: it needs a vector in tile order with as many rows");
  }
  const LayoutView& like = vector.view();
  const auto tables = std::make_shared<Tables>(LayoutKind::tile_contiguous, like.front, like.points, stored);
  tables->vector = vector.tables_;
  const Array<std::int64_t>& starts = vector.tables_->run_start;
  tables->run_start = Array<std::int64_t>(starts.size());
  const std::int64_t columns = std::int64_t{stored.entries.count()} * stored.columns;
  for (std::int64_t run = 0; run < starts.size(); ++run) tables->run_start[run] = columns * starts[run];
  tables->size = columns * vector.size();
  tables->view.tiles = like.tiles;
  tables->view.first_run = like.first_run;
  tables->view.run_start = tables->run_start.data();
  return Layout(LayoutKind::tile_contiguous, vector.grid(), tables);
}

std::int64_t Layout::size() const { return tables_->size; }
std::int64_t Layout::bytes() const {
  return tables_->size * tables_->stored.scalar_bytes + tables_->first_run.bytes() + tables_->run_start.bytes();
}
const StoredBlocks& Layout::stored() const { return tables_->stored; }
const LayoutView& Layout::view() const { return tables_->view; }
const TileSchedule& Layout::tiles() const {
  const Tables& with = tables_->vector ? *tables_->vector : *tables_;
  if (!with.schedule) throw Error(ErrorCode::bad_argument, "tiles of a layout that has none");
  return *with.schedule;
}

}  // namespace echelon
