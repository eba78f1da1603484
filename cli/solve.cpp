// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <memory>
#include <new>
#include <optional>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/linear_system.hpp"
#include "cli/machine_info.hpp"
#include "cli/option_combinations.hpp"
#include "cli/outputs.hpp"
#include "cli/problem_kinds.hpp"
#include "cli/solve_text.hpp"
#include "cli/time_limit.hpp"
#include "echelon/base/device.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/io/matrix_market_write.hpp"
#include "echelon/report/json.hpp"
#include "echelon/report/plots/plot.hpp"
#include "echelon/report/progress.hpp"
#include "echelon/report/solution_hash.hpp"
#include "echelon/solve/auto_solve.hpp"

namespace echelon::cli {
namespace {

constexpr const char* solve_examples =
    "Examples:\n"
    "  echelon solve                                     Poisson on 64x64x64, everything automatic\n"
    "  echelon solve --grid 128x128x64 --solver cg --pc ic --plot r.svg\n"
    "  echelon solve --problem euler --grid 48 --cfl 5   one implicit step of a compressible flow\n"
    "  echelon solve --matrix A.mtx.gz --rhs b.mtx --solution x.mtx --json report.json\n"
    "  echelon solve --matrix A.mtx -ksp_type gmres -pc_type ilu -pc_factor_levels 1\n"
    "Exit status: 0 converged, 1 not converged, 2 bad usage or input, 3 memory or device trouble, 130 interrupted.";

/// Throws with the reason when there is no GPU.
Device chosen_device(const std::string& backend) { return backend == "cuda" ? Device::cuda() : Device::host(); }

PrecondOptions precond_options(const SolveOptions& options) {
  PrecondOptions precond = options.precond;
  if (options.strict && precond.ilu.shift == ShiftPolicy::automatic) precond.ilu.shift = ShiftPolicy::none;
  return precond;
}

KrylovOptions krylov_options(const SolveOptions& options) {
  KrylovOptions krylov;
  krylov.rtol = options.rtol;
  krylov.atol = options.atol;
  krylov.nrbe = options.nrbe;
  krylov.max_it = options.max_it;
  krylov.restart = options.restart;
  krylov.basis = options.basis == "fp32" ? BasisPrecision::fp32 : BasisPrecision::fp64;
  if (options.cg_form != "auto") krylov.cg_form = options.cg_form == "plain" ? CgForm::plain : CgForm::eisenstat;
  if (options.product != "auto") krylov.product = options.product == "full" ? Product::full : Product::half;
  return krylov;
}

/// What a set-up and an iteration ask: signals, the time limit, and whether somebody is watching.
class Watch {
 public:
  Watch(const SolveOptions& options, Console& console, const Timer& total)
      : options_(options), console_(console), total_(total), progress_(options.rtol, options.max_it) {}

  void begin(const AutoChoice& choice) {
    if (options_.verbose) console_.say(fmt::format("trying {}: {}\n", choice.name(), choice.why));
    progress_ = Progress(options_.rtol, options_.max_it);
    attempt_ = Timer();
  }

  Verdict ask(std::int64_t iteration, double residual) {
    if (options_.verbose) console_.say(fmt::format("{:6}  {:.6e}\n", iteration, residual));
    if (!options_.verbose && console_.shows_progress()) {
      if (const auto line = progress_.line(iteration, residual, attempt_.seconds())) console_.progress(*line);
    }
    return ask();
  }

  Verdict ask() const {
    if (interrupted()) return Verdict::interrupt;
    if (options_.time_limit > 0 && total_.seconds() > options_.time_limit) return Verdict::time_limit;
    return Verdict::proceed;
  }

 private:
  const SolveOptions& options_;
  Console& console_;
  const Timer& total_;
  Progress progress_;
  Timer attempt_;
};

RunReport gather(const SolveOptions& options, const LinearSystem& system, AutoOutcome& outcome, const Vector<double>& x) {
  RunReport run;
  run.command = "solve";
  run.problem = system.info;
  run.backend = options.backend == "cuda" ? cuda_backend_info() : host_backend(false);
  run.automatic = options.pc == "auto";
  run.choice = outcome.choice.name();
  run.why = outcome.choice.why;
  for (const auto& attempt : outcome.attempts) {
    run.attempts.push_back({attempt.choice.name(), attempt.choice.why, attempt.outcome, attempt.message, attempt.iterations,
                            attempt.relative_residual, attempt.setup_seconds, attempt.solve_seconds});
  }
  run.result = std::move(outcome.report);
  for (const auto& attempt : run.attempts) {
    if (attempt.name == run.choice) continue;
    if (attempt.outcome == "skipped") {
      run.result.remarks.push_back(fmt::format("{}: {}", attempt.name, attempt.message));
      continue;
    }
    run.result.remarks.push_back(fmt::format("tried {} ({} iterations): {}", attempt.name, attempt.iterations,
                                             attempt.message.empty() ? attempt.outcome : attempt.message));
  }
  run.result.remarks.insert(run.result.remarks.begin(), system.remarks.begin(), system.remarks.end());
  run.seconds = {system.read_seconds,
                 system.assemble_seconds + run.result.assembly_seconds,
                 run.result.setup_seconds,
                 run.result.solve_seconds,
                 0,
                 run.result.conversion_seconds};
  run.solution_hash = solution_hash(x.span());
  run.rtol = options.rtol;
  run.atol = options.atol;
  return run;
}

ResidualPlot plot_of(const RunReport& run, const std::vector<AttemptNote>& attempts) {
  ResidualPlot plot;
  plot.title = problem_text(run.problem);
  plot.subtitle = fmt::format("{}: {} iterations, relative residual {:.1e} recomputed", run.choice, run.result.iterations,
                              run.result.relative_residual);
  plot.tolerance = run.rtol;
  for (const auto& attempt : attempts) {
    if (attempt.history.size() > 1) plot.curves.push_back({attempt.choice.name(), attempt.history});
  }
  return plot;
}

/// All that a solve writes, opened before it begins.
struct Outputs {
  explicit Outputs(const SolveOptions& options)
      : solution(options.solution), history(options.history), plot(options.plot), json(options.json) {}
  Output solution, history, plot, json;

  bool take_standard_output() const {
    for (const auto* one : {&solution, &history, &plot, &json}) {
      if (one->path() == "-") return true;
    }
    return false;
  }
  bool given_up() const { return solution.given_up() || history.given_up() || plot.given_up() || json.given_up(); }
};

/// One file that cannot be written does not take the others along: what happened is kept for the report.
template <class Write>
void write_one(const char* option, Output& output, RunReport& run, const Write& write) {
  if (!output.asked_for()) return;
  try {
    write();
  } catch (const Error& error) {
    run.output_errors.push_back({option, output.path(), error.what()});
  } catch (const std::bad_alloc&) {
    run.output_errors.push_back({option, output.path(), "memory ran out while it was written"});
  }
}

void write_results(Outputs& outputs, RunReport& run, const Vector<double>& x, const AutoOutcome& outcome,
                   const Timer& total) {
  write_one("--solution", outputs.solution, run, [&] { write_vector(outputs.solution.file(), x); });
  write_one("--history", outputs.history, run,
            [&] { outputs.history.write([&] { return history_csv(run.result.history); }); });
  write_one("--plot", outputs.plot, run,
            [&] { outputs.plot.write([&] { return residual_svg(plot_of(run, outcome.attempts)); }); });
  run.seconds.total = total.seconds();
  write_one("--json", outputs.json, run, [&] { outputs.json.write([&] { return to_json(run); }); });
}

/// The whole report of a run whose time was up before there was a system to solve.
[[noreturn]] void end_too_early(const SolveOptions& options, const std::vector<std::string>& arguments, Outputs& outputs,
                                const Timer& total) {
  RunReport run;
  run.command = "solve";
  run.arguments = arguments;
  run.problem.name = options.matrix.empty() ? options.problem : options.matrix;
  run.backend = host_backend(false);
  run.automatic = options.pc == "auto";
  run.rtol = options.rtol;
  run.atol = options.atol;
  run.seconds.total = total.seconds();
  run.result.reason = Reason::time_limit;
  run.result.message = "the time limit was reached before the first iteration, while the system was read or assembled";
  run.result.nrbe = 1;
  run.result.history = {1.0};
  run.result.preconditioner.name = options.pc;
  run.result.preconditioner.ok = false;
  std::string sentence = fmt::format("echelon: {}; nothing was solved\n", run.result.message);
  try {
    outputs.json.write([&] { return to_json(run); });
    finish_output();
  } catch (const std::exception& error) {
    sentence += fmt::format("echelon: the report could not be written either: {}\n", error.what());
  }
  leave_at_once(sentence, exit_not_converged);
}

int status_of(const Report& report, const Outputs& outputs, bool all_written) {
  if (outputs.given_up()) return exit_interrupted;
  if (!all_written) return exit_status(ErrorCode::write_failed);
  if (report.reason == Reason::interrupted) return exit_interrupted;
  return report.converged ? exit_done : exit_not_converged;
}

int run_solve(const SolveOptions& options, const Arguments& arguments) {
  const Timer total;
  Outputs outputs(options);
  TimeLimit limit(options.time_limit, [&] { end_too_early(options, arguments, outputs, total); });
  const Device device = chosen_device(options.backend);
  set_threads(options.threads);
  begin_team();
  Console console(options.quiet, outputs.take_standard_output());
  const LinearSystem system = make_system(options);
  console.say(problem_line(system.info));
  limit.something_to_save();
  finish_when_interrupted();

  Watch watch(options, console, total);
  SolveRequest request;
  request.wishes = {options.solver, options.pc, precond_options(options)};
  request.krylov = krylov_options(options);
  request.krylov.monitor = [&](std::int64_t iteration, double residual) { return watch.ask(iteration, residual); };
  request.ask = [&] { return watch.ask(); };
  request.strict = options.strict;
  request.recognise_stencils = options.recognise == "auto";
  request.device = device;
  request.on_attempt = [&](const AutoChoice& choice) { watch.begin(choice); };
  std::optional<Vector<double>> ones;
  if (has_constant_null_space(options)) request.krylov.null_space = &ones.emplace(system.b.size(), 1.0);

  Vector<double> x(system.b.size(), 0.0);
  AutoOutcome outcome = solve_automatically(system.ref(), system.b, x, request);
  RunReport run = gather(options, system, outcome, x);
  run.arguments = arguments;
  if (const auto fewer = fewer_threads_remark(); !fewer.empty()) run.result.remarks.push_back(fewer);
  write_results(outputs, run, x, outcome, total);
  console.say(result_text(run, options.verbose));
  for (const auto& error : run.output_errors)
    console.complain(fmt::format("echelon: {}: {}\n", error.option, error.message));
  const int status = status_of(run.result, outputs, run.output_errors.empty());
  if (options.quiet && !run.result.converged) console.complain(fmt::format("echelon: {}\n", outcome_sentence(run)));
  return status;
}

}  // namespace

Command solve_command() {
  const auto o = std::make_shared<SolveOptions>();
  return {.name = "solve",
          .help = "solve one linear system: a built-in problem or a matrix file",
          .footer = solve_examples,
          .takes_petsc_names = true,
          .add_options = [o](const OptionList& options) { add_solve_options(options, *o); },
          .check =
              [o](const Given& given) {
                settle_sweeps(*o, given);
                check_combination(*o, given);
                o->duplicates_given = given("--duplicates");
              },
          .run = [o](const Arguments& arguments) { return run_solve(*o, arguments); }};
}

}  // namespace echelon::cli
