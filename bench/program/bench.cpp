// SPDX-License-Identifier: BSD-3-Clause
// `echelon bench KIND`: every listed shape, ours beside the contenders that are there. A shape without a row of ours fails
// the run and is named. The report is written after every case, so that a run that was ended has what it did.
#include <algorithm>

#include "bench/measure/shapes.hpp"
#include "bench/program/bench_cuda.hpp"
#include "bench/program/bench_frame.hpp"
#include "bench/program/bench_trisolve.hpp"
#include "cli/commands.hpp"
#include "cli/machine_info.hpp"
#include "cli/outputs.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::cli {
namespace {

std::vector<int> thread_counts(const BenchOptions& options) {
  std::vector<int> counts = options.threads;
  if (counts.empty()) counts = {1, hardware_threads()};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

int rounds_of(const BenchOptions& options) {
  if (options.rounds > 0) return options.rounds;
  if (options.small) return 1;
  return options.kind == "solver" || options.kind == "convergence" ? 3 : 5;
}

}  // namespace

int run_bench(const BenchOptions& options, const std::vector<std::string>& arguments) {
  for (const auto& path : {options.json, options.plot, options.spy}) require_writable(path);
  if (!options.from.empty()) return show_again(options);
  if (options.backend == "cuda") return run_bench_cuda(options, arguments);
  if (options.kind == "trisolve") return run_bench_trisolve(options, arguments);
  const auto cases = chosen_cases(bench::shapes(options.kind, options.small), options);
  // A comparison of our own methods has no contenders.
  Contenders contenders;
  if (options.kind != "convergence") {
    contenders = find_contenders(options.kind, options.peers.empty() ? contender_names() : options.peers, options);
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

}  // namespace echelon::cli
