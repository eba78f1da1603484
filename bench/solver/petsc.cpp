// SPDX-License-Identifier: BSD-3-Clause
// PETSc's KSP with ILU(0): CG, or GMRES(m) with right preconditioning; both stop on the residual's own norm.
#include "bench/measure/mpi_solver_main.hpp"
#include "bench/measure/petsc_system.hpp"

namespace {

using namespace echelon::bench;

RanksTimedSolve run(const BenchCase& one, const PetscSystem& system, const MpiRanks& mpi) {
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
  RanksTimedSolve result;
  result.setup = mpi.seconds([&] {
    KSPSetUp(ksp);
    KSPSetUpOnBlocks(ksp);
  });
  result.solve = mpi.seconds([&] { KSPSolve(ksp, system.b, system.x); });
  PetscInt iterations = 0;
  KSPGetIterationNumber(ksp, &iterations);
  result.iterations = iterations;
  KSPDestroy(&ksp);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const PetscSession session;
  return mpi_solver_main<PetscSystem>(argc, argv, "CG", false, run);
}
