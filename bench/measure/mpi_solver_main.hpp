// SPDX-License-Identifier: BSD-3-Clause
// The frame of a solver contender that runs under MPI: build its system, solve, and judge its answer by our own residual
// once its memory is given back.
#pragma once

#include <fmt/format.h>

#include <optional>

#include "bench/measure/contender_main.hpp"
#include "bench/measure/mpi_ranks.hpp"

namespace echelon::bench {

struct RanksTimedSolve {
  double setup = 0, solve = 0;
  std::int64_t iterations = 0;
};

/// run(case, system, ranks) returns a RanksTimedSolve; `cg_name` is what the peer calls its CG. A peer that factors scalars
/// only
/// (`scalars_only`) is another method where there are blocks.
template <class System, class Run>
int mpi_solver_main(int argc, char** argv, const char* cg_name, bool scalars_only, const Run& run) {
  const MpiRanks mpi;
  const auto measure = [&](const BenchCase& one) {
    std::optional<System> system(std::in_place, one);
    const RanksTimedSolve result = run(one, *system, mpi);
    auto line = system->line();
    line.method = (one.solver == "cg" ? fmt::format("{} ", cg_name) : fmt::format("GMRES({}) ", one.restart)) + line.method;
    if (scalars_only) line.same_method = one.dof == 1;
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

}  // namespace echelon::bench
