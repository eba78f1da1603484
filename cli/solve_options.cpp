// SPDX-License-Identifier: BSD-3-Clause
#include "cli/solve_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>

#include "cli/line/option_checks.hpp"
#include "cli/problem_kinds.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/precond/registry.hpp"

namespace echelon::cli {
namespace {

using Group = OptionGroup;
constexpr double unbounded = std::numeric_limits<double>::infinity();

Words preconditioner_words() {
  Words have;
  for (const auto& entry : preconditioners()) have.emplace_back(entry.name);
  have.emplace_back("auto");
  return have;
}

void add_system_options(const OptionList& options, SolveOptions& o) {
  OptionGroup group(options, "System");
  group.name("--problem", o.problem, fmt::format("{}", fmt::join(problem_names(), ", ")), problem_names());
  group.text("--grid", o.grid, "points: N (cube, or square for a 2-D stencil), NXxNY or NXxNYxNZ", "SIZE");
  group.name("--stencil", o.stencil,
             fmt::format("{}; else the problem's own, or star7, on 2-D grids star5", fmt::join(stencils::names(), ", ")),
             stencils::names());
  group.count("--dof", o.dof, "unknowns a point, for --problem random", 1, 64, "B");
  group.count("--seed", o.seed, "of --problem random", 0, std::numeric_limits<std::int64_t>::max(), "S");
  group.real("--peclet", o.peclet, "of --problem convdiff", 0, unbounded, "PE");
  group.word("--coefficient", o.coefficient, "of --problem varpoisson: smooth or jumps", {"smooth", "jumps"});
  group.real("--contrast", o.contrast, "of its coefficient: largest / smallest", 1, unbounded, "C");
  group.text("--anisotropy", o.anisotropy, "of --problem varpoisson: factors along x, y and z", "EX,EY,EZ");
  group.real("--dt", o.dt, "time step of navierstokes, euler, cahnhilliard; 0: a fitting one", 0, unbounded, "DT");
  group.real("--cfl", o.cfl, "time step of navierstokes and euler, in crossing times of the smallest spacing", 1e-300,
             unbounded, "CFL");
  group.real("--mach", o.mach, "of navierstokes and euler", 0, unbounded, "M");
  group.real("--reynolds", o.reynolds, "of navierstokes", 1e-300, unbounded, "RE");
  group.real("--density-ratio", o.density_ratio, "of projection: heaviest by lightest gas", 1, 1e30, "R");
  group.real("--radius", o.radius, "of projection's obstacle, as a share of the smallest side; 0: none", 0, 0.45, "R");
  group.file("--matrix", o.matrix, "Matrix Market file, plain or .gz, instead of a problem", FileRole::input);
  group.count("--block", o.block, "read the matrix in blocks of BxB", 1, 64, "B");
  group.file("--rhs", o.rhs, "right-hand side; else A*1 for files, 1 for problems", FileRole::input);
  group.word("--duplicates", o.duplicates, "entries given twice: sum, last or refuse", {"sum", "last", "refuse"});
  group.flag("--allow-nonfinite", o.allow_nonfinite, "read NaN and Inf, for study");
  group.word("--recognise", o.recognise, "a file that is a stencil on a grid: auto solves it as such, off does not",
             {"auto", "off"});
  group.word("--null-space", o.null_space,
             "constant for a singular system whose null vector is 1, none, or auto: as the problem is, none for files",
             {"auto", "none", "constant"});
}

void add_solver_options(const OptionList& options, SolveOptions& o) {
  OptionGroup group(options, "Solver");
  group.name("--solver", o.solver, "cg, gmres, fgmres, bicgstab, or auto: by symmetry",
             {"auto", "cg", "gmres", "fgmres", "bicgstab"});
  group.real("--rtol", o.rtol, "stop at |b-Ax| <= rtol*|b|", 0, 1, "T");
  group.real("--atol", o.atol, "or at |b-Ax| <= atol", 0, unbounded, "T");
  group.real("--nrbe", o.nrbe, "or at this normwise backward error; 0 is off", 0, 1, "T");
  group.count("--max-it", o.max_it, "iterations at most", 0, 1'000'000'000, "N");
  group.count("--restart", o.restart, "GMRES basis length", 1, 100'000, "M");
  group.word("--basis", o.basis, "GMRES basis stored in fp64 or fp32", {"fp64", "fp32"});
  group.word("--cg-form", o.cg_form, "cg: plain, eisenstat (two sweeps and no product), or auto: where it can",
             {"auto", "plain", "eisenstat"});
  group.word("--product", o.product, "gmres, fgmres: a full product, half a one behind the sweeps, or auto",
             {"auto", "full", "half"});
  group.real("--time-limit", o.time_limit, "seconds, then end in order; 0 is none", 0, unbounded, "S");
}

void add_trisolve_options(Group& group, SolveOptions& o) {
  group.word("--trisolve", o.trisolve,
             "triangular systems: exact sweeps, jacobi or neumann iterations, or auto: what is faster",
             {"exact", "jacobi", "neumann", "auto"}, {"randomized"});
  group.count("--sweeps", o.sweeps, "of the iteration, for each triangle; with exact sweeps, --factor-sweeps", 1, 100'000,
              "K");
  group.word("--trisolve-form", o.trisolve_form, "of jacobi: noncompact or compact", {"noncompact", "compact"});
  group.real("--damping", o.damping, "of jacobi", 1e-3, 1, "W");
  group.count("--jacobi-block", o.jacobi_block, "block jacobi: so many consecutive rows are solved exactly", 1, 1'000'000,
              "M");
  group.word("--scale-factors", o.scale_factors, "Ruiz scaling before iterating: none, lower, upper or both",
             {"none", "lower", "upper", "both"});
  group.word("--scale-matrix", o.scale_matrix, "factor the matrix as it is, or after ruiz scaling", {"none", "ruiz"});
  group.word("--guard", o.guard, "on: exact sweeps take over where the iteration would diverge; off is for study",
             {"on", "off"});
}

void add_preconditioner_options(CLI::App& app, SolveOptions& o, FileOptions& files) {
  Group group(app, "Preconditioner", files);
  const auto have = preconditioner_words();
  group.name("--pc", o.pc, fmt::format("{}; auto says what it chose and why", fmt::join(have, ", ")), have,
             {"dbsr", "mg", "amg", "randomized", "ras"});
  group.count("--fill", o.fill, "level of fill of ilu and ic", 0, 100, "K");
  group.real("--drop", o.drop, "ilut: entries not above this times the norm of their row of A are dropped", 0, 1, "T");
  group.count("--lfil", o.lfil, "ilut: at most so many entries a row of L, and of U, the diagonal apart", 0,
              std::numeric_limits<std::int32_t>::max(), "P");
  group.real("--column-pivoting", o.column_pivoting,
             "ilut: the largest entry of a row of U becomes its pivot when T times it is above the diagonal; 0: never", 0, 1,
             "T");
  group.text("--shift", o.shift, "bad pivots: none stops, auto repairs and reports, or a diagonal shift", "none|auto|VALUE")
      ->check(CLI::Validator([](std::string& text) { return check_shift(text); }, ""));
  group.count("--factor-sweeps", o.factor_sweeps, "of parilu and parilut: fixed-point sweeps over the factors", 1, 1000,
              "N");
  group.real("--fill-limit", o.fill_limit, "of parilut: entries of L, and of U, over those of A's triangles", 0, 1000, "R");
  group.word("--ordering", o.ordering, "natural, rcm, colours (greedy) or random-colours (Jones and Plassmann's)",
             {"natural", "rcm", "colours", "random-colours"});
  group.flag("--match-rows", o.match_rows, "ilu, ilut: first permute and scale rows so that the diagonal is large");
  group.word("--schedule", o.schedule, "triangular sweeps: auto, sequential, levels or point-to-point",
             {"auto", "sequential", "levels", "point-to-point"});
  add_trisolve_options(group, o);
  group.word("--factor-precision", o.factor_precision, "how factors on a grid are kept: fp64, fp32, bf16 or fp16",
             {"fp64", "fp32", "bf16", "fp16"});
  group.flag("--strict", o.strict, "forbid every repair");
}

void add_output_options(const OptionList& options, SolveOptions& o) {
  OptionGroup group(options, "Machine and output");
  group.word("--backend", o.backend, "auto, host or cuda", {"auto", "host", "cuda"});
  group.count("--threads", o.threads, "0: as many as there are", 0, most_threads(), "T");
  group.file("--solution", o.solution, "write x as Matrix Market; - is standard output, as for the next three",
             FileRole::output);
  group.file("--json", o.json, json_help, FileRole::output);
  group.file("--history", o.history, "write the residuals as CSV", FileRole::output);
  group.file("--plot", o.plot, "draw the residuals as SVG", FileRole::output);
  group.flag("-q,--quiet", o.quiet, "print nothing but errors");
  group.flag("-v,--verbose", o.verbose, "print every iteration and more detail");
}

}  // namespace

void add_solve_options(const OptionList& options, SolveOptions& o) {
  add_system_options(options, o);
  add_solver_options(options, o);
  add_preconditioner_options(options.app, o, options.files);
  add_output_options(options, o);
}

}  // namespace echelon::cli
