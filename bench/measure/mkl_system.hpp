// SPDX-License-Identifier: BSD-3-Clause
// A case as oneMKL's one-based CSR with the factors of its dcsrilu0, and those as the two triangles that its sweeps take,
// hinted and optimised. Scalars, 32-bit indices, OMP_NUM_THREADS threads. Only oneMKL's contenders see this.
#pragma once

#include <mkl_spblas.h>

#include <string>

#include "bench/measure/bench_case.hpp"
#include "bench/measure/contender_line.hpp"
#include "bench/measure/row_slab.hpp"

namespace echelon::bench {

/// "oneMKL 2026.2"
std::string mkl_name();

/// The line of a case that is not compared; empty `not_applicable` when it is.
ContenderLine mkl_line(const BenchCase& one, const std::string& method);

/// The rows of a case as dcsrilu0 wants them, and room for its factors.
class MklSystem {
 public:
  explicit MklSystem(const BenchCase& one);

  /// The factors in the pattern of A. Throws Error(structure) with oneMKL's number when it fails.
  void factor();
  const RowSlab& rows() const { return rows_; }
  const Array<double>& factors() const { return factors_; }

 private:
  RowSlab rows_;  // one-based
  Array<double> factors_;
};

/// L without its diagonal of ones and U with its diagonal, zero-based, each a matrix of oneMKL's: read apart they are swept
/// faster than both in one CSR.
class MklTriangles {
 public:
  explicit MklTriangles(const MklSystem& system);
  ~MklTriangles();
  MklTriangles(const MklTriangles&) = delete;
  MklTriangles& operator=(const MklTriangles&) = delete;

  /// z = U⁻¹ L⁻¹ r
  void apply(const Vector<double>& r, Vector<double>& z);

 private:
  struct Triangle {
    Array<MKL_INT> start, column;
    Array<double> values;
    matrix_descr form = {};
    sparse_matrix_t matrix = nullptr;
  };
  static Triangle part(const MklSystem& system, bool lower);

  Triangle lower_, upper_;
  Vector<double> between_;
};

}  // namespace echelon::bench
