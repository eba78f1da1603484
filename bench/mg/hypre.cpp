// SPDX-License-Identifier: BSD-3-Clause
// hypre's structured multigrid under its PCG, or its GMRES(m) where A is not symmetric: PFMG as it comes, PFMG at the best
// of relaxation (Jacobi or symmetric red-black Gauss-Seidel), coarse operators (Galerkin or 5 and 7 points) and skipped
// relaxation, and SMG. Best is the smallest sum of set-up and solve, each setting run once; with --setting that one is run
// beside the default. A first set-up is not counted: it pays for fresh pages of memory, which later ones use again.
// Residuals by iteration are hypre's own; its iterations are taken as equally long.
#include <krylov.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/contender_main.hpp"
#include "bench/measure/hypre_system.hpp"
#include "bench/measure/mpi_solver_main.hpp"
#include "bench/mg/hypre_grid.hpp"

namespace {

using namespace echelon;
using namespace echelon::bench;

constexpr HYPRE_Int most_iterations = 1000;
constexpr std::int64_t most_smg_points = 3'000'000;  // its set-up takes minutes and gigabytes beyond

struct Setting {
  bool smg = false;
  int relax = 1, rap = 0, skip = 1;  // hypre's defaults

  std::string name() const {
    return smg ? std::string("SMG") : fmt::format("PFMG relax {}, rap {}, skip {}", relax, rap, skip);
  }
};

std::vector<Setting> settings_of(const BenchCase& one) {
  std::vector<Setting> all = {Setting{}};
  const bool star = stencils::named(one.stencil).size() <= 7;
  for (const int relax : {1, 2}) {
    for (const int rap : {0, 1}) {
      for (const int skip : {1, 0}) {
        // Red-black relaxation and the operators of 5 and 7 points are for such a matrix alone.
        if ((rap == 1 || relax == 2) && !star) continue;
        if (Setting next{false, relax, rap, skip}; next.name() != all.front().name()) all.push_back(next);
      }
    }
  }
  return all;
}

/// The calls that differ between the two multigrids.
struct Multigrid {
  HYPRE_StructSolver solver = nullptr;
  HYPRE_PtrToStructSolverFcn set_up, solve;
  bool smg;

  explicit Multigrid(const Setting& setting)
      : set_up(setting.smg ? HYPRE_StructSMGSetup : HYPRE_StructPFMGSetup),
        solve(setting.smg ? HYPRE_StructSMGSolve : HYPRE_StructPFMGSolve),
        smg(setting.smg) {
    if (smg) {
      HYPRE_StructSMGCreate(MPI_COMM_WORLD, &solver);
      HYPRE_StructSMGSetMaxIter(solver, 1);
      HYPRE_StructSMGSetTol(solver, 0.0);
      HYPRE_StructSMGSetZeroGuess(solver);
    } else {
      HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &solver);
      HYPRE_StructPFMGSetMaxIter(solver, 1);
      HYPRE_StructPFMGSetTol(solver, 0.0);
      HYPRE_StructPFMGSetZeroGuess(solver);
      HYPRE_StructPFMGSetRelaxType(solver, setting.relax);
      HYPRE_StructPFMGSetRAPType(solver, setting.rap);
      HYPRE_StructPFMGSetSkipRelax(solver, setting.skip);
    }
  }
  ~Multigrid() { smg ? HYPRE_StructSMGDestroy(solver) : HYPRE_StructPFMGDestroy(solver); }
  Multigrid(const Multigrid&) = delete;
  Multigrid& operator=(const Multigrid&) = delete;
};

struct Run : RanksTimedSolve {
  Setting setting;
  bool converged = false;
  std::vector<double> residuals;  // by iteration, relative to the first
};

template <class Data>
std::vector<double> residuals_of(HYPRE_StructSolver solver, HYPRE_Int iterations) {
  const double* const norms = reinterpret_cast<Data*>(solver)->norms;
  std::vector<double> all;
  for (HYPRE_Int i = 0; norms && i <= iterations; ++i) all.push_back(norms[i] / norms[0]);
  return all;
}

Run run_cg(const BenchCase& one, HypreGrid& grid, const Multigrid& multigrid, HYPRE_Int most, const MpiRanks& mpi) {
  HYPRE_StructSolver solver;
  HYPRE_StructPCGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_StructPCGSetTwoNorm(solver, 1);
  HYPRE_StructPCGSetTol(solver, one.rtol);
  HYPRE_StructPCGSetMaxIter(solver, most);
  HYPRE_StructPCGSetLogging(solver, 1);
  HYPRE_StructPCGSetPrecond(solver, multigrid.solve, multigrid.set_up, multigrid.solver);
  Run run;
  run.setup = mpi.seconds([&] { HYPRE_StructPCGSetup(solver, grid.A, grid.b, grid.x); });
  run.solve = mpi.seconds([&] { HYPRE_StructPCGSolve(solver, grid.A, grid.b, grid.x); });
  HYPRE_Int iterations = 0;
  HYPRE_StructPCGGetNumIterations(solver, &iterations);
  run.iterations = iterations;
  run.residuals = residuals_of<hypre_PCGData>(solver, iterations);
  HYPRE_StructPCGDestroy(solver);
  return run;
}

Run run_gmres(const BenchCase& one, HypreGrid& grid, const Multigrid& multigrid, HYPRE_Int most, const MpiRanks& mpi) {
  HYPRE_StructSolver solver;
  HYPRE_StructGMRESCreate(MPI_COMM_WORLD, &solver);
  HYPRE_StructGMRESSetKDim(solver, one.restart);
  HYPRE_StructGMRESSetTol(solver, one.rtol);
  HYPRE_StructGMRESSetMaxIter(solver, most);
  HYPRE_StructGMRESSetLogging(solver, 1);
  HYPRE_StructGMRESSetPrecond(solver, multigrid.solve, multigrid.set_up, multigrid.solver);
  Run run;
  run.setup = mpi.seconds([&] { HYPRE_StructGMRESSetup(solver, grid.A, grid.b, grid.x); });
  run.solve = mpi.seconds([&] { HYPRE_StructGMRESSolve(solver, grid.A, grid.b, grid.x); });
  HYPRE_Int iterations = 0;
  HYPRE_StructGMRESGetNumIterations(solver, &iterations);
  run.iterations = iterations;
  run.residuals = residuals_of<hypre_GMRESData>(solver, iterations);
  HYPRE_StructGMRESDestroy(solver);
  return run;
}

/// From x = 0; the answer stays in `grid`.
Run run(const BenchCase& one, HypreGrid& grid, const Setting& setting, HYPRE_Int most, const MpiRanks& mpi) {
  grid.start();
  const Multigrid multigrid(setting);
  Run made = one.solver == "cg" ? run_cg(one, grid, multigrid, most, mpi) : run_gmres(one, grid, multigrid, most, mpi);
  made.setting = setting;
  HYPRE_ClearAllErrors();  // the inner single cycles note that they reached no tolerance
  made.converged = !made.residuals.empty() && made.residuals.back() <= one.rtol;
  return made;
}

/// A setting that was run, with its answer.
struct Kept {
  Run run;
  std::shared_ptr<const Vector<double>> x;
};

/// Of x less its mean where it is only known but for a constant.
Fingerprint answer_of(const BenchCase& one, const Vector<double>& x) {
  Vector<double> fixed{x.span()};
  one.fix_constant(fixed);
  return fingerprint(fixed);
}

ContenderLine line_of(const BenchCase& one, const char* operation, const Kept& kept, const MpiRanks& mpi) {
  const Run& run = kept.run;
  ContenderLine line;
  line.operation = operation;
  line.contender = "hypre " HYPRE_RELEASE_VERSION;
  line.method = fmt::format("{} {}", one.solver == "cg" ? "PCG" : fmt::format("GMRES({})", one.restart), run.setting.name());
  line.ranks = mpi.ranks;
  line.setup_seconds = run.setup;
  line.seconds = run.setup + run.solve;
  line.iterations = run.iterations;
  const double each = run.iterations > 0 ? run.solve / static_cast<double>(run.iterations) : 0;
  for (std::size_t i = 0; i < run.residuals.size(); ++i) {
    line.history.push_back({run.setup + each * static_cast<double>(i), run.residuals[i]});
  }
  if (mpi.rank != 0) return line;
  line.relative_residual = true_residual(one, *kept.x);
  line.answer = answer_of(one, *kept.x);
  return line;
}

Kept kept(Run run, const HypreGrid& grid) {
  return {std::move(run), std::make_shared<const Vector<double>>(grid.gathered())};
}

/// All ranks have the same times, so they choose the same.
std::optional<Kept> best_of(const BenchCase& one, HypreGrid& grid, const std::vector<Setting>& settings, const MpiRanks& mpi,
                            std::optional<Kept>& first) {
  std::optional<Kept> best;
  for (const Setting& setting : settings) {
    // The settings' iterations cost about as much: who needs many times those of the best is not better.
    const HYPRE_Int most = best ? static_cast<HYPRE_Int>(10 + 4 * best->run.iterations) : most_iterations;
    Kept next = kept(run(one, grid, setting, most, mpi), grid);
    if (next.run.converged && (!best || next.run.setup + next.run.solve < best->run.setup + best->run.solve)) best = next;
    if (!first) first = std::move(next);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const HypreSession session;
  const MpiRanks mpi;
  return contender_lines_main("mg", argc, argv, [&](const BenchCase& one, const auto& say_line) {
    const auto say = [&](const ContenderLine& line) {
      if (mpi.rank == 0) say_line(line);
    };
    const auto nothing = [&](const char* operation, const std::string& why) {
      auto line = ContenderLine::nothing("hypre " HYPRE_RELEASE_VERSION, why);
      line.operation = operation;
      say(line);
    };
    if (one.dof > 1) throw Error(ErrorCode::bad_argument, "its structured multigrid knows no blocks");
    auto settings = settings_of(one);
    if (!one.setting.empty()) {
      const auto wanted = std::ranges::find(settings, one.setting, &Setting::name);
      if (wanted == settings.end()) throw Error(ErrorCode::bad_option, "--setting: there is no '" + one.setting + "'");
      settings = wanted == settings.begin() ? std::vector{*wanted} : std::vector{settings.front(), *wanted};
    }
    HypreGrid grid(one);
    {
      const Multigrid multigrid(settings.front());
      multigrid.set_up(multigrid.solver, grid.A, grid.b, grid.x);
    }
    std::optional<Kept> first;
    const auto best = best_of(one, grid, settings, mpi, first);
    if (first->run.converged) {
      say(line_of(one, "default", *first, mpi));
    } else {
      nothing("default", fmt::format("not converged in {} iterations", first->run.iterations));
    }
    if (best) {
      say(line_of(one, "best", *best, mpi));
    } else {
      nothing("best", "no setting converged");
    }
    if (!one.setting.empty()) return;
    if (one.grid.points() > most_smg_points) return nothing("smg", "its set-up takes minutes at this size");
    const Kept smg = kept(run(one, grid, {.smg = true}, most_iterations, mpi), grid);
    if (!smg.run.converged) return nothing("smg", fmt::format("not converged in {} iterations", smg.run.iterations));
    say(line_of(one, "smg", smg, mpi));
  });
}
