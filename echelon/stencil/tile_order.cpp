// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/stencil/tile_order.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/stencil/tile_runs_view.hpp"

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

const TileRunKernels& kernels() {
  const TileRunKernels* found = tile_run_kernels();
  if (!found) throw Error(ErrorCode::device, "a tile order on a GPU: this build of echelon has no CUDA");
  return *found;
}

/// Tables one behind the other, so that one transfer takes all of them.
class Packed {
 public:
  /// Where the table is among the bytes.
  template <class T>
  std::int64_t add(const T* from, std::int64_t n) {
    constexpr std::size_t alignment = 16;
    const std::size_t begin = (bytes_.size() + alignment - 1) / alignment * alignment;
    bytes_.resize(begin + static_cast<std::size_t>(n) * sizeof(T));
    if (n > 0) std::memcpy(bytes_.data() + begin, from, static_cast<std::size_t>(n) * sizeof(T));
    return static_cast<std::int64_t>(begin);
  }
  Array<std::byte> sent(Device device) const {
    Array<std::byte> to(static_cast<std::int64_t>(bytes_.size()), device);
    copy_bytes(to.data(), device, bytes_.data(), Device::host(), to.bytes());
    return to;
  }

 private:
  std::vector<std::byte> bytes_;
};

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
  matrix_ = host_matrix_.outline();
  vector_ = host_vector_.outline();
  const bool in_runs = kind == LayoutKind::tile_contiguous;
  if (!in_runs) {
    const Stencil both = symmetrised(leader);
    tables->schedule.emplace(wavefront(grid, both), both, shape);
  }
  TileView tiles = host_tiles().view();
  const std::int64_t count = tiles.count;
  const std::int64_t places = std::int64_t{tiles.tiles_y} * ((tiles.front.nz + tiles.shape.z - 1) / tiles.shape.z);
  Packed packed;
  const auto tile_list = packed.add(tiles.tiles, count), tile_of = packed.add(tiles.tile_of, places);
  const auto waits = packed.add(tiles.waits, tiles.wait_start[count]), wait_start = packed.add(tiles.wait_start, count + 1);
  const auto first_run = packed.add(vector_.first_run, in_runs ? count + 1 : 0);
  const auto tile_start = packed.add(host_vector_.tile_starts().data(), in_runs ? count + 1 : 0);
  tables->packed = packed.sent(device);
  const auto sent = [&]<class T>(std::int64_t at, const T*& table) {
    table = reinterpret_cast<const T*>(tables->packed.data() + at);
  };
  sent(tile_list, tiles.tiles);
  sent(tile_of, tiles.tile_of);
  sent(waits, tiles.waits);
  sent(wait_start, tiles.wait_start);
  matrix_.tiles = vector_.tiles = tiles;
  // User order needs no map, but who sweeps in it does.
  matrix_.front = vector_.front = tiles.front;
  if (!in_runs) return;
  tables->run_start = Array<std::int64_t>(vector_.first_run[count] + 1, device);
  const std::int64_t* starts = nullptr;
  sent(tile_start, starts);
  sent(first_run, vector_.first_run);
  vector_.run_start = tables->run_start.data();
  if (device.is_host()) {
    std::copy_n(host_vector_.view().run_start, tables->run_start.size(), tables->run_start.data());
  } else {
    kernels().run_starts(device.index, vector_, 32 / padding_bytes, starts, tables->run_start.data());
  }
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
      matrix_(host_matrix_.outline()),
      vector_(like.vector_) {
  matrix_.tiles = vector_.tiles;
  matrix_.front = vector_.front;
  place_matrix_runs();
}

void TileOrder::place_matrix_runs() {
  matrix_run_start_ = Array<std::int64_t>(points_->run_start.size(), device_);
  const std::int64_t columns = std::int64_t{stencil_.size()} * dof_;
  const std::int64_t *from = points_->run_start.data(), count = matrix_run_start_.size();
  if (device_.is_host()) {
    std::transform(from, from + count, matrix_run_start_.data(), [=](std::int64_t start) { return columns * start; });
  } else {
    kernels().stretched(device_.index, from, count, columns, matrix_run_start_.data());
  }
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
