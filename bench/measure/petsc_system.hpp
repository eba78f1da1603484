// SPDX-License-Identifier: BSD-3-Clause
// A case as PETSc objects: SEQAIJ/SEQBAIJ (MPIAIJ/MPIBAIJ on several ranks) over our rows, natural order, ILU(0), on several
// ranks block Jacobi with ILU(0). Only PETSc's contenders see this.
#pragma once

#include <petscksp.h>

#include <string>

#include "bench/measure/bench_case.hpp"
#include "bench/measure/contender_line.hpp"
#include "bench/measure/row_slab.hpp"

namespace echelon::bench {

/// PetscInitialize and PetscFinalize; errors of PETSc end the process.
class PetscSession {
 public:
  PetscSession();
  ~PetscSession();
};

class PetscSystem {
 public:
  explicit PetscSystem(const BenchCase& one);
  ~PetscSystem();
  PetscSystem(const PetscSystem&) = delete;
  PetscSystem& operator=(const PetscSystem&) = delete;

  /// A fresh PC after its whole PCSetUp.
  PC make_ilu() const;
  static void use_ilu(PC pc);
  /// Throws Error(structure) when the factorization failed.
  static void require_factored(PC pc);

  /// What every line of PETSc's says; `x` is gathered on rank 0.
  ContenderLine line() const;
  Fingerprint answer() const;
  Vector<double> gathered() const;

  int rank = 0, ranks = 1;
  Mat A = nullptr;
  Vec b = nullptr, x = nullptr;

 private:
  RowSlab rows_;  // SEQAIJ uses these arrays as they are
  Vector<double> local_b_, local_x_;
};

}  // namespace echelon::bench
