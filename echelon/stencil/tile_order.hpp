// SPDX-License-Identifier: BSD-3-Clause
// The order in which a GPU keeps a matrix on a structured grid and its vectors, and the tiles it runs them by. Tile by tile,
// level by level unless another kind is asked for:
//   matrix  [tile][level][entry][column][line][row]        vector  [tile][level][line][row]
// with all entries of the stencil together: the lower ones of a (tile, level) are one run of memory, then the diagonal and
// the upper ones another. The map is that of the stencil and its mirror image together, so the upper sweep runs the same
// tiles backwards. Runs are padded with zeros to eight scalars whatever the scalar, so one table serves every precision, and
// the matrix's run begins at entries · dof times the vector's. The other kinds of layout.hpp, skewed (the paper's modulus
// form, which loses no memory) and user, have the same tiles and no runs: conversions and the plain sweep take them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "echelon/base/array.hpp"
#include "echelon/stencil/layout_view.hpp"

namespace echelon {

/// S and −S.
Stencil symmetrised(const Stencil& stencil);

class TileOrder {
 public:
  /// The tables of tiles are made on the host and copied to the device (which may be the host), those of runs are made
  /// there. Throws Error(bad_argument) for sizes < 1, will_not_fit when the device has not the memory.
  TileOrder(Grid grid, Stencil stencil, int dof, TileShape shape, Device device,
            LayoutKind kind = LayoutKind::tile_contiguous);
  /// The entries of `stencil`, points in the order of the larger stencil `leader`: vectors are then those of its order.
  TileOrder(Grid grid, Stencil stencil, const Stencil& leader, int dof, TileShape shape, Device device,
            LayoutKind kind = LayoutKind::tile_contiguous);

  /// The same points, tiles and vectors as in an order that is kept in runs, whose tables are shared, with the entries of
  /// another stencil.
  TileOrder(const TileOrder& like, Stencil stencil);

  const Grid& grid() const { return grid_; }
  const Stencil& stencil() const { return stencil_; }
  int dof() const { return dof_; }
  Device device() const { return device_; }
  LayoutKind kind() const { return matrix_.kind; }
  /// Pointers live on the device, as long as this object.
  const LayoutView& matrix() const { return matrix_; }
  const LayoutView& vector() const { return vector_; }
  /// The same for the host; a table of runs is made there when a view is first asked for.
  const Layout& host_matrix() const { return host_matrix_; }
  const Layout& host_vector() const { return host_vector_; }
  std::int64_t matrix_scalars() const { return host_matrix_.size(); }
  std::int64_t vector_scalars() const { return host_vector_.size(); }
  const TileSchedule& host_tiles() const { return points_->schedule ? *points_->schedule : host_vector_.tiles(); }
  /// (tile, level) pairs. Throws Error(bad_argument) for a kind that is not kept in runs.
  std::int64_t runs() const;
  /// Of the tables on the device.
  std::int64_t bytes() const;

 private:
  Grid grid_;
  Stencil stencil_;
  int dof_;
  Device device_;
  /// What orders of the same points share, on the device.
  struct PointTables {
    std::optional<TileSchedule> schedule;  // of kinds whose layout has none
    Array<std::byte> packed;               // of the tiles
    Array<std::int64_t> run_start;
    std::int64_t bytes() const { return packed.bytes() + run_start.bytes(); }
  };
  void place_matrix_runs();

  Layout host_vector_, host_matrix_;
  std::shared_ptr<const PointTables> points_;
  Array<std::int64_t> matrix_run_start_;
  LayoutView matrix_, vector_;
};

}  // namespace echelon
