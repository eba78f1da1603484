// SPDX-License-Identifier: BSD-3-Clause
// Every solver with every preconditioner on small problems of both storages, each answer checked from A, b and x; the same
// bits for one thread and all; and a system that must not be called solved.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/outputs.hpp"
#include "echelon/base/array.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/report/json.hpp"
#include "echelon/report/solution_hash.hpp"
#include "echelon/report/table.hpp"

namespace echelon::cli {
namespace {

struct SelftestOptions {
  std::string json;
  int threads = 0;
};

void add_selftest_options(const OptionList& options, SelftestOptions& o) {
  OptionGroup group(options);
  group.file("--json", o.json, json_help, FileRole::output);
  group.count("--threads", o.threads, "0: as many as there are", 0, most_threads(), "T");
}

double norm(const Vector<double>& v) {
  double sum = 0;
  for (const double value : v) sum += value * value;
  return std::sqrt(sum);
}

/// One solve, judged by its own residual and not by the report alone.
SelftestCase solve_case(const std::string& solver, const std::string& pc, const MatrixRef& A, const std::string& problem,
                        const IluOptions& options = {}) {
  SelftestCase result;
  result.method = solver + " + " + pc + (options.fill > 0 ? fmt::format("({})", options.fill) : "");
  result.problem = problem;
  const Timer clock;
  try {
    const auto& op = as_operator(A);
    const auto M = find_preconditioner(pc).make(A, {.ilu = options});
    Vector<double> b(op.rows(), 1.0), x(op.rows(), 0.0), r(op.rows());
    const Report report = solve(solver, op, b, x, *M, {});
    op.residual(b, x, r);
    result.relative_residual = norm(r) / norm(b);
    result.iterations = report.iterations;
    result.passed = report.converged && result.relative_residual <= 1.01e-8;
    result.outcome = word(report.reason);
  } catch (const Error& error) {
    // That a method does not fit into this machine is no failure of the method: the run ends and says so.
    if (exit_status(error.code()) == exit_status(ErrorCode::will_not_fit)) throw;
    result.outcome = error.what();
  }
  result.seconds = clock.seconds();
  return result;
}

/// The same bits for every thread count.
SelftestCase thread_case(const StructMatrix<double>& A, int all_threads) {
  SelftestCase result{"1 thread = all threads", "poisson 24x24x24", "", false, 0, 0, 0};
  const Timer clock;
  const auto csr = to_block_csr(A);
  std::string hashes[2];
  for (int run = 0; run < 2; ++run) {
    set_threads(run == 0 ? 1 : all_threads);
    const auto M = find_preconditioner("ilu").make(&csr, {.ilu = {.schedule = SweepSchedule::levels}});
    Vector<double> b(csr.rows(), 1.0), x(csr.rows(), 0.0);
    const Report report = gmres(csr, b, x, *M, {});
    result.iterations = report.iterations;
    result.relative_residual = report.relative_residual;
    hashes[run] = solution_hash(x.span());
  }
  set_threads(all_threads);
  result.passed = hashes[0] == hashes[1];
  result.outcome = result.passed ? "same bits" : "different bits";
  result.seconds = clock.seconds();
  return result;
}

/// A singular system with no solution: anything but an honest no is a failure.
SelftestCase honesty_case() {
  const std::vector<Triplet<double>> triplets = {{0, 0, 1.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 1.0}};
  const auto A = from_triplets<double>(2, 2, triplets);
  SelftestCase result{"gmres + none", "singular, must say no", "", false, 0, 0, 0};
  const Timer clock;
  const auto M = find_preconditioner("none").make(&A, {});
  Vector<double> b{1.0, -1.0}, x(2, 0.0);
  const Report report = gmres(A, b, x, *M, {});
  result.passed = !report.converged;
  result.outcome = word(report.reason);
  result.iterations = report.iterations;
  result.relative_residual = report.relative_residual;
  result.seconds = clock.seconds();
  return result;
}

std::vector<SelftestCase> all_cases(int all_threads) {
  std::vector<SelftestCase> cases;
  const auto poisson = problems::poisson({24, 24, 24}, stencils::star7());
  const auto flow = problems::convection_diffusion({20, 20, 20}, stencils::star7());
  const auto blocks = problems::random({10, 10, 10}, stencils::box27(), 3, 1);
  const auto poisson_csr = to_block_csr(poisson);
  const auto blocks_csr = to_block_csr(blocks);
  for (const auto& solver : solver_names()) {
    for (const auto& pc : preconditioners()) {
      if (solver == "stationary" && pc.kind != PrecondKind::multilevel) continue;  // few others converge alone
      cases.push_back(solve_case(solver, pc.name, &poisson, "poisson 24x24x24"));
      cases.push_back(solve_case(solver, pc.name, &poisson_csr, "the same, block CSR"));
      if (pc.symmetric_only || solver == "cg") continue;
      cases.push_back(solve_case(solver, pc.name, &flow, "convdiff 20x20x20"));
      if (pc.scalars_only) continue;
      cases.push_back(solve_case(solver, pc.name, &blocks, "random box27, 3x3 blocks"));
      cases.push_back(solve_case(solver, pc.name, &blocks_csr, "the same, block CSR"));
    }
  }
  cases.push_back(solve_case("gmres", "ilu", &poisson_csr, "poisson, rcm", {.fill = 2, .ordering = Ordering::rcm}));
  cases.push_back(thread_case(poisson, all_threads));
  cases.push_back(honesty_case());
  return cases;
}

int run_selftest(const SelftestOptions& options) {
  Output output(options.json);
  set_threads(options.threads);
  const Timer clock;
  const auto cases = all_cases(options.threads);
  Table table({{"method", Table::Align::left},
               {"problem", Table::Align::left},
               {"iterations", Table::Align::right},
               {"residual", Table::Align::right},
               {"seconds", Table::Align::right},
               {"outcome", Table::Align::left},
               {"", Table::Align::left}});
  int failed = 0;
  for (const auto& one : cases) {
    failed += !one.passed;
    table.add({one.method, one.problem, std::to_string(one.iterations), fmt::format("{:.1e}", one.relative_residual),
               fmt::format("{:.3f}", one.seconds), one.outcome, one.passed ? "pass" : "FAIL"});
  }
  output.write([&] { return to_json(cases, clock.seconds()); });
  Console console(false, options.json == "-");
  console.say(table.text());
  console.say(fmt::format("{} of {} passed in {:.1f} s\n", cases.size() - static_cast<std::size_t>(failed), cases.size(),
                          clock.seconds()));
  return failed == 0 ? exit_done : exit_not_converged;
}

}  // namespace

Command selftest_command() {
  const auto o = std::make_shared<SelftestOptions>();
  return {.name = "selftest",
          .help = "every method on small problems on this machine, in under a minute",
          .add_options = [o](const OptionList& options) { add_selftest_options(options, *o); },
          .run = [o](const Arguments&) { return run_selftest(*o); }};
}

}  // namespace echelon::cli
