// SPDX-License-Identifier: BSD-3-Clause
// The only translation unit that sees CLI11. Every failure leaves as Error(bad_option): the parser's own codes stay inside.
#include "cli/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "bench/measure/device_shapes.hpp"
#include "bench/measure/shapes.hpp"
#include "cli/bench_contenders.hpp"
#include "cli/nearest.hpp"
#include "cli/option_checks.hpp"
#include "cli/option_combinations.hpp"
#include "cli/petsc_options.hpp"
#include "cli/problem_kinds.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/version.hpp"
#include "echelon/precond/registry.hpp"

namespace echelon::cli {
namespace {

using Words = std::vector<std::string>;
constexpr double unbounded = std::numeric_limits<double>::infinity();

const Words commands = {"solve", "check", "bench", "selftest", "info"};
const Words later_commands = {"hpcg", "cavity", "elastic", "artery", "cfd"};
/// Options of the interface whose methods come later: recognised, never silently taken.
const Words later_options = {"--tune", "--on-gpu-error"};

CLI::Validator words(const Words& have, const Words& later = {}) {
  return CLI::Validator([=](std::string& text) { return check_word(text, have, later); }, "");
}
CLI::Validator number(double smallest, double largest) {
  return CLI::Validator([=](std::string& text) { return check_number(text, smallest, largest); }, "");
}
CLI::Validator integer(std::int64_t smallest, std::int64_t largest) {
  return CLI::Validator([=](std::string& text) { return check_integer(text, smallest, largest); }, "");
}

Words preconditioner_words() {
  Words have;
  for (const auto& entry : preconditioners()) have.emplace_back(entry.name);
  have.emplace_back("auto");
  return have;
}

constexpr const char* solve_examples =
    "Examples:\n"
    "  echelon solve                                     Poisson on 64x64x64, everything automatic\n"
    "  echelon solve --grid 128x128x64 --solver cg --pc ic --plot r.svg\n"
    "  echelon solve --problem euler --grid 48 --cfl 5   one implicit step of a compressible flow\n"
    "  echelon solve --matrix A.mtx.gz --rhs b.mtx --solution x.mtx --json report.json\n"
    "  echelon solve --matrix A.mtx -ksp_type gmres -pc_type ilu -pc_factor_levels 1\n"
    "Exit status: 0 converged, 1 not converged, 2 bad usage or input, 3 memory or device trouble, 130 interrupted.";

void add_system_options(CLI::App& app, SolveOptions& o) {
  const char* group = "System";
  app.add_option("--problem", o.problem, fmt::format("{}", fmt::join(problem_names(), ", ")))
      ->check(words(problem_names()))
      ->group(group)
      ->type_name("NAME");
  app.add_option("--grid", o.grid, "points: N (cube, or square for a 2-D stencil), NXxNY or NXxNYxNZ")
      ->group(group)
      ->type_name("SIZE");
  app.add_option("--stencil", o.stencil,
                 fmt::format("{}; else the problem's own, or star7, on 2-D grids star5", fmt::join(stencils::names(), ", ")))
      ->check(words(stencils::names()))
      ->group(group)
      ->type_name("NAME");
  app.add_option("--dof", o.dof, "unknowns a point, for --problem random")
      ->check(integer(1, 64))
      ->group(group)
      ->type_name("B");
  app.add_option("--seed", o.seed, "of --problem random")
      ->check(integer(0, std::numeric_limits<std::int64_t>::max()))
      ->group(group)
      ->type_name("S");
  app.add_option("--peclet", o.peclet, "of --problem convdiff")->check(number(0, unbounded))->group(group)->type_name("PE");
  app.add_option("--coefficient", o.coefficient, "of --problem varpoisson: smooth or jumps")
      ->check(words({"smooth", "jumps"}))
      ->group(group)
      ->type_name("WORD");
  app.add_option("--contrast", o.contrast, "of its coefficient: largest / smallest")
      ->check(number(1, unbounded))
      ->group(group)
      ->type_name("C");
  app.add_option("--anisotropy", o.anisotropy, "of --problem varpoisson: factors along x, y and z")
      ->group(group)
      ->type_name("EX,EY,EZ");
  app.add_option("--dt", o.dt, "time step of navierstokes, euler, cahnhilliard; 0: a fitting one")
      ->check(number(0, unbounded))
      ->group(group)
      ->type_name("DT");
  app.add_option("--cfl", o.cfl, "time step of navierstokes and euler, in crossing times of the smallest spacing")
      ->check(number(1e-300, unbounded))
      ->group(group)
      ->type_name("CFL");
  app.add_option("--mach", o.mach, "of navierstokes and euler")->check(number(0, unbounded))->group(group)->type_name("M");
  app.add_option("--reynolds", o.reynolds, "of navierstokes")
      ->check(number(1e-300, unbounded))
      ->group(group)
      ->type_name("RE");
  app.add_option("--density-ratio", o.density_ratio, "of projection: heaviest by lightest gas")
      ->check(number(1, 1e30))
      ->group(group)
      ->type_name("R");
  app.add_option("--radius", o.radius, "of projection's obstacle, as a share of the smallest side; 0: none")
      ->check(number(0, 0.45))
      ->group(group)
      ->type_name("R");
  app.add_option("--matrix", o.matrix, "Matrix Market file, plain or .gz, instead of a problem")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--block", o.block, "read the matrix in blocks of BxB")
      ->check(integer(1, 64))
      ->group(group)
      ->type_name("B");
  app.add_option("--rhs", o.rhs, "right-hand side; else A*1 for files, 1 for problems")->group(group)->type_name("FILE");
  app.add_option("--duplicates", o.duplicates, "entries given twice: sum, last or refuse")
      ->check(words({"sum", "last", "refuse"}))
      ->group(group)
      ->type_name("WORD");
  app.add_flag("--allow-nonfinite", o.allow_nonfinite, "read NaN and Inf, for study")->group(group);
  app.add_option("--recognise", o.recognise, "a file that is a stencil on a grid: auto solves it as such, off does not")
      ->check(words({"auto", "off"}))
      ->group(group)
      ->type_name("WORD");
  app.add_option("--null-space", o.null_space,
                 "constant for a singular system whose null vector is 1, none, or auto: as the problem is, none for files")
      ->check(words({"auto", "none", "constant"}))
      ->group(group)
      ->type_name("WORD");
}

void add_solver_options(CLI::App& app, SolveOptions& o) {
  const char* group = "Solver";
  app.add_option("--solver", o.solver, "cg, gmres, fgmres, bicgstab, or auto: by symmetry")
      ->check(words({"auto", "cg", "gmres", "fgmres", "bicgstab"}))
      ->group(group)
      ->type_name("NAME");
  app.add_option("--rtol", o.rtol, "stop at |b-Ax| <= rtol*|b|")->check(number(0, 1))->group(group)->type_name("T");
  app.add_option("--atol", o.atol, "or at |b-Ax| <= atol")->check(number(0, unbounded))->group(group)->type_name("T");
  app.add_option("--nrbe", o.nrbe, "or at this normwise backward error; 0 is off")
      ->check(number(0, 1))
      ->group(group)
      ->type_name("T");
  app.add_option("--max-it", o.max_it, "iterations at most")->check(integer(0, 1'000'000'000))->group(group)->type_name("N");
  app.add_option("--restart", o.restart, "GMRES basis length")->check(integer(1, 100'000))->group(group)->type_name("M");
  app.add_option("--basis", o.basis, "GMRES basis stored in fp64 or fp32")
      ->check(words({"fp64", "fp32"}))
      ->group(group)
      ->type_name("WORD");
  app.add_option("--cg-form", o.cg_form, "cg: plain, eisenstat (two sweeps and no product), or auto: where it can")
      ->check(words({"auto", "plain", "eisenstat"}))
      ->group(group)
      ->type_name("WORD");
  app.add_option("--product", o.product, "gmres, fgmres: a full product, half a one behind the sweeps, or auto")
      ->check(words({"auto", "full", "half"}))
      ->group(group)
      ->type_name("WORD");
  app.add_option("--time-limit", o.time_limit, "seconds, then end in order; 0 is none")
      ->check(number(0, unbounded))
      ->group(group)
      ->type_name("S");
}

void add_trisolve_options(CLI::App& app, SolveOptions& o) {
  const char* group = "Preconditioner";
  const auto word = [&](const char* name, std::string& value, const char* help, const Words& have, const Words& later = {}) {
    app.add_option(name, value, help)->check(words(have, later))->group(group)->type_name("WORD");
  };
  word("--trisolve", o.trisolve, "triangular systems: exact sweeps, jacobi or neumann iterations, or auto: what is faster",
       {"exact", "jacobi", "neumann", "auto"}, {"randomized"});
  app.add_option("--sweeps", o.sweeps, "of the iteration, for each triangle")
      ->check(integer(1, 100'000))
      ->group(group)
      ->type_name("K");
  word("--trisolve-form", o.trisolve_form, "of jacobi: noncompact or compact", {"noncompact", "compact"});
  app.add_option("--damping", o.damping, "of jacobi")->check(number(1e-3, 1))->group(group)->type_name("W");
  app.add_option("--jacobi-block", o.jacobi_block, "block jacobi: so many consecutive rows are solved exactly")
      ->check(integer(1, 1'000'000))
      ->group(group)
      ->type_name("M");
  word("--scale-factors", o.scale_factors, "Ruiz scaling before iterating: none, lower, upper or both",
       {"none", "lower", "upper", "both"});
  word("--scale-matrix", o.scale_matrix, "factor the matrix as it is, or after ruiz scaling", {"none", "ruiz"});
  word("--guard", o.guard, "on: exact sweeps take over where the iteration would diverge; off is for study", {"on", "off"});
}

void add_preconditioner_options(CLI::App& app, SolveOptions& o) {
  const char* group = "Preconditioner";
  const auto have = preconditioner_words();
  app.add_option("--pc", o.pc, fmt::format("{}; auto says what it chose and why", fmt::join(have, ", ")))
      ->check(words(have, {"dbsr", "mg", "amg", "randomized", "ras"}))
      ->group(group)
      ->type_name("NAME");
  app.add_option("--fill", o.fill, "level of fill of ilu and ic")->check(integer(0, 100))->group(group)->type_name("K");
  app.add_option("--drop", o.drop, "ilut: entries not above this times the norm of their row of A are dropped")
      ->check(number(0, 1))
      ->group(group)
      ->type_name("T");
  app.add_option("--lfil", o.lfil, "ilut: at most so many entries a row of L, and of U, the diagonal apart")
      ->check(integer(0, std::numeric_limits<std::int32_t>::max()))
      ->group(group)
      ->type_name("P");
  app.add_option("--column-pivoting", o.column_pivoting,
                 "ilut: the largest entry of a row of U becomes its pivot when T times it is above the diagonal; 0: never")
      ->check(number(0, 1))
      ->group(group)
      ->type_name("T");
  app.add_option("--shift", o.shift, "bad pivots: none stops, auto repairs and reports, or a diagonal shift")
      ->check(CLI::Validator([](std::string& text) { return check_shift(text); }, ""))
      ->group(group)
      ->type_name("none|auto|VALUE");
  app.add_option("--factor-sweeps", o.factor_sweeps, "of parilu and parilut: fixed-point sweeps over the factors")
      ->check(integer(1, 1000))
      ->group(group)
      ->type_name("N");
  app.add_option("--fill-limit", o.fill_limit, "of parilut: entries of L, and of U, over those of A's triangles")
      ->check(number(0, 1000))
      ->group(group)
      ->type_name("R");
  app.add_option("--ordering", o.ordering, "natural, rcm, colours (greedy) or random-colours (Jones and Plassmann's)")
      ->check(words({"natural", "rcm", "colours", "random-colours"}))
      ->group(group)
      ->type_name("WORD");
  app.add_flag("--match-rows", o.match_rows, "ilu, ilut: first permute and scale rows so that the diagonal is large")
      ->group(group);
  app.add_option("--schedule", o.schedule, "triangular sweeps: auto, sequential, levels or point-to-point")
      ->check(words({"auto", "sequential", "levels", "point-to-point"}))
      ->group(group)
      ->type_name("WORD");
  add_trisolve_options(app, o);
  app.add_option("--factor-precision", o.factor_precision, "how factors on a grid are kept: fp64, fp32, bf16 or fp16")
      ->check(words({"fp64", "fp32", "bf16", "fp16"}))
      ->group(group)
      ->type_name("WORD");
  app.add_flag("--strict", o.strict, "forbid every repair")->group(group);
}

void add_output_options(CLI::App& app, SolveOptions& o) {
  const char* group = "Machine and output";
  app.add_option("--backend", o.backend, "auto, host or cuda")
      ->check(words({"auto", "host", "cuda"}))
      ->group(group)
      ->type_name("WORD");
  app.add_option("--threads", o.threads, "0: as many as there are")
      ->check(integer(0, most_threads()))
      ->group(group)
      ->type_name("T");
  app.add_option("--solution", o.solution, "write x as Matrix Market")->group(group)->type_name("FILE");
  app.add_option("--json", o.json, "write the report; - is standard output")->group(group)->type_name("FILE");
  app.add_option("--history", o.history, "write the residuals as CSV")->group(group)->type_name("FILE");
  app.add_option("--plot", o.plot, "draw the residuals as SVG")->group(group)->type_name("FILE");
  app.add_flag("-q,--quiet", o.quiet, "print nothing but errors")->group(group);
  app.add_flag("-v,--verbose", o.verbose, "print every iteration and more detail")->group(group);
}

Words bench_kinds() {
  auto kinds = bench::kinds();
  kinds.emplace_back("block");
  kinds.emplace_back("matrices");
  kinds.emplace_back("trisolve");
  return kinds;
}

void add_bench_options(CLI::App& app, BenchOptions& o) {
  const auto all = CLI::MultiOptionPolicy::TakeAll;
  app.add_option("kind", o.kind,
                 "trsv: L and U sweeps; factor: ILU(0) set-up; solver: whole solves; convergence: IC(0), IC(1); trisolve: "
                 "exact and iterated triangular solves; on a GPU also "
                 "block: analysis, ILU(0) and sweeps of block CSR; matrices: files solved there and on the host")
      ->check(words(bench_kinds(), {"dbsr"}))
      ->required()
      ->type_name("KIND");
  app.add_option("--backend", o.backend, "host, or cuda: sweeps, set-up and solves on the first GPU beside cuSPARSE")
      ->check(words({"host", "cuda"}))
      ->type_name("WORD");
  app.add_option("--from", o.from, "show the table and the picture of an earlier run's JSON instead of measuring")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  app.add_option(
         "--column", o.column,
         "on a GPU: rtx3090 and a100, the sizes of the paper's table 3 (a100 without contenders); growing sides; breakdown; "
         "many: sweeps on several vectors")
      ->check(words(bench::device_columns()))
      ->type_name("WORD");
  app.add_option("--threads", o.threads, "thread counts, also the ranks of contenders; default 1 and all")
      ->check(integer(1, 4096))
      ->multi_option_policy(all)
      ->expected(1, 64)
      ->type_name("T ...");
  app.add_option("--rounds", o.rounds, "each round measures all in turn; 0: 5, for solves 3, with --small 1")
      ->check(integer(0, 1000))
      ->type_name("N");
  app.add_option("--only", o.only, "cases whose name contains this")->type_name("TEXT");
  app.add_option("--matrices", o.matrices, "of matrices: a folder of Matrix Market files; of block: to be measured, too")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  app.add_flag("--small", o.small, "the same list on tiny grids: a quick look at whether all runs");
  app.add_option("--peers", o.peers,
                 fmt::format("contenders to run: {}; default all", fmt::join(all_contender_names(), ", ")))
      ->check(words(all_contender_names()))
      ->multi_option_policy(all)
      ->expected(1, 8)
      ->type_name("NAME ...");
  app.add_option("--contenders", o.contenders, "folder of the contenders' programs; default beside this one")
      ->type_name("DIR");
  app.add_option("--machine", o.machine, "name of this machine, for the report")->type_name("NAME");
  app.add_option("--commit", o.commit, "of the program, when there is no repository around it")->type_name("HASH");
  app.add_option("--json", o.json, "write the report; - is standard output")->type_name("FILE");
  app.add_option("--plot", o.plot, "draw the times beside the contenders as SVG")->type_name("FILE");
  app.add_option("--spy", o.spy, "trisolve: draw the pattern of L+U of the last case as SVG")->type_name("FILE");
  app.add_flag("-q,--quiet", o.quiet, "print nothing but errors");
  app.footer("Exit status: 0 when every listed shape was measured, 1 when one is missing.");
}

Words option_names(const CLI::App& app) {
  Words names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back(fmt::format("--{}", name));
    for (const auto& name : option->get_snames()) names.push_back(fmt::format("-{}", name));
  }
  return names;
}

[[noreturn]] void refuse_extra(const CLI::App& app, const std::string& extra) {
  const auto name = extra.substr(0, extra.find('='));
  if (std::find(later_options.begin(), later_options.end(), name) != later_options.end()) {
    throw Error(ErrorCode::bad_option, fmt::format("{} belongs to a method that this version does not have yet", name));
  }
  if (name.empty() || name[0] != '-') throw Error(ErrorCode::bad_option, fmt::format("unexpected argument '{}'", extra));
  // One dash before a long name is the commonest slip.
  const std::string long_name = name.size() > 2 && name[1] != '-' ? fmt::format("-{}", name) : name;
  throw Error(ErrorCode::bad_option, fmt::format("unknown option {}{}; see echelon {} --help", name,
                                                 suggestion(long_name, option_names(app)), app.get_name()));
}

/// A word with one dash is never ours (short options are -q, -v, -h); CLI11 would read it letter by letter.
void refuse_single_dashes(const CLI::App& app, const Words& arguments) {
  for (const auto& argument : arguments) {
    if (argument.size() < 3 || argument[0] != '-' || argument[1] == '-') continue;
    const bool numeric = argument.find_first_not_of("-+.0123456789eE") == std::string::npos;
    if (!numeric && argument.find_first_not_of("qvh", 1) != std::string::npos) refuse_extra(app, argument);
  }
}

void refuse_unknown_command(const Words& arguments) {
  if (arguments.empty()) {
    throw Error(ErrorCode::bad_option,
                fmt::format("a command is needed: {}; see echelon --help", fmt::join(commands, ", ")));
  }
  const auto& first = arguments.front();
  if (first.empty() || first[0] == '-') return;
  const auto sentence = check_word(first, commands, later_commands);
  if (!sentence.empty()) throw Error(ErrorCode::bad_option, "command: " + sentence);
}

}  // namespace

Options parse(std::vector<std::string> arguments) {
  Options options;
  CLI::App app{"Echelon: incomplete-LU preconditioners, triangular sweeps and solvers", "echelon"};
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->always_capture_default();
  app.get_formatter()->column_width(34);
  app.set_version_flag("--version", fmt::format("echelon {}", version()));
  app.require_subcommand(1);
  app.footer("echelon COMMAND --help lists the options of a command. A first try: echelon solve");

  auto* solve = app.add_subcommand("solve", "solve one linear system: a built-in problem or a matrix file");
  add_system_options(*solve, options.solve);
  add_solver_options(*solve, options.solve);
  add_preconditioner_options(*solve, options.solve);
  add_output_options(*solve, options.solve);
  solve->footer(solve_examples);

  auto* check = app.add_subcommand(
      "check", "look at a matrix before solving: structure, diagonal, symmetry, NaN, rank, memory, advice");
  check->add_option("matrix", options.check.matrix, "Matrix Market file, plain or .gz")->required()->type_name("FILE");
  check->add_option("--json", options.json, "write the report; - is standard output")->type_name("FILE");
  check->add_flag("-q,--quiet", options.check.quiet, "print nothing: the exit status is the answer");
  check->footer("Exit status: 0 solvable, 1 singular by structure, not square or not finite, 2 not readable.");

  auto* bench =
      app.add_subcommand("bench", "measure sweeps, set-up or whole solves, beside other libraries and the bandwidth");
  add_bench_options(*bench, options.bench);

  auto* selftest = app.add_subcommand("selftest", "every method on small problems on this machine, in under a minute");
  auto* info = app.add_subcommand("info", "version, build features, CPU, GPUs, bandwidth");
  for (auto* sub : {selftest, info}) {
    sub->add_option("--json", options.json, "write the report; - is standard output")->type_name("FILE");
    sub->add_option("--threads", options.threads, "0: as many as there are")
        ->check(integer(0, most_threads()))
        ->type_name("T");
  }
  for (auto* sub : {solve, check, bench, selftest, info}) sub->allow_extras();

  refuse_unknown_command(arguments);
  arguments = translate_petsc(arguments);
  for (const auto* sub : {solve, check, bench, selftest, info}) {
    if (sub->get_name() == arguments.front()) refuse_single_dashes(*sub, arguments);
  }
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    options.answer = app.help();
    return options;
  } catch (const CLI::CallForVersion& call) {
    options.answer = std::string(call.what()) + "\n";
    return options;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::bad_option, error.what());
  }
  const auto* sub = app.get_subcommands().front();
  const auto extras = sub->remaining();
  if (!extras.empty()) refuse_extra(*sub, extras.front());
  options.command = sub->get_name();
  if (options.command == "solve") {
    check_combination(options.solve, [&](const std::string& name) { return solve->get_option(name)->count() > 0; });
    options.solve.duplicates_given = solve->get_option("--duplicates")->count() > 0;
    options.json = options.solve.json;
  }
  if (options.command == "bench") {
    check_combination(options.bench, [&](const std::string& name) { return bench->get_option(name)->count() > 0; });
  }
  options.check.json = options.json;
  return options;
}

}  // namespace echelon::cli
