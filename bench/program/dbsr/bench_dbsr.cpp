// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/dbsr/bench_dbsr.hpp"

#include "bench/program/bench_frame.hpp"
#include "bench/program/dbsr/dbsr_cases.hpp"
#include "cli/machine_info.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::cli {

int run_bench_dbsr(const BenchOptions& options, const std::vector<std::string>& arguments) {
  const auto cases = chosen_of(dbsr_cases(options.small, options.large), options);
  DbsrPlan plan;
  plan.threads = thread_counts(options);
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
