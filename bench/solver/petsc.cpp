// SPDX-License-Identifier: BSD-3-Clause
// PETSc's KSP with ILU(0): CG, or GMRES(m) with right preconditioning; both stop on the residual's own norm.
#include <optional>

#include "bench/measure/contender_main.hpp"
#include "bench/measure/mpi_ranks.hpp"
#include "bench/measure/petsc_system.hpp"

namespace {

using namespace echelon::bench;

struct Solve {
  double setup = 0, solve = 0;
  PetscInt iterations = 0;
};

Solve run(const BenchCase& one, const PetscSystem& system, const MpiRanks& mpi) {
  constexpr PetscInt most_iterations = 10000;
  KSP ksp;
  KSPCreate(PETSC_COMM_WORLD, &ksp);
  KSPSetOperators(ksp, system.A, system.A);
  KSPSetType(ksp, one.solver == "cg" ? KSPCG : KSPGMRES);
  if (one.solver == "gmres") {
    KSPGMRESSetRestart(ksp, one.restart);
    KSPSetPCSide(ksp, PC_RIGHT);
  }
  KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED);
  KSPSetTolerances(ksp, one.rtol, PETSC_DEFAULT, PETSC_DEFAULT, most_iterations);
  PC pc;
  KSPGetPC(ksp, &pc);
  PetscSystem::use_ilu(pc);
  Solve result;
  result.setup = mpi.seconds([&] {
    KSPSetUp(ksp);
    KSPSetUpOnBlocks(ksp);
  });
  result.solve = mpi.seconds([&] { KSPSolve(ksp, system.b, system.x); });
  KSPGetIterationNumber(ksp, &result.iterations);
  KSPDestroy(&ksp);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const PetscSession session;
  const MpiRanks mpi;
  const auto measure = [&](const BenchCase& one) {
    std::optional<PetscSystem> system(std::in_place, one);
    const auto result = run(one, *system, mpi);
    auto line = system->line();
    line.method = (one.solver == "cg" ? "CG " : fmt::format("GMRES({}) ", one.restart)) + line.method;
    line.setup_seconds = result.setup;
    line.seconds = result.setup + result.solve;
    line.iterations = result.iterations;
    const auto x = system->gathered();
    system.reset();
    if (mpi.rank != 0) return line;
    line.answer = fingerprint(x);
    line.relative_residual = true_residual(one, x);
    return line;
  };
  return contender_main("solver", argc, argv, measure, mpi.rank == 0);
}
