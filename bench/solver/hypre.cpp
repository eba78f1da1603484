// SPDX-License-Identifier: BSD-3-Clause
// hypre's PCG, or GMRES(m) with right preconditioning, with its ILU(0) of the scalars.
#include <optional>

#include "bench/measure/contender_main.hpp"
#include "bench/measure/hypre_system.hpp"
#include "bench/measure/mpi_ranks.hpp"

namespace {

using namespace echelon::bench;
constexpr HYPRE_Int most_iterations = 10000;

struct Solve {
  double setup = 0, solve = 0;
  HYPRE_Int iterations = 0;
};

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

Solve run(const BenchCase& one, const HypreSystem& system, const MpiRanks& mpi) {
  const Method& method = one.solver == "cg" ? cg : gmres;
  HYPRE_Solver ilu = HypreSystem::make_ilu();
  HYPRE_Solver solver = one.solver == "cg" ? make_cg(one, ilu) : make_gmres(one, ilu);
  Solve result;
  result.setup = mpi.seconds([&] { method.set_up(solver, system.A, system.b, system.x); });
  HypreSystem::require_success();
  result.solve = mpi.seconds([&] { method.solve(solver, system.A, system.b, system.x); });
  method.iterations(solver, &result.iterations);
  HYPRE_ClearAllErrors();  // the inner single iterations note that they reached no tolerance
  method.destroy(solver);
  HYPRE_ILUDestroy(ilu);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const HypreSession session;
  const MpiRanks mpi;
  const auto measure = [&](const BenchCase& one) {
    std::optional<HypreSystem> system(std::in_place, one);
    const auto result = run(one, *system, mpi);
    auto line = system->line();
    line.method = (one.solver == "cg" ? "PCG " : fmt::format("GMRES({}) ", one.restart)) + line.method;
    line.same_method = one.dof == 1;
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
