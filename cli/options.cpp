// SPDX-License-Identifier: BSD-3-Clause
// The only translation unit that sees CLI11. Every failure leaves as Error(bad_option): the parser's own codes stay inside.
#include "cli/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "bench/measure/device_shapes.hpp"
#include "bench/measure/shapes.hpp"
#include "bench/program/bench_contenders.hpp"
#include "cli/line_files.hpp"
#include "cli/nearest.hpp"
#include "cli/option_checks.hpp"
#include "cli/option_combinations.hpp"
#include "cli/petsc_options.hpp"
#include "cli/problem_kinds.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/version.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/registry.hpp"

namespace echelon::cli {
namespace {

using Words = std::vector<std::string>;
constexpr double unbounded = std::numeric_limits<double>::infinity();

const Words commands = {"solve", "check", "bench", "selftest", "info"};
const Words later_commands = {"hpcg", "cavity", "elastic", "artery", "cfd"};
/// Options of the interface whose methods come later: recognised, never silently taken.
const Words later_options = {"--tune", "--on-gpu-error"};

/// An option that names a file; after parsing it knows the name.
struct FileOption {
  const CLI::Option* option;
  FileRole role;
};
using FileOptions = std::vector<FileOption>;

CLI::Validator file_name(FileRole role) {
  return CLI::Validator(
      [role](std::string& name) {
        auto sentence = check_file_name(name);
        if (role == FileRole::output) name = output_name(name);
        return sentence;
      },
      "");
}

CLI::Option* add_file(CLI::App& app, const char* name, std::string& value, const std::string& help, FileRole role,
                      FileOptions& files) {
  auto* option = app.add_option(name, value, help)->transform(file_name(role));
  option->type_name(role == FileRole::input_folder ? "DIR" : "FILE");
  files.push_back({option, role});
  return option;
}

/// Every input that was named, also where a later one counts, and each output that will be written.
std::vector<LineFile> named_files(const FileOptions& files) {
  std::vector<LineFile> named;
  for (const auto& [option, role] : files) {
    const auto names = option->count() > 0 ? option->results() : Words();
    for (std::size_t i = role == FileRole::output && !names.empty() ? names.size() - 1 : 0; i < names.size(); ++i)
      named.push_back({option->get_name(), names[i], role});
  }
  return named;
}

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

constexpr const char* json_help = "write the report; - is standard output";
constexpr const char* solve_examples =
    "Examples:\n"
    "  echelon solve                                     Poisson on 64x64x64, everything automatic\n"
    "  echelon solve --grid 128x128x64 --solver cg --pc ic --plot r.svg\n"
    "  echelon solve --problem euler --grid 48 --cfl 5   one implicit step of a compressible flow\n"
    "  echelon solve --matrix A.mtx.gz --rhs b.mtx --solution x.mtx --json report.json\n"
    "  echelon solve --matrix A.mtx -ksp_type gmres -pc_type ilu -pc_factor_levels 1\n"
    "Exit status: 0 converged, 1 not converged, 2 bad usage or input, 3 memory or device trouble, 130 interrupted.";

/// Options of one group of the help, a line or two each.
class Group {
 public:
  Group(CLI::App& app, const char* title, FileOptions& files) : app_(app), title_(title), files_(files) {}

  void word(const char* name, std::string& value, const std::string& help, const Words& have, const Words& later = {}) {
    text(name, value, help, "WORD")->check(words(have, later));
  }
  void name(const char* name, std::string& value, const std::string& help, const Words& have, const Words& later = {}) {
    text(name, value, help, "NAME")->check(words(have, later));
  }
  CLI::Option* file(const char* name, std::string& value, const std::string& help, FileRole role) {
    return add_file(app_, name, value, help, role, files_)->group(title_);
  }
  void flag(const char* name, bool& value, const std::string& help) { app_.add_flag(name, value, help)->group(title_); }
  template <class Value>
  CLI::Option* text(const char* name, Value& value, const std::string& help, const char* type) {
    return app_.add_option(name, value, help)->group(title_)->type_name(type);
  }
  CLI::Option* callback(const char* name, const CLI::callback_t& take, const std::function<std::string()>& shown,
                        const std::string& help, const char* type) {
    return app_.add_option(name, take, help, false, shown)->group(title_)->type_name(type);
  }
  template <class Value>
  void real(const char* name, Value& value, const std::string& help, double smallest, double largest, const char* type) {
    text(name, value, help, type)->check(number(smallest, largest));
  }
  template <class Value>
  void count(const char* name, Value& value, const std::string& help, std::int64_t smallest, std::int64_t largest,
             const char* type) {
    text(name, value, help, type)->check(integer(smallest, largest));
  }

 private:
  CLI::App& app_;
  const char* title_;
  FileOptions& files_;
};

void add_system_options(CLI::App& app, SolveOptions& o, FileOptions& files) {
  Group group(app, "System", files);
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

void add_solver_options(CLI::App& app, SolveOptions& o, FileOptions& files) {
  Group group(app, "Solver", files);
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
  Group& group;
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
    add(value)->check(words({value.words.begin(), value.words.end()}, {value.later.begin(), value.later.end()}));
  }
  void operator()(const TextValue& value) const {
    const auto try_out = [set = value.set](std::string& text) {
      PrecondOptions unused;
      return set(unused, text);
    };
    add(value)->check(CLI::Validator(try_out, ""));
  }

 private:
  /// Kept as what the text means, not as the text.
  template <class Value>
  CLI::Option* add(const Value& value) const {
    const auto take = [&o = to, set = value.set](const Words& given) {
      set(o, given.back());
      return true;
    };
    const auto shown = [&o = to, get = value.get] { return std::string(get(o)); };
    return group.callback(option.name, take, shown, option.help, option.type);
  }
};

void add_preconditioner_options(CLI::App& app, SolveOptions& o, FileOptions& files) {
  Group group(app, "Preconditioner", files);
  const auto have = preconditioner_words();
  group.name("--pc", o.pc, fmt::format("{}; auto says what it chose and why", fmt::join(have, ", ")), have,
             {"dbsr", "mg", "amg", "randomized", "ras"});
  for (const PrecondOption* option : precond_options()) {
    std::visit(AddPrecondOption{group, o.precond, *option}, option->value);
    if (option->shown) app.get_option(option->name)->default_str(option->shown);
  }
  group.flag("--strict", o.strict, "forbid every repair");
}

void add_output_options(CLI::App& app, SolveOptions& o, FileOptions& files) {
  Group group(app, "Machine and output", files);
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

Words bench_kinds() {
  auto kinds = bench::kinds();
  for (const char* kind : {"block", "matrices", "trisolve"}) kinds.emplace_back(kind);
  return kinds;
}

void add_bench_options(CLI::App& app, BenchOptions& o, FileOptions& files) {
  const auto all = CLI::MultiOptionPolicy::TakeAll;
  Group group(app, "Options", files);
  app.add_option(
         "kind", o.kind,
         "trsv: L and U sweeps; factor: ILU(0) set-up; solver: whole solves; convergence: IC, ParIC, multicolour; trisolve: "
         "exact and iterated triangular solves; on a GPU also "
         "block: analysis, ILU(0) and sweeps of block CSR; matrices: files solved there and on the host")
      ->check(words(bench_kinds(), {"dbsr"}))
      ->required()
      ->type_name("KIND");
  group.word("--backend", o.backend, "host, or cuda: sweeps, set-up and solves on the first GPU beside cuSPARSE",
             {"host", "cuda"});
  group
      .file("--from", o.from, "show the table and the picture of an earlier run's JSON instead of measuring",
            FileRole::input)
      ->check(CLI::ExistingFile);
  group.word("--column", o.column,
             "on a GPU: rtx3090 and a100, the sizes of the paper's table 3 (a100 without contenders); growing sides; "
             "breakdown; many: sweeps on several vectors",
             bench::device_columns());
  group.text("--threads", o.threads, "thread counts, also the ranks of contenders; default 1 and all", "T ...")
      ->check(integer(1, 4096))
      ->multi_option_policy(all)
      ->expected(1, 64);
  group.count("--rounds", o.rounds, "each round measures all in turn; 0: 5, for solves 3, with --small 1", 0, 1000, "N");
  group.text("--only", o.only, "cases whose name contains this", "TEXT");
  group
      .file("--matrices", o.matrices, "of matrices: a folder of Matrix Market files; of block: to be measured, too",
            FileRole::input_folder)
      ->check(CLI::ExistingDirectory);
  group.flag("--small", o.small, "the same list on tiny grids: a quick look at whether all runs");
  group
      .text("--peers", o.peers, fmt::format("contenders to run: {}; default all", fmt::join(all_contender_names(), ", ")),
            "NAME ...")
      ->check(words(all_contender_names()))
      ->multi_option_policy(all)
      ->expected(1, 8);
  group.file("--contenders", o.contenders, "folder of the contenders' programs; default beside this one",
             FileRole::input_folder);
  group.real("--contender-limit", o.contender_limit, "seconds after which a contender is ended and not compared", 0.1, 1e6,
             "S");
  group.text("--machine", o.machine, "name of this machine, for the report", "NAME");
  group.text("--commit", o.commit, "of the program, when there is no repository around it", "HASH");
  group.file("--json", o.json, json_help, FileRole::output);
  group.file("--plot", o.plot, "draw the times beside the contenders as SVG", FileRole::output);
  group.file("--spy", o.spy, "trisolve: draw the pattern of L+U of the last case as SVG", FileRole::output);
  group.flag("-q,--quiet", o.quiet, "print nothing but errors");
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
  if (name.empty() || name[0] != '-') {
    // `check` takes its file without an option, so this is tried.
    const bool is_file = app.get_option_no_throw("--matrix") && (extra.ends_with(".mtx") || extra.ends_with(".mtx.gz"));
    throw Error(ErrorCode::bad_option, fmt::format("unexpected argument '{}'{}", extra,
                                                   is_file ? fmt::format("; a file is given as --matrix {}", extra) : ""));
  }
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

/// "--json=" is a value that was not set; CLI11 would take the next word instead, whatever that is.
void refuse_missing_values(const Words& arguments) {
  for (const auto& argument : arguments) {
    if (argument.starts_with("--") && argument.size() > 2 && argument.find('=') + 1 == argument.size())
      throw Error(ErrorCode::bad_option, fmt::format("{} has no value behind its '='", argument));
  }
}

/// The mark "--" says that only names follow. CLI11 would hand what is behind it to nobody, in reverse: they come before the
/// options instead, where none of them can become an option's value.
Words without_mark(Words arguments) {
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark == arguments.end()) return arguments;
  const auto option = std::find_if(mark + 1, arguments.end(), [](const auto& word) { return word.starts_with('-'); });
  if (option != arguments.end())
    throw Error(ErrorCode::bad_option, fmt::format("unexpected argument '{}' behind --: options stand before it", *option));
  Words in_order(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
  arguments.insert(arguments.begin() + (arguments.empty() ? 0 : 1), in_order.begin(), in_order.end());
  return arguments;
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
  FileOptions files;
  CLI::App app{"Echelon: incomplete-LU preconditioners, triangular sweeps and solvers", "echelon"};
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->always_capture_default();
  app.get_formatter()->column_width(34);
  app.set_version_flag("--version", fmt::format("echelon {}", version()));
  app.require_subcommand(1);
  app.footer("echelon COMMAND --help lists the options of a command. A first try: echelon solve");

  auto* solve = app.add_subcommand("solve", "solve one linear system: a built-in problem or a matrix file");
  add_system_options(*solve, options.solve, files);
  add_solver_options(*solve, options.solve, files);
  add_preconditioner_options(*solve, options.solve, files);
  add_output_options(*solve, options.solve, files);
  solve->footer(solve_examples);

  auto* check = app.add_subcommand(
      "check", "look at a matrix before solving: structure, diagonal, symmetry, NaN, rank, memory, advice");
  add_file(*check, "matrix", options.check.matrix, "Matrix Market file, plain or .gz", FileRole::input, files)->required();
  add_file(*check, "--json", options.json, json_help, FileRole::output, files);
  check->add_flag("-q,--quiet", options.check.quiet, "print nothing: the exit status is the answer");
  check->footer("Exit status: 0 solvable, 1 singular by structure, not square or not finite, 2 not readable.");

  auto* bench =
      app.add_subcommand("bench", "measure sweeps, set-up or whole solves, beside other libraries and the bandwidth");
  add_bench_options(*bench, options.bench, files);

  auto* selftest = app.add_subcommand("selftest", "every method on small problems on this machine, in under a minute");
  auto* info = app.add_subcommand("info", "version, build features, CPU, GPUs, bandwidth");
  for (auto* sub : {selftest, info}) {
    add_file(*sub, "--json", options.json, json_help, FileRole::output, files);
    sub->add_option("--threads", options.threads, "0: as many as there are")
        ->check(integer(0, most_threads()))
        ->type_name("T");
  }
  for (auto* sub : {solve, check, bench, selftest, info}) sub->allow_extras();

  refuse_unknown_command(arguments);
  arguments = without_mark(translate_petsc(arguments));
  refuse_unknown_command(arguments);  // nothing may be left of it
  refuse_missing_values(arguments);
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
    const auto given = [&](const std::string& name) { return solve->get_option(name)->count() > 0; };
    settle_sweeps(options.solve, given);
    check_combination(options.solve, given);
    options.solve.duplicates_given = solve->get_option("--duplicates")->count() > 0;
    options.json = options.solve.json;
  }
  if (options.command == "bench") {
    check_combination(options.bench, [&](const std::string& name) { return bench->get_option(name)->count() > 0; });
  }
  options.check.json = options.json;
  refuse_same_files(named_files(files));
  return options;
}

}  // namespace echelon::cli
