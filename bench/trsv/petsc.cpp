// SPDX-License-Identifier: BSD-3-Clause
// PETSc's PCApply of ILU(0): z = U⁻¹ L⁻¹ r.
#include "bench/measure/contender_main.hpp"
#include "bench/measure/mpi_ranks.hpp"
#include "bench/measure/petsc_system.hpp"

int main(int argc, char** argv) {
  using namespace echelon::bench;
  const PetscSession session;
  const MpiRanks mpi;
  const auto measure = [&](const BenchCase& one) {
    const PetscSystem system(one);
    PC pc = system.make_ilu();
    PetscSystem::require_factored(pc);
    auto line = system.line();
    line.seconds = mpi.median_seconds(one.repeats(), [&] { PCApply(pc, system.b, system.x); });
    line.answer = system.answer();
    PCDestroy(&pc);
    return line;
  };
  return contender_main("trsv", argc, argv, measure, mpi.rank == 0);
}
