// SPDX-License-Identifier: BSD-3-Clause
// `echelon hpcg`: the benchmark on this machine, its report and its JSON. 0: VALID, 1: INVALID.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "apps/hpcg/benchmark.hpp"
#include "apps/hpcg/clock.hpp"
#include "apps/hpcg/report_json.hpp"
#include "apps/hpcg/report_text.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/grid_text.hpp"
#include "cli/launched_run.hpp"
#include "cli/machine_info.hpp"
#include "cli/outputs.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::cli {
namespace {

struct HpcgOptions {
  std::string grid = "104", smoother = hpcg::smoother_kinds().front().name, backend = "host";
  double seconds = 60;
  int threads = 0;
  bool separate = false, quiet = false;
  std::string report, json;
};

Words smoother_names() {
  Words names;
  for (const auto& kind : hpcg::smoother_kinds()) names.emplace_back(kind.name);
  return names;
}

std::string smoother_help() {
  std::string help;
  for (const auto& kind : hpcg::smoother_kinds())
    help += fmt::format("{}{}: {}", help.empty() ? "" : "; ", kind.name, kind.help);
  return help;
}

void add_hpcg_options(const OptionList& options, HpcgOptions& o) {
  OptionGroup group(options);
  group.text("--grid", o.grid, "of each process: N or NXxNYxNZ, multiples of 8, at least 16, not flatter than 1:8",
             "N|NXxNYxNZ");
  group.real("--seconds", o.seconds, "of timed sets, at least one set; official runs last 1800", 1e-3, 1e7, "S");
  group.count("--threads", o.threads, "of each process; 0: all share the processors", 0, most_threads(), "T");
  group.word("--smoother", o.smoother, smoother_help(), smoother_names());
  group.word("--backend", o.backend, "where the optimised run is; cuda: one process, the exact smoother", {"host", "cuda"});
  group.flag("--separate", o.separate, "the residual before restriction by a whole product, as the reference computes it");
  group.file("--report", o.report, "write the report in HPCG's own lines; - is standard output", FileRole::output);
  group.file("--json", o.json, json_help, FileRole::output);
  group.flag("-q,--quiet", o.quiet, "print nothing but errors");
}

/// 0 is as many as there are, shared among the processes of this machine.
int threads_of_each(int asked) { return asked > 0 ? asked : std::max(1, hardware_threads() / ranks().on_this_machine()); }

/// At most ten lines a second, on a terminal only.
class ProgressLine {
 public:
  explicit ProgressLine(Console& console) : console_(console), seen_(console.shows_progress()) {}
  void show(const std::string& phase, double part) {
    if (!seen_ || (phase == phase_ && clock_->seconds() < 0.1)) return;
    phase_ = phase;
    clock_.emplace();
    console_.progress(part > 0 ? fmt::format("{}: {:.0f} %", phase, 100 * part) : phase);
  }

 private:
  Console& console_;
  bool seen_;
  std::string phase_;
  std::optional<hpcg::Clock> clock_;
};

int run_hpcg(const HpcgOptions& options, const Arguments& arguments) {
  const hpcg::Geometry geometry{parse_grid(options.grid, stencils::box27()), hpcg_process_grid(ranks().size()),
                                ranks().rank()};
  const bool on_gpu = options.backend == "cuda";
  const auto plan_of = [&] {
    const hpcg::SmootherKind& kind = hpcg::find_smoother(options.smoother);
    auto plan = hpcg::make_plan(geometry, kind, options.separate);
    if (on_gpu) {
      // What is refused is refused with and without a GPU; whether there is one is asked after it.
      plan = hpcg::tile_plan(std::move(plan), kind, {Device::Kind::cuda, 0});
      plan.tiles = Device::cuda();
    }
    plan.seconds = options.seconds;
    return plan;
  };
  const auto plan = plan_of();
  Output report(options.report), json(options.json);
  set_threads(threads_of_each(options.threads));
  begin_team();
  Console console(options.quiet, options.report == "-" || options.json == "-");
  finish_when_interrupted();
  ProgressLine progress(console);
  const hpcg::Monitor monitor{[] { return interrupted() ? Verdict::interrupt : Verdict::proceed; },
                              [&](const std::string& phase, double part) { progress.show(phase, part); }};
  const hpcg::Outcome outcome = hpcg::run_benchmark(plan, monitor, ranks());
  console.clear_progress();
  if (outcome.completed()) report.write([&] { return hpcg::report_text(outcome); });
  json.write([&] { return hpcg::report_json(outcome, arguments, on_gpu ? cuda_backend_info() : host_backend(false)); });
  console.say(hpcg::summary_text(outcome));
  if (!outcome.completed()) return exit_interrupted;
  if (options.quiet && !outcome.valid()) console.complain("echelon: HPCG result is INVALID\n");
  return outcome.valid() ? exit_done : exit_not_converged;
}

}  // namespace

Command hpcg_command() {
  const auto o = std::make_shared<HpcgOptions>();
  return {.name = "hpcg",
          .help = "the HPCG benchmark by its rules",
          .footer =
              "mpirun -n P echelon hpcg: P processes, each with a box of these sides.\n"
              "Exit status: 0 when the result is VALID, 1 when it is INVALID, 2 for sizes HPCG does not take.",
          .takes_ranks = true,
          .add_options = [o](const OptionList& options) { add_hpcg_options(options, *o); },
          .run = [o](const Arguments& arguments) { return run_hpcg(*o, arguments); }};
}

}  // namespace echelon::cli
