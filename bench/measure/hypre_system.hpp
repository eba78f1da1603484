// SPDX-License-Identifier: BSD-3-Clause
// A case as hypre objects: an IJ/ParCSR matrix over our rows (blocks as scalars: hypre's ILU knows none) and its ILU(0) in
// natural order, block Jacobi over ranks. Only hypre's contenders see this.
#pragma once

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>

#include "bench/measure/bench_case.hpp"
#include "bench/measure/contender_line.hpp"

namespace echelon::bench {

/// MPI and hypre from beginning to end.
class HypreSession {
 public:
  HypreSession();
  ~HypreSession();
};

class HypreSystem {
 public:
  explicit HypreSystem(const BenchCase& one);
  ~HypreSystem();
  HypreSystem(const HypreSystem&) = delete;
  HypreSystem& operator=(const HypreSystem&) = delete;

  /// One application, from x = 0, as hypre's Krylov methods use it.
  static HYPRE_Solver make_ilu();
  /// Throws Error(structure) when hypre noted an error since the last call.
  static void require_success();

  ContenderLine line() const;
  Vector<double> gathered() const;

  int rank = 0, ranks = 1;
  HYPRE_ParCSRMatrix A = nullptr;
  HYPRE_ParVector b = nullptr, x = nullptr;

 private:
  HYPRE_Int local_ = 0;
  HYPRE_BigInt first_ = 0;
  HYPRE_IJMatrix matrix_ = nullptr;
  HYPRE_IJVector right_ = nullptr, solution_ = nullptr;
};

}  // namespace echelon::bench
