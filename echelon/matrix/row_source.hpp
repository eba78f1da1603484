// SPDX-License-Identifier: BSD-3-Clause
// Who can write the values of a matrix on a structured grid where they are wanted: the built-in problems, row by row
// (problem/assembly/assembly.hpp), or a user's array that lies on the GPU already (matrix/given_rows.hpp). No copy on the
// host.
#pragma once

#include "echelon/stencil/tile_order.hpp"

namespace echelon {

class RowSource {
 public:
  RowSource(Grid grid, Stencil stencil, int dof, Device device)
      : grid_(grid), stencil_(std::move(stencil)), dof_(dof), device_(device) {}
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;

  const Grid& grid() const { return grid_; }
  const Stencil& stencil() const { return stencil_; }
  int dof() const { return dof_; }
  Device device() const { return device_; }

  /// All `order.matrix_scalars()` values in an order of the same grid, unknowns and place, whose stencil has this one's
  /// entries: those it has beside them, neighbours outside and padding are zero. Queued on a GPU.
  virtual void write(const TileOrder& order, double* values) const = 0;
  /// Whether `write` may be called again later; copying what it wrote is the other way to the same values.
  virtual bool lasting() const = 0;
  /// What writing is called in a report: "assembly", "conversion".
  virtual const char* work() const = 0;

 private:
  Grid grid_;
  Stencil stencil_;
  int dof_;
  Device device_;
};

}  // namespace echelon
