// SPDX-License-Identifier: BSD-3-Clause
// The matrices of a structured multigrid: A of level l + 1 is the Galerkin product of level l along the directions that are
// coarsened there, one after the other, until few unknowns are left or no side can be halved. FP64.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/precond/mg/direction_step.hpp"
#include "echelon/precond/mg/mg_options.hpp"

namespace echelon {

class GridHierarchy {
 public:
  GridHierarchy(const StructMatrix<double>& A, const MgOptions& options);
  GridHierarchy(const GridHierarchy&) = delete;
  GridHierarchy& operator=(const GridHierarchy&) = delete;
  /// New values on the same levels; allocates nothing where A is no copy that something else writes to.
  void refresh(const StructMatrix<double>& A);

  std::size_t levels() const { return steps_.size() + 1; }
  const StructMatrix<double>& matrix(std::size_t level) const;
  /// From this level to the next, in the order z, y, x.
  const std::vector<DirectionStep>& steps(std::size_t level) const { return steps_[level]; }
  bool symmetric() const { return symmetric_; }
  /// "xy"
  std::string directions(std::size_t level) const;
  /// Entries of all levels over those of the finest.
  double operator_complexity() const;
  double grid_complexity() const;

 private:
  void multiply(std::size_t level);

  StructMatrix<double> finest_;
  std::vector<std::vector<DirectionStep>> steps_;
  bool symmetric_ = false;
};

}  // namespace echelon
