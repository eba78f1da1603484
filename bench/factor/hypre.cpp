// SPDX-License-Identifier: BSD-3-Clause
// hypre's ILU(0) set-up on scalars, the matrix being there. One application afterwards is the answer.
#include "bench/measure/contender_main.hpp"
#include "bench/measure/hypre_system.hpp"
#include "bench/measure/mpi_ranks.hpp"

int main(int argc, char** argv) {
  using namespace echelon::bench;
  const HypreSession session;
  const MpiRanks mpi;
  const auto measure = [&](const BenchCase& one) {
    if (one.dof > 1) return ContenderLine::nothing("hypre " HYPRE_RELEASE_VERSION, "its ILU(0) knows no blocks");
    const HypreSystem system(one);
    const auto set_up = [&] {
      HYPRE_Solver ilu = HypreSystem::make_ilu();
      HYPRE_ILUSetup(ilu, system.A, system.b, system.x);
      return ilu;
    };
    auto line = system.line();
    line.seconds = mpi.median_seconds(one.repeats(), [&] { HYPRE_ILUDestroy(set_up()); });
    line.setup_seconds = line.seconds;
    HYPRE_Solver ilu = set_up();
    HypreSystem::require_success();
    HYPRE_ILUSolve(ilu, system.A, system.b, system.x);
    HYPRE_ClearAllErrors();  // one iteration never reaches a tolerance, which it notes
    line.answer = fingerprint(system.gathered());
    HYPRE_ILUDestroy(ilu);
    return line;
  };
  return contender_main("factor", argc, argv, measure, mpi.rank == 0);
}
