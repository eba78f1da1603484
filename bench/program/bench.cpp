// SPDX-License-Identifier: BSD-3-Clause
// `echelon bench KIND`: every listed shape, ours beside the contenders that are there. A shape without a row of ours fails
// the run and is named. The report is written after every case, so that a run that was ended has what it did.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "bench/measure/device_shapes.hpp"
#include "bench/measure/shapes.hpp"
#include "bench/program/bench_cuda.hpp"
#include "bench/program/bench_frame.hpp"
#include "bench/program/bench_options.hpp"
#include "bench/program/bench_trisolve.hpp"
#include "bench/program/dbsr/order_kinds.hpp"
#include "cli/commands.hpp"
#include "cli/machine_info.hpp"
#include "cli/outputs.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::cli {
namespace {

Words bench_kinds() {
  auto kinds = bench::kinds();
  for (const char* kind : {"block", "matrices", "trisolve"}) kinds.emplace_back(kind);
  for (const auto& kind : order_kinds()) kinds.emplace_back(kind.name);
  return kinds;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& kind : order_kinds()) {
    for (auto& name : kind.methods()) {
      if (std::ranges::count(names, name) == 0) names.push_back(std::move(name));
    }
  }
  return names;
}

void add_bench_options(const OptionList& options, BenchOptions& o) {
  OptionGroup group(options);
  group.required_word(
      "kind", o.kind,
      "trsv: L and U sweeps; factor: ILU(0) set-up; solver: whole solves; convergence: IC, ParIC, multicolour; trisolve: "
      "exact and iterated triangular solves; hpcg: echelon hpcg by smoother, threads and ranks; dbsr: reordered and exact "
      "ILU(0) by format; mg: multigrid beside hypre's; on a GPU also "
      "block: analysis, ILU(0) and sweeps of block CSR; matrices: files solved there and on the host",
      bench_kinds(), {}, "KIND");
  group.word("--backend", o.backend, "host, or cuda: sweeps, set-up and solves on the first GPU beside cuSPARSE",
             {"host", "cuda"});
  group.file_that_is_there("--from", o.from, "show the table and the picture of an earlier run's JSON instead of measuring",
                           FileRole::input);
  group.word("--column", o.column,
             "on a GPU: rtx3090 and a100, the sizes of the paper's table 3 (a100 without contenders); growing sides; "
             "breakdown; many: sweeps on several vectors",
             bench::device_columns());
  group.counts("--threads", o.threads, "thread counts, also the ranks of contenders; default 1 and all", 1, 4096, "T ...",
               64);
  group.count("--rounds", o.rounds, "each round measures all in turn; 0: 5, for solves 3, with --small 1", 0, 1000, "N");
  group.text("--only", o.only, "cases whose name contains this", "TEXT");
  group.file_that_is_there("--matrices", o.matrices,
                           "of matrices: a folder of Matrix Market files; of block: to be measured, too",
                           FileRole::input_folder);
  group.flag("--small", o.small, "the same list on tiny grids: a quick look at whether all runs");
  group.flag("--large", o.large, "hpcg and dbsr: also 192 points a side, and 256 of ILU(0) on 7 points");
  group.names("--methods", o.methods, "hpcg: smoothers; dbsr: strategies and formats; mg: preconditioners; default all",
              method_names(), 64);
  group.counts("--ranks", o.ranks, "hpcg: numbers of processes, under mpirun; default 1 and all cores", 1, 4096, "R ...",
               64);
  group.file_that_is_there("--xhpcg", o.xhpcg,
                           "hpcg: a reference program to run beside ours, under mpirun for several ranks", FileRole::input);
  group.real("--seconds", o.seconds, "hpcg: of timed sets, at least one set", 1e-3, 1e6, "S");
  group.names("--peers", o.peers, fmt::format("contenders to run: {}; default all", fmt::join(all_contender_names(), ", ")),
              all_contender_names(), 8);
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
}

/// Options that are legal each and contradict each other together.
void check_combination(const BenchOptions& o, const Given& given) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCode::bad_option, sentence); };
  if (o.backend == "cuda") {
    if (o.kind != "trsv" && o.kind != "factor" && given("--column")) {
      refuse(o.kind == "block" || o.kind == "matrices" || o.kind == "trisolve"
                 ? "--column is for trsv and factor"
                 : "--column is for trsv and factor; solves have the sizes of table 4");
    } else if (o.kind == "factor" && o.column == "many") {
      refuse("--column many is for trsv: sweeps on several vectors");
    }
    if (given("--threads")) refuse("--threads is for the host; --backend cuda runs on the first GPU");
  } else if (given("--column")) {
    refuse("--column needs --backend cuda");
  } else if (o.kind == "block" || o.kind == "matrices") {
    refuse(fmt::format("{} needs --backend cuda", o.kind));
  }
  const OrderKind* const orders = find_order_kind(o.kind);
  if (orders && o.backend == "cuda") refuse(fmt::format("{} is of the host", o.kind));
  if (o.small && o.large) refuse("--small and --large exclude each other");
  if (given("--large") && !(orders && orders->large)) refuse("--large is for hpcg and dbsr");
  if (given("--methods") && !orders) refuse("--methods is for hpcg, dbsr and mg");
  for (const char* name : {"--ranks", "--xhpcg", "--seconds"}) {
    if (given(name) && !(orders && orders->processes)) refuse(fmt::format("{} is for hpcg", name));
  }
  for (const auto& name : o.methods) {
    const auto own = orders->methods();
    if (std::ranges::count(own, name) == 0) {
      refuse(fmt::format("--methods: {} has no '{}', but {}", o.kind, name, fmt::join(own, ", ")));
    }
  }
  for (const char* name : {"--json", "--spy"}) {
    if (given(name) && !o.from.empty()) refuse(fmt::format("{} is of what is measured; --from measures nothing", name));
  }
  if (given("--spy") && o.kind != "trisolve") refuse("--spy is for trisolve");
  if (given("--matrices") && o.kind != "block" && o.kind != "matrices") refuse("--matrices is for block and matrices");
  if (o.kind == "matrices" && given("--plot")) refuse("matrices has no picture; its table is printed");
  if (o.kind == "matrices" && o.from.empty() && o.matrices.empty())
    refuse("matrices needs --matrices DIR, a folder of files");
}

int rounds_of(const BenchOptions& options) {
  if (options.rounds > 0) return options.rounds;
  if (options.small) return 1;
  return options.kind == "solver" || options.kind == "convergence" ? 3 : 5;
}

int run_bench(const BenchOptions& options, const Arguments& arguments) {
  for (const auto& path : {options.json, options.plot, options.spy}) require_writable(path);
  if (!options.from.empty()) return show_again(options);
  if (options.backend == "cuda") return run_bench_cuda(options, arguments);
  if (const OrderKind* const orders = find_order_kind(options.kind)) return orders->run(options, arguments);
  if (options.kind == "trisolve") return run_bench_trisolve(options, arguments);
  const auto cases = chosen_cases(bench::shapes(options.kind, options.small), options);
  // A comparison of our own methods has no contenders.
  Contenders contenders;
  if (options.kind != "convergence") {
    contenders =
        find_contenders(options.kind, options.peers.empty() ? contender_names(options.kind) : options.peers, options);
  }
  CasePlan plan;
  plan.threads = thread_counts(options);
  plan.rounds = rounds_of(options);
  plan.contenders = contenders.found;
  set_threads(plan.threads.back());
  BenchReport report = new_report(options, arguments, contenders);
  report.backend = host_backend(true);
  report.rounds = plan.rounds;
  return run_cases(options, report, cases, [&](const bench::BenchCase& one, const Progress& progress) {
    plan.progress = progress;
    return measure_case(one, plan);
  });
}

}  // namespace

Command bench_command() {
  const auto o = std::make_shared<BenchOptions>();
  return {.name = "bench",
          .help = "measure sweeps, set-up or whole solves, beside other libraries and the bandwidth",
          .footer = "Exit status: 0 when every listed shape was measured, 1 when one is missing.",
          .add_options = [o](const OptionList& options) { add_bench_options(options, *o); },
          .check = [o](const Given& given) { check_combination(*o, given); },
          .run = [o](const Arguments& arguments) { return run_bench(*o, arguments); }};
}

}  // namespace echelon::cli
