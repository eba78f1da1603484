// SPDX-License-Identifier: BSD-3-Clause
#include "cli/solve_options.hpp"

#include <fmt/format.h>

#include <limits>

#include "cli/line/option_checks.hpp"
#include "cli/problem_kinds.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/registry.hpp"

namespace echelon::cli {
namespace {

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
  group.count("--seed", o.seed, "of --problem random, and of varpoisson's --coefficient random", 0,
              std::numeric_limits<std::int64_t>::max(), "S");
  group.real("--peclet", o.peclet, "of --problem convdiff", 0, unbounded, "PE");
  group.text("--velocity", o.velocity, "of --problem convdiff: its direction, or recirculating: a vortex", "X,Y,Z");
  group.word("--coefficient", o.coefficient,
             "of --problem varpoisson: smooth, jumps, random (a value a cell) or regions "
             "(strong along another axis in each octant)",
             {"smooth", "jumps", "random", "regions"});
  group.real("--contrast", o.contrast, "of its coefficient: largest / smallest", 1, unbounded, "C");
  group.text("--anisotropy", o.anisotropy, "of --problem varpoisson: factors along x, y and z", "EX,EY,EZ");
  group.word("--boundary", o.boundary, "of poisson and varpoisson: dirichlet, or neumann: no flux, a singular matrix",
             {"dirichlet", "neumann"});
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
  Words solvers(solver_names().begin(), solver_names().end());
  const auto solver_help = fmt::format("{}, or auto: by symmetry", fmt::join(solvers, ", "));
  solvers.insert(solvers.begin(), "auto");
  group.name("--solver", o.solver, solver_help, solvers);
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

/// One option of a preconditioner: where its text goes depends on what it may be.
struct AddPrecondOption {
  OptionGroup& group;
  PrecondOptions& to;
  const PrecondOption& option;

  void operator()(const RealValue& value) const {
    group.real(option.name, value.in(to), option.help, value.smallest, value.largest, option.type);
  }
  template <class Integer>
  void operator()(const CountValue<Integer>& value) const {
    group.count(option.name, value.in(to), option.help, value.smallest, value.largest, option.type);
  }
  void operator()(const FlagValue& value) const { group.flag(option.name, value.in(to), option.help); }
  void operator()(const WordValue& value) const {
    const Words have(value.words.begin(), value.words.end()), later(value.later.begin(), value.later.end());
    group.meant_text(
        option.name, [&o = to, set = value.set](const std::string& word) { set(o, word); }, value.get(to), option.help,
        option.type, [have, later](const std::string& word) { return check_word(word, have, later); });
  }
  void operator()(const TextValue& value) const {
    group.meant_text(
        option.name, [&o = to, set = value.set](const std::string& text) { set(o, text); }, value.get(to), option.help,
        option.type,
        [set = value.set](const std::string& text) {
          PrecondOptions unused;
          return set(unused, text);
        });
  }
};

void add_preconditioner_options(const OptionList& options, SolveOptions& o) {
  OptionGroup group(options, "Preconditioner");
  const auto have = preconditioner_words();
  group.name("--pc", o.pc, fmt::format("{}; auto says what it chose and why", fmt::join(have, ", ")), have,
             {"amg", "randomized", "ras"});
  for (const PrecondOption* option : precond_options()) {
    std::visit(AddPrecondOption{group, o.precond, *option}, option->value);
    if (option->shown) group.show_default(option->name, option->shown);
  }
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
  add_preconditioner_options(options, o);
  add_output_options(options, o);
}

}  // namespace echelon::cli
