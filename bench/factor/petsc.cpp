// SPDX-License-Identifier: BSD-3-Clause
// PETSc's ILU(0) set-up: a fresh PC's whole PCSetUp, the matrix being there. One application afterwards is the answer.
#include "bench/measure/contender_main.hpp"
#include "bench/measure/mpi_ranks.hpp"
#include "bench/measure/petsc_system.hpp"

int main(int argc, char** argv) {
  using namespace echelon::bench;
  const PetscSession session;
  const MpiRanks mpi;
  const auto measure = [&](const BenchCase& one) {
    const PetscSystem system(one);
    auto line = system.line();
    line.seconds = mpi.median_seconds(one.repeats(), [&] {
      PC pc = system.make_ilu();
      PCDestroy(&pc);
    });
    line.setup_seconds = line.seconds;
    PC pc = system.make_ilu();
    PetscSystem::require_factored(pc);
    PCApply(pc, system.b, system.x);
    line.answer = system.answer();
    PCDestroy(&pc);
    return line;
  };
  return contender_main("factor", argc, argv, measure, mpi.rank == 0);
}
