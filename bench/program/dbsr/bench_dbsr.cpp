// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/dbsr/bench_dbsr.hpp"

#include <algorithm>

#include "bench/program/bench_frame.hpp"
#include "bench/program/dbsr/dbsr_cases.hpp"
#include "cli/machine_info.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::cli {

int run_bench_dbsr(const BenchOptions& options, const std::vector<std::string>& arguments) {
  const auto cases = chosen_of(dbsr_cases(options.small, options.large), options);
  DbsrPlan plan;
  plan.threads = options.threads;
  if (plan.threads.empty()) plan.threads = {1, hardware_threads()};
  std::ranges::sort(plan.threads);
  plan.threads.erase(std::unique(plan.threads.begin(), plan.threads.end()), plan.threads.end());
  plan.rounds = options.rounds > 0 ? options.rounds : options.small ? 1 : 3;
  plan.methods = options.methods;
  set_threads(plan.threads.back());
  BenchReport report = new_report(options, arguments, {});
  report.backend = host_backend(true);
  report.rounds = plan.rounds;
  return run_named_cases(options, report, names_of(cases), [&](std::size_t which, const Progress& progress) {
    plan.progress = progress;
    return measure_dbsr(cases[which], plan);
  });
}

}  // namespace echelon::cli
