// SPDX-License-Identifier: BSD-3-Clause
// A system on a structured grid as the automatic solve keeps it on a GPU: A in tile order, b, x and a null vector in natural
// order, moved there once. Private to auto_solve.
#pragma once

#include <memory>
#include <optional>

#include "echelon/krylov/krylov.hpp"
#include "echelon/matrix/tile_matrix.hpp"
#include "echelon/precond/registry.hpp"

namespace echelon {

class GpuSystem {
 public:
  /// Throws Error(bad_option) for a matrix that is on no grid.
  GpuSystem(const MatrixRef& A, const Vector<double>& b, const Vector<double>* null_space, Device device);

  const StructMatrix<double>& host() const { return A_; }
  /// A in the order of this fill; made again when the fill changes.
  const TileMatrix& matrix(int fill);
  /// From x = 0, with the preconditioner made for `matrix`; x gets the result.
  Report solve(const std::string& solver, const Preconditioner<double>& M, KrylovOptions options, Vector<double>& x);

 private:
  const StructMatrix<double>& A_;
  Device device_;
  Vector<double> b_, x_;
  std::optional<Vector<double>> null_vector_;
  std::unique_ptr<TileMatrix> tiles_;
};

}  // namespace echelon
