// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_cuda_matrices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "bench/program/bench_ours.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/io/matrix_market.hpp"
#include "echelon/report/table.hpp"
#include "echelon/solve/auto_solve.hpp"

namespace echelon::cli {
namespace {

constexpr double rtol = 1e-8;
/// Two right sums of the same numbers differ by rounding.
constexpr double false_yes = 1.001 * rtol;

struct Run {
  const char* operation;
  const char *solver, *pc;
  int fill;
};
constexpr Run runs[] = {
    {"gmres + ilu0", "gmres", "ilu", 0}, {"gmres + ilu1", "gmres", "ilu", 1}, {"automatic", "auto", "auto", 0}};

struct Solved {
  AutoOutcome outcome;
  double residual = 1;  // recomputed
  double seconds() const { return outcome.report.setup_seconds + outcome.report.solve_seconds; }
};

Solved solve_on(Device device, const Run& run, const BlockCsr<double>& A, const Vector<double>& b) {
  SolveRequest request;
  request.wishes.solver = run.solver;
  request.wishes.pc = run.pc;
  request.wishes.options.ilu.fill = run.fill;
  request.krylov.rtol = rtol;
  // What a GPU has: the counts are compared.
  request.krylov.cg_form = CgForm::plain;
  request.krylov.product = Product::full;
  request.device = device;
  Vector<double> x(b.size(), 0.0), r(b.size());
  Solved solved{solve_automatically(&A, b, x, request)};
  A.careful_residual(b, x, r);
  double of_r = 0, of_b = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) of_r += r[i] * r[i], of_b += b[i] * b[i];
  solved.residual = of_b > 0 ? std::sqrt(of_r / of_b) : std::sqrt(of_r);
  return solved;
}

/// Why the verdicts differ; empty when they are the same.
std::string difference(const Solved& host, const Solved& gpu) {
  const Report &there = host.outcome.report, &here = gpu.outcome.report;
  for (const Solved* one : {&host, &gpu}) {
    if (one->outcome.report.converged && !(one->residual <= false_yes)) {
      return fmt::format("a false yes: the residual is {:.2e}", one->residual);
    }
  }
  if (there.converged != here.converged) return fmt::format("host {}, GPU {}", word(there.reason), word(here.reason));
  if (!there.converged) return "";
  if (host.outcome.choice.name() != gpu.outcome.choice.name()) {
    return fmt::format("host by {}, GPU by {}", host.outcome.choice.name(), gpu.outcome.choice.name());
  }
  const double apart = std::abs(static_cast<double>(there.iterations - here.iterations));
  if (apart <= std::max(1.0, 0.1 * static_cast<double>(there.iterations))) return "";
  return fmt::format("host {} iterations, GPU {}", there.iterations, here.iterations);
}

BenchRow row_of(const bench::BenchCase& one, const Run& run, const BlockCsr<double>& A, const Solved& gpu) {
  BenchRow row = row_of_case(one);
  row.operation = run.operation;
  row.n = A.rows();
  row.nonzeros = A.nonzeros();
  row.seconds = gpu.seconds();
  row.setup_seconds = gpu.outcome.report.setup_seconds;
  row.solve_seconds = gpu.outcome.report.solve_seconds;
  row.iterations = gpu.outcome.report.iterations;
  row.relative_residual = gpu.residual;
  row.reason = word(gpu.outcome.report.reason);
  row.kernel = gpu.outcome.report.preconditioner.kernel;
  row.schedule = gpu.outcome.choice.name();
  row.stencil = gpu.outcome.report.recognised;
  return row;
}

PeerTime host_of(const Solved& host) {
  PeerTime peer;
  peer.name = "host";
  peer.method = fmt::format("{}, {} threads", host.outcome.choice.name(), threads());
  peer.seconds = host.seconds();
  peer.setup_seconds = host.outcome.report.setup_seconds;
  peer.iterations = host.outcome.report.iterations;
  peer.relative_residual = host.residual;
  peer.reason = word(host.outcome.report.reason);
  return peer;
}

bool converged(const std::string& reason) { return reason == "rtol" || reason == "atol" || reason == "nrbe"; }

std::string verdict(const std::string& reason, std::int64_t iterations) {
  return converged(reason) ? std::to_string(iterations) : fmt::format("no ({})", reason);
}

}  // namespace

CaseResult measure_matrix_verdicts(const bench::BenchCase& one, Device device, const Progress& progress) {
  const auto A = read_matrix_market(one.file).matrix;
  const Vector<double> ones(A.rows(), 1.0);
  Vector<double> b(A.rows());
  A.apply(ones, b);
  CaseResult result;
  for (const Run& run : runs) {
    progress(run.operation);
    const Solved host = solve_on(Device::host(), run, A, b), gpu = solve_on(device, run, A, b);
    BenchRow row = row_of(one, run, A, gpu);
    row.peers.push_back(host_of(host));
    result.rows.push_back(std::move(row));
    const auto why = difference(host, gpu);
    if (!why.empty()) result.missing.push_back({one.name(), run.operation, why});
  }
  return result;
}

std::string matrices_table(const BenchReport& report) {
  constexpr auto left = Table::Align::left, right = Table::Align::right;
  Table table({{"case", left},
               {"n", right},
               {"run", left},
               {"host", right},
               {"GPU", right},
               {"residual", right},
               {"host ms", right},
               {"GPU ms", right},
               {"chose", left},
               {"grid", left}});
  std::int64_t both = 0, neither = 0, same = 0, by_one = 0;
  for (const auto& row : report.rows) {
    const auto* host = row.best_peer();
    if (!host) continue;
    table.add({row.name, std::to_string(row.n), row.operation, verdict(host->reason, host->iterations),
               verdict(row.reason, row.iterations), fmt::format("{:.1e}", row.relative_residual),
               fmt::format("{:.1f}", 1e3 * host->seconds), fmt::format("{:.1f}", 1e3 * row.seconds), row.schedule,
               row.stencil});
    const bool there = converged(host->reason), here = converged(row.reason);
    both += there && here;
    neither += !there && !here;
    same += there && here && host->iterations == row.iterations;
    by_one += there && here && std::abs(host->iterations - row.iterations) == 1;
  }
  return table.text() + fmt::format(
                            "\n{} runs: {} converge on both ({} in the same number of iterations, {} one apart), {} "
                            "on neither\n",
                            report.rows.size(), both, same, by_one, neither);
}

}  // namespace echelon::cli
