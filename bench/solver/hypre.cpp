// SPDX-License-Identifier: BSD-3-Clause
// hypre's PCG, or GMRES(m) with right preconditioning, with its ILU(0) of the scalars.
#include "bench/measure/hypre_system.hpp"
#include "bench/measure/mpi_solver_main.hpp"

namespace {

using namespace echelon::bench;
constexpr HYPRE_Int most_iterations = 10000;

/// The calls that differ between the two methods.
struct Method {
  HYPRE_Int (*set_up)(HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector);
  HYPRE_Int (*solve)(HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector);
  HYPRE_Int (*iterations)(HYPRE_Solver, HYPRE_Int*);
  HYPRE_Int (*destroy)(HYPRE_Solver);
};
constexpr Method cg = {HYPRE_ParCSRPCGSetup, HYPRE_ParCSRPCGSolve, HYPRE_ParCSRPCGGetNumIterations, HYPRE_ParCSRPCGDestroy};
constexpr Method gmres = {HYPRE_ParCSRGMRESSetup, HYPRE_ParCSRGMRESSolve, HYPRE_ParCSRGMRESGetNumIterations,
                          HYPRE_ParCSRGMRESDestroy};

HYPRE_Solver make_cg(const BenchCase& one, HYPRE_Solver ilu) {
  HYPRE_Solver solver;
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_PCGSetTwoNorm(solver, 1);
  HYPRE_ParCSRPCGSetTol(solver, one.rtol);
  HYPRE_ParCSRPCGSetMaxIter(solver, most_iterations);
  HYPRE_ParCSRPCGSetPrecond(solver, HYPRE_ILUSolve, HYPRE_ILUSetup, ilu);
  return solver;
}

HYPRE_Solver make_gmres(const BenchCase& one, HYPRE_Solver ilu) {
  HYPRE_Solver solver;
  HYPRE_ParCSRGMRESCreate(MPI_COMM_WORLD, &solver);
  HYPRE_ParCSRGMRESSetKDim(solver, one.restart);
  HYPRE_ParCSRGMRESSetTol(solver, one.rtol);
  HYPRE_ParCSRGMRESSetMaxIter(solver, most_iterations);
  HYPRE_ParCSRGMRESSetPrecond(solver, HYPRE_ILUSolve, HYPRE_ILUSetup, ilu);
  return solver;
}

RanksTimedSolve run(const BenchCase& one, const HypreSystem& system, const MpiRanks& mpi) {
  const Method& method = one.solver == "cg" ? cg : gmres;
  HYPRE_Solver ilu = HypreSystem::make_ilu();
  HYPRE_Solver solver = one.solver == "cg" ? make_cg(one, ilu) : make_gmres(one, ilu);
  RanksTimedSolve result;
  result.setup = mpi.seconds([&] { method.set_up(solver, system.A, system.b, system.x); });
  HypreSystem::require_success();
  result.solve = mpi.seconds([&] { method.solve(solver, system.A, system.b, system.x); });
  HYPRE_Int iterations = 0;
  method.iterations(solver, &iterations);
  result.iterations = iterations;
  HYPRE_ClearAllErrors();  // the inner single iterations note that they reached no tolerance
  method.destroy(solver);
  HYPRE_ILUDestroy(ilu);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const HypreSession session;
  return mpi_solver_main<HypreSystem>(argc, argv, "PCG", true, run);
}
