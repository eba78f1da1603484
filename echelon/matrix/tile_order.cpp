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
      host_matrix_(laid_out(kind, grid, leader, shape, StoredBlocks::matrix(all_entries(stencil_), dof, padding_bytes))),
      host_vector_(laid_out(kind, grid, leader, shape, StoredBlocks::vector(dof, padding_bytes))) {
  matrix_ = host_matrix_.view();
  vector_ = host_vector_.view();
  if (kind != LayoutKind::tile_contiguous) {
    const Stencil both = symmetrised(leader);
    schedule_.emplace(wavefront(grid, both), both, shape);
  }
  TileView tiles = host_tiles().view();
  const std::int64_t count = tiles.count;
  const std::int64_t places = std::int64_t{tiles.tiles_y} * ((tiles.front.nz + tiles.shape.z - 1) / tiles.shape.z);
  tiles_ = copied(tiles.tiles, count, device);
  tile_of_ = copied(tiles.tile_of, places, device);
  waits_ = copied(tiles.waits, tiles.wait_start[count], device);
  wait_start_ = copied(tiles.wait_start, count + 1, device);
  tiles.tiles = tiles_.data();
  tiles.tile_of = tile_of_.data();
  tiles.waits = waits_.data();
  tiles.wait_start = wait_start_.data();
  matrix_.tiles = vector_.tiles = tiles;
  // User order needs no map, but who sweeps in it does.
  matrix_.front = vector_.front = tiles.front;
  if (kind != LayoutKind::tile_contiguous) return;
  const std::int64_t all_runs = vector_.first_run[count];
  first_run_ = copied(vector_.first_run, count + 1, device);
  run_start_ = copied(vector_.run_start, all_runs + 1, device);
  matrix_run_start_ = copied(matrix_.run_start, all_runs + 1, device);
  matrix_.first_run = vector_.first_run = first_run_.data();
  vector_.run_start = run_start_.data();
  matrix_.run_start = matrix_run_start_.data();
}

std::int64_t TileOrder::runs() const {
  if (schedule_) throw Error(ErrorCode::bad_argument, "a layout that is not kept in runs: only tile-contiguous order is");
  return run_start_.size() - 1;
}

std::int64_t TileOrder::bytes() const {
  return tiles_.bytes() + tile_of_.bytes() + waits_.bytes() + wait_start_.bytes() + first_run_.bytes() + run_start_.bytes() +
         matrix_run_start_.bytes();
}

}  // namespace echelon
