// SPDX-License-Identifier: BSD-3-Clause
// Coarsening along one direction: weights, and the Galerkin product B = Pᵀ A P. A point i between two coarse ones has
//   w∓ = −S∓ / D,   S∓: sum of its entries towards that side,   D: sum of those without a step in the direction
// (guards: line_kernels_host.cpp), so P's row is (w₋, w₊); a coarse point's is 1. Two weights a point between, no other
// storage of P. B's row of coarse point i = 2I + 1 gathers the rows i − 1, i, i + 1 of A, and their columns. Of a symmetric
// A one half is computed; the other is its mirror image, written only for the last direction of a level. Moved: half of A
// for the weights and all for B, the weights, B.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "echelon/base/array.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/precond/mg/axis.hpp"

namespace echelon {

/// B's entries on a matrix of `grid`: A's, with every step in the direction that products of their columns can have, but
/// those that lead out of the coarse grid from every point.
Stencil coarsened(const Stencil& stencil, const Grid& grid, Axis axis);

/// A's planes, of each entry all points; of a symmetric matrix perhaps only those from the centre on: the entries before it
/// are then read from the other end.
struct MatrixPlanes {
  const double* values;
  Grid grid;
  const Stencil* stencil;
  bool half = false;

  /// Entry e of the points of line (j, k): those whose neighbour is inside the grid. The neighbour's line must be inside.
  const double* line(int e, std::int64_t j, std::int64_t k) const {
    const int center = stencil->center();
    if (!half) return values + e * grid.points() + grid.index(0, j, k);
    if (e >= center) return values + (e - center) * grid.points() + grid.index(0, j, k);
    const Offset o = stencil->offsets()[static_cast<std::size_t>(e)];
    return values + (stencil->size() - 1 - e - center) * grid.points() + grid.index(o.x, j + o.y, k + o.z);
  }
};

class DirectionStep {
 public:
  /// `compute` has the values. The side must be at least 2. Of a step that is not the last of its level only `planes` is
  /// there, and `product` is not.
  DirectionStep(const Grid& grid, const Stencil& stencil, Axis axis, bool last = true);

  /// Weights and B from A, of the grid and stencil above. `symmetric`: A is so exactly. Allocates nothing but the first time,
  /// or the first time that A is not symmetric.
  void compute(const StructMatrix<double>& A, bool symmetric);
  void compute(const DirectionStep& before, bool symmetric) { compute(before.planes(), symmetric); }

  Axis axis() const { return axis_; }
  /// Of the points at even places, in natural order of their grid.
  const Array<double>& left() const { return left_; }
  const Array<double>& right() const { return right_; }
  const StructMatrix<double>& product() const { return *product_; }
  MatrixPlanes planes() const;
  const Grid& grid() const { return coarse_; }
  const Stencil& stencil() const { return stencil_; }
  std::int64_t bytes() const;

 private:
  /// (row weight · column weight) · A's entry: row i = 2I + 1 + row_step, column i + o = 2I + 1 + column_step; an odd
  /// column_step is a column between coarse points, which counts towards the coarse one on its left or right.
  struct Term {
    int entry, row_step, column_step;
    bool column_is_left;  // of the two weights of an odd column, the one towards the left
  };
  struct Room {
    std::vector<double> values;
  };

  void compute(const MatrixPlanes& A, bool symmetric);
  void make_weights(const MatrixPlanes& A);
  void make_product(const MatrixPlanes& A, bool symmetric);
  void product_line(const MatrixPlanes& A, std::int64_t line, int first_entry) const;
  void product_line_x(const MatrixPlanes& A, std::int64_t line, int first_entry, Room& room) const;
  void mirror_line(std::int64_t line) const;
  /// Entry e of B's line while it is computed.
  double* own_line(int e, std::int64_t line) const {
    return values_ + (e - first_stored_) * coarse_.points() + line * coarse_.nx;
  }
  Room& room_of(int thread) const { return (*rooms_)[static_cast<std::size_t>(thread)]; }

  Axis axis_;
  Grid fine_, between_, coarse_;
  std::vector<Offset> offsets_;  // A's
  Stencil stencil_;              // B's
  std::vector<std::vector<Term>> terms_;  // of each of B's entries
  std::optional<StructMatrix<double>> product_;  // of the last step
  Array<double> values_between_;                 // of the others: all entries, or those from the centre on
  bool half_ = false;
  double* values_ = nullptr;  // where entry `first_stored_` begins, while B is computed
  int first_stored_ = 0;
  Array<double> left_, right_;
  std::shared_ptr<std::vector<Room>> rooms_;  // one a thread
};

}  // namespace echelon
