// SPDX-License-Identifier: BSD-3-Clause
// A system as the automatic solve keeps it on a GPU: A in tile order when it is on a structured grid, in block CSR
// otherwise; b, x and a null vector in natural order; moved there once. Private to auto_solve.
#pragma once

#include <memory>
#include <optional>

#include "echelon/krylov/krylov.hpp"
#include "echelon/matrix/tile_matrix.hpp"
#include "echelon/precond/auto_rule.hpp"
#include "echelon/precond/registry.hpp"

namespace echelon {

/// Why this choice runs on the host only; empty when a GPU can.
std::string host_only(const AutoChoice& choice, const MatrixRef& A);

class GpuSystem {
 public:
  GpuSystem(const MatrixRef& A, const Vector<double>& b, const Vector<double>* null_space, Device device);

  /// Puts A into the order this choice wants, and makes its preconditioner.
  std::unique_ptr<Preconditioner<double>> make(const AutoChoice& choice);
  /// From x = 0, with the preconditioner made last; x gets the result.
  Report solve(const std::string& solver, const Preconditioner<double>& M, KrylovOptions options, Vector<double>& x);

 private:
  const TileMatrix& tiles(const StructMatrix<double>& A, int fill);

  MatrixRef A_;
  Device device_;
  Vector<double> b_, x_;
  std::optional<Vector<double>> null_vector_;
  std::unique_ptr<TileMatrix> tiles_;
  std::unique_ptr<BlockCsr<double>> csr_;
};

}  // namespace echelon
