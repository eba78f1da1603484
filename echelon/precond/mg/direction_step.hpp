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

/// A matrix entry by entry, perhaps with only the last `kept` planes of the grid in memory (plane k at k mod kept). Of a
/// symmetric one perhaps only the entries from the centre on: those before it are then read from the other end.
struct MatrixPlanes {
  const double* values;
  Grid grid;
  const Stencil* stencil;
  bool half;
  std::int64_t kept;  // planes

  /// Entry e of the points of line (j, k): those whose neighbour is inside the grid. The neighbour's line must be inside.
  const double* line(int e, std::int64_t j, std::int64_t k) const {
    const int center = stencil->center();
    const std::int64_t entry = grid.nx * grid.ny * kept;
    if (!half) return values + e * entry + grid.index(0, j, k % kept);
    if (e >= center) return values + (e - center) * entry + grid.index(0, j, k % kept);
    const Offset o = stencil->offsets()[static_cast<std::size_t>(e)];
    return values + (stencil->size() - 1 - e - center) * entry + grid.index(o.x, j + o.y, (k + o.z) % kept);
  }
};

class DirectionStep {
 public:
  /// The side must be at least 2. `kept`: 0 for the last step of a level, whose B is a matrix; else planes of B that stay.
  DirectionStep(const Grid& grid, const Stencil& stencil, Axis axis, std::int64_t kept = 0);

  /// Enough of them for `compute_all`.
  static std::int64_t planes_to_keep(const Stencil& stencil);

  /// Weights and B from A, of the grid and stencil above. `symmetric`: A is so exactly. Allocates nothing but the first
  /// time, or the first time that A is not symmetric.
  void compute(const StructMatrix<double>& A, bool symmetric);
  /// The same for steps one after the other, a few planes of each at a time, so that what lies between them stays in cache.
  static void compute_all(std::vector<DirectionStep>& steps, const StructMatrix<double>& A, bool symmetric);

  Axis axis() const { return axis_; }
  /// Of the points at even places, in natural order of their grid.
  const Array<double>& left() const { return left_; }
  const Array<double>& right() const { return right_; }
  const StructMatrix<double>& product() const { return *product_; }
  MatrixPlanes planes() const;
  /// How far A's entries reach across planes.
  int reach_in_z() const { return reach_in_z_; }
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

  void begin(bool symmetric);
  /// B's planes before `end`, if they are not there: first the planes of the step before that they need.
  void reach(std::int64_t end, std::vector<DirectionStep>& steps, std::size_t own, const MatrixPlanes& A);
  void finish();
  void make_weights(const MatrixPlanes& A, std::int64_t begin, std::int64_t end);
  void make_product(const MatrixPlanes& A, std::int64_t begin, std::int64_t end);
  void product_line(const MatrixPlanes& A, std::int64_t line, int first_entry) const;
  void product_line_x(const MatrixPlanes& A, std::int64_t line, int first_entry, Room& room) const;
  void mirror_line(std::int64_t line) const;
  /// Entry e of B's line while it is computed.
  double* own_line(int e, std::int64_t line) const {
    const std::int64_t j = line % coarse_.ny, k = line / coarse_.ny;
    return values_ + (e - first_stored_) * coarse_.nx * coarse_.ny * kept_ + coarse_.index(0, j, k % kept_);
  }
  Room& room_of(int thread) const { return (*rooms_)[static_cast<std::size_t>(thread)]; }

  Axis axis_;
  Grid fine_, between_, coarse_;
  std::vector<Offset> offsets_;                  // A's
  Stencil stencil_;                              // B's
  std::vector<std::vector<Term>> terms_;         // of each of B's entries
  std::optional<StructMatrix<double>> product_;  // of the last step
  Array<double> values_between_;                 // of the others: all entries, or those from the centre on
  std::int64_t kept_;                            // planes of B in memory
  std::int64_t weights_done_ = 0, done_ = 0;     // planes
  bool symmetric_ = false, half_ = false;
  double* values_ = nullptr;  // where entry `first_stored_` begins, while B is computed
  int first_stored_ = 0, reach_in_z_ = 0;
  Array<double> left_, right_;
  std::shared_ptr<std::vector<Room>> rooms_;  // one a thread
};

}  // namespace echelon
