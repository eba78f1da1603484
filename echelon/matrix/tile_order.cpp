// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/tile_order.hpp"

#include <algorithm>
#include <vector>

#include "echelon/base/error.hpp"

namespace echelon {
namespace {

// Eight scalars: a whole number of 16-byte units, which bulk copies move, for two bytes a scalar and more.
constexpr int padding_bytes = 4;

Layout laid_out(LayoutKind kind, Grid grid, const Stencil& stencil, TileShape shape, const StoredBlocks& stored) {
  const Stencil both = symmetrised(stencil);
  switch (kind) {
    case LayoutKind::user: return Layout::user(grid, stored);
    case LayoutKind::skewed: return Layout::skewed(wavefront(grid, both), stored);
    case LayoutKind::tile_contiguous: break;
  }
  return Layout::tile_contiguous(wavefront(grid, both), both, shape, stored);
}

/// The matrix of an order whose vectors are these.
Layout matrix_beside(const Layout& vector, const Stencil& leader, TileShape shape, const StoredBlocks& stored) {
  if (vector.kind() == LayoutKind::tile_contiguous) return Layout::on_points_of(vector, stored);
  return laid_out(vector.kind(), vector.grid(), leader, shape, stored);
}

template <class T>
Array<T> copied(const T* from, std::int64_t n, Device device) {
  Array<T> to(n, device);
  copy_bytes(to.data(), device, from, Device::host(), to.bytes());
  return to;
}

}  // namespace

Stencil symmetrised(const Stencil& stencil) {
  std::vector<Offset> both(stencil.offsets().begin(), stencil.offsets().end());
  for (const Offset& o : stencil.offsets()) {
    if (stencil.find({-o.x, -o.y, -o.z}) < 0) both.push_back({-o.x, -o.y, -o.z});
  }
  return Stencil(std::move(both), stencil.name());
}

TileOrder::TileOrder(Grid grid, Stencil stencil, int dof, TileShape shape, Device device, LayoutKind kind)
    : TileOrder(grid, stencil, stencil, dof, shape, device, kind) {}

TileOrder::TileOrder(Grid grid, Stencil stencil, const Stencil& leader, int dof, TileShape shape, Device device,
                     LayoutKind kind)
    : grid_(grid),
      stencil_(std::move(stencil)),
      dof_(dof),
      device_(device),
      host_vector_(laid_out(kind, grid, leader, shape, StoredBlocks::vector(dof, padding_bytes))),
      host_matrix_(
          matrix_beside(host_vector_, leader, shape, StoredBlocks::matrix(all_entries(stencil_), dof, padding_bytes))) {
  const auto tables = std::make_shared<PointTables>();
  points_ = tables;
  matrix_ = host_matrix_.view();
  vector_ = host_vector_.view();
  if (kind != LayoutKind::tile_contiguous) {
    const Stencil both = symmetrised(leader);
    tables->schedule.emplace(wavefront(grid, both), both, shape);
  }
  TileView tiles = host_tiles().view();
  const std::int64_t count = tiles.count;
  const std::int64_t places = std::int64_t{tiles.tiles_y} * ((tiles.front.nz + tiles.shape.z - 1) / tiles.shape.z);
  tables->tiles = copied(tiles.tiles, count, device);
  tables->tile_of = copied(tiles.tile_of, places, device);
  tables->waits = copied(tiles.waits, tiles.wait_start[count], device);
  tables->wait_start = copied(tiles.wait_start, count + 1, device);
  tiles.tiles = tables->tiles.data();
  tiles.tile_of = tables->tile_of.data();
  tiles.waits = tables->waits.data();
  tiles.wait_start = tables->wait_start.data();
  matrix_.tiles = vector_.tiles = tiles;
  // User order needs no map, but who sweeps in it does.
  matrix_.front = vector_.front = tiles.front;
  if (kind != LayoutKind::tile_contiguous) return;
  tables->first_run = copied(vector_.first_run, count + 1, device);
  tables->run_start = copied(vector_.run_start, vector_.first_run[count] + 1, device);
  vector_.first_run = tables->first_run.data();
  vector_.run_start = tables->run_start.data();
  place_matrix_runs();
}

TileOrder::TileOrder(const TileOrder& like, Stencil stencil)
    : grid_(like.grid_),
      stencil_(std::move(stencil)),
      dof_(like.dof_),
      device_(like.device_),
      host_vector_(like.host_vector_),
      host_matrix_(Layout::on_points_of(host_vector_, StoredBlocks::matrix(all_entries(stencil_), dof_, padding_bytes))),
      points_(like.points_),
      matrix_(host_matrix_.view()),
      vector_(like.vector_) {
  matrix_.tiles = vector_.tiles;
  matrix_.front = vector_.front;
  place_matrix_runs();
}

void TileOrder::place_matrix_runs() {
  matrix_run_start_ = copied(host_matrix_.view().run_start, runs() + 1, device_);
  matrix_.first_run = vector_.first_run;
  matrix_.run_start = matrix_run_start_.data();
}

std::int64_t TileOrder::runs() const {
  if (points_->schedule)
    throw Error(ErrorCode::bad_argument, "a layout that is not kept in runs: only tile-contiguous order is");
  return points_->run_start.size() - 1;
}

std::int64_t TileOrder::bytes() const { return points_->bytes() + matrix_run_start_.bytes(); }

}  // namespace echelon
