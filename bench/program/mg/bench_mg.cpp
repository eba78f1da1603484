// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/mg/bench_mg.hpp"

#include "bench/program/bench_frame.hpp"
#include "bench/program/mg/mg_cases.hpp"
#include "bench/program/mg/mg_run.hpp"
#include "cli/machine_info.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::cli {

int run_bench_mg(const BenchOptions& options, const std::vector<std::string>& arguments) {
  const auto cases = chosen_cases(mg_cases(options.small), options);
  const auto contenders =
      find_contenders(options.kind, options.peers.empty() ? std::vector<std::string>{"hypre"} : options.peers, options);
  MgPlan plan;
  plan.threads = thread_counts(options);
  plan.rounds = options.rounds > 0 ? options.rounds : options.small ? 1 : 3;
  plan.methods = options.methods;
  plan.contenders = contenders.found;
  set_threads(plan.threads.back());
  BenchReport report = new_report(options, arguments, contenders);
  report.backend = host_backend(true);
  report.rounds = plan.rounds;
  return run_cases(options, report, cases, [&](const bench::BenchCase& one, const Progress& progress) {
    plan.progress = progress;
    return measure_mg(one, plan);
  });
}

}  // namespace echelon::cli
