// SPDX-License-Identifier: BSD-3-Clause
// Coarsening along one direction: weights, and the Galerkin product B = Pᵀ A P. A point i between two coarse ones has
//   w∓ = −S∓ / D,   S∓: sum of its entries towards that side,   D: sum of those without a step in the direction
// (guards: line_kernels_host.cpp), so P's row is (w₋, w₊); a coarse point's is 1. Two weights a point between, no other
// storage of P. B's row of coarse point i = 2I + 1 gathers the rows i − 1, i, i + 1 of A, and their columns. Of a symmetric
// A one half is computed and the other is its mirror image. Moved: A twice, the weights, B.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "echelon/base/array.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/precond/mg/axis.hpp"

namespace echelon {

/// B's entries on a matrix of `grid`: A's, with every step in the direction that products of their columns can have, but
/// those that lead out of the coarse grid from every point.
Stencil coarsened(const Stencil& stencil, const Grid& grid, Axis axis);

class DirectionStep {
 public:
  /// Allocates; `compute` has the values. The side must be at least 2.
  DirectionStep(const Grid& grid, const Stencil& stencil, Axis axis);

  /// Weights and B from A, of the grid and stencil above. `symmetric`: A is so exactly. Allocates nothing.
  void compute(const StructMatrix<double>& A, bool symmetric);

  Axis axis() const { return axis_; }
  /// Of the points at even places, in natural order of their grid.
  const Array<double>& left() const { return left_; }
  const Array<double>& right() const { return right_; }
  const StructMatrix<double>& product() const { return product_; }
  StructMatrix<double>& product() { return product_; }
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

  void make_weights(const StructMatrix<double>& A);
  void make_product(const StructMatrix<double>& A, bool symmetric);
  void product_line(const StructMatrix<double>& A, std::int64_t line, int first_entry) const;
  void product_line_x(const StructMatrix<double>& A, std::int64_t line, int first_entry, Room& room) const;
  void mirror_line(std::int64_t line) const;
  Room& room_of(int thread) const { return (*rooms_)[static_cast<std::size_t>(thread)]; }

  Axis axis_;
  Grid fine_, between_;
  std::vector<Offset> offsets_;           // A's
  std::vector<std::vector<Term>> terms_;  // of each of B's entries
  StructMatrix<double> product_;
  double* values_ = nullptr;  // of the product, while it is computed
  Array<double> left_, right_;
  std::shared_ptr<std::vector<Room>> rooms_;  // one a thread
};

}  // namespace echelon
