// SPDX-License-Identifier: BSD-3-Clause
// A system as the automatic solve keeps it on a GPU: A in tile order when it is on a structured grid, in block CSR
// otherwise and for preconditioners that leave the grid; b, x and a null vector in natural order; moved there once. Rows are
// written there and never on the host. Private to auto_solve.
#pragma once

#include <memory>
#include <optional>

#include "echelon/krylov/krylov.hpp"
#include "echelon/matrix/grid_gpu/tile_matrix.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/solve/auto_rule.hpp"

namespace echelon {

/// Why this choice runs on the host only; empty when a GPU can.
std::string host_only(const AutoChoice& choice, const MatrixRef& A);

class GpuSystem {
 public:
  /// `fill` is that of the choice that will be made first, most likely.
  GpuSystem(const MatrixRef& A, const Vector<double>& b, const Vector<double>* null_space, int fill, Device device);

  const MatrixTraits& traits() const { return traits_; }
  /// Puts A into the order this choice wants, and makes its preconditioner.
  std::unique_ptr<Preconditioner<double>> make(const AutoChoice& choice);
  /// From x = 0, with the preconditioner made last; x gets the result.
  Report solve(const std::string& solver, const Preconditioner<double>& M, KrylovOptions options, Vector<double>& x);
  /// So far: rows written there, and values put into its order; with the tables that takes.
  double assembly_seconds() const { return assembly_seconds_; }
  double conversion_seconds() const { return conversion_seconds_; }

 private:
  const TileMatrix& tiles(int fill);
  void convert();

  MatrixRef A_;
  MatrixTraits traits_;
  double assembly_seconds_ = 0, conversion_seconds_ = 0;
  Device device_;
  Vector<double> b_, x_;
  std::optional<Vector<double>> null_vector_;
  std::unique_ptr<TileMatrix> tiles_;
  std::unique_ptr<BlockCsr<double>> converted_;  // of a structured matrix, on the host
  bool in_csr_ = false;                          // what the preconditioner made last goes with
  std::unique_ptr<BlockCsr<double>> csr_;
};

}  // namespace echelon
