// SPDX-License-Identifier: BSD-3-Clause
// hypre's ILU(0) as its Krylov methods apply it: HYPRE_ILUSolve with one iteration from x = 0, which includes the product
// of its residual. Scalars only: ILU(0) of the scalars of a block matrix is another factorization.
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
    HYPRE_Solver ilu = HypreSystem::make_ilu();
    HYPRE_ILUSetup(ilu, system.A, system.b, system.x);
    HypreSystem::require_success();
    std::vector<double> samples;
    for (int i = 0; i <= one.repeats(); ++i) {
      HYPRE_ParVectorSetConstantValues(system.x, 0.0);
      const double seconds = mpi.seconds([&] { HYPRE_ILUSolve(ilu, system.A, system.b, system.x); });
      if (i > 0) samples.push_back(seconds);
    }
    HYPRE_ClearAllErrors();  // one iteration never reaches a tolerance, which it notes
    auto line = system.line();
    line.seconds = median(std::move(samples));
    line.answer = fingerprint(system.gathered());
    HYPRE_ILUDestroy(ilu);
    return line;
  };
  return contender_main("trsv", argc, argv, measure, mpi.rank == 0);
}
