// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/measure/block_matrix.hpp"
#include "bench/measure/device_shapes.hpp"
#include "bench/measure/sampling.hpp"
#include "bench/program/bench_cuda_block.hpp"
#include "bench/program/bench_cuda_matrices.hpp"
#include "bench/program/bench_cuda_methods.hpp"
#include "bench/program/bench_cuda_ours.hpp"
#include "bench/program/bench_cuda_solver.hpp"
#include "bench/program/bench_cuda_trisolve.hpp"
#include "bench/program/bench_frame.hpp"
#include "bench/program/bench_ours.hpp"
#include "bench/program/bench_trisolve_runs.hpp"
#include "cli/outputs.hpp"
#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"

namespace echelon::cli {
namespace {

/// Smaller files are a matter of launches, not of kernels.
constexpr std::int64_t block_nonzeros = 20'000;
constexpr int sweep_repeats = 15, factor_repeats = 5, solve_rounds = 3, small_repeats = 2;

BackendInfo device_backend(const Device& gpu) {
  BackendInfo backend;
  backend.kind = "cuda";
  backend.name = cuda_backend()->device_name(gpu.index);
  backend.simd = "cuda";
  backend.copy_bandwidth = cuda_backend()->copy_bandwidth(gpu.index);
  return backend;
}

BenchRow row_of(const bench::BenchCase& one, const DeviceOperation& ours, double copy) {
  BenchRow row = row_of_case(one);
  row.operation = ours.name;
  const Stencil stencil = stencils::named(one.stencil);
  row.nonzeros = neighbours_inside(one.grid, stencil.offsets()) * one.dof * one.dof;
  row.precision = word(ours.precision);
  row.seconds = bench::median(ours.samples);
  row.spread = bench::spread(ours.samples);
  row.analysis_seconds = ours.tables_seconds;
  row.bytes = ours.bytes;
  row.flops = ours.flops;
  row.copy = copy;
  row.kernel = ours.kernel;
  if (!ours.one_by_one.empty()) {
    PeerTime alone;
    alone.name = "echelon";
    alone.method = "one by one";
    alone.seconds = bench::median(ours.one_by_one);
    alone.spread = bench::spread(ours.one_by_one);
    row.peers.push_back(std::move(alone));
  }
  return row;
}

/// Takes a contender's line into the row it belongs to, when its answer is ours; the reason when it does not count.
std::string take(const bench::ContenderLine& line, const std::vector<DeviceOperation>& ours, std::vector<BenchRow>& rows) {
  constexpr double rounding = 1e-8;
  if (!line.not_applicable.empty()) return line.not_applicable;
  for (std::size_t o = 0; o < ours.size(); ++o) {
    if (ours[o].peers != line.operation) continue;
    if (!agree(ours[o].answer, line.answer, rounding)) {
      return fmt::format("{}: another answer: norm {:.12g}, expected {:.12g}", line.operation, line.answer.norm,
                         ours[o].answer.norm);
    }
    PeerTime peer;
    peer.name = line.contender;
    peer.method = line.method;
    peer.seconds = line.seconds;
    peer.analysis_seconds = line.setup_seconds;
    rows[o].peers.push_back(std::move(peer));
    return "";
  }
  return fmt::format("{} is not among what is measured", line.operation);
}

DeviceScope scope_of(const std::string& column) {
  return column == "breakdown" ? DeviceScope::stages
         : column == "growing" ? DeviceScope::main
         : column == "many"    ? DeviceScope::many
                               : DeviceScope::everything;
}

/// The most that a copy has reached in this run: where its buffers happen to lie costs up to a tenth, which must not be
/// counted for us.
class BestCopy {
 public:
  explicit BestCopy(double known) : best_(known) {}
  double again() { return best_ = std::max(best_, cuda_backend()->copy_bandwidth(Device::cuda().index)); }

 private:
  double best_;
};

CaseResult measure(const bench::BenchCase& one, const DevicePlan& plan, const std::vector<Contender>& contenders,
                   BestCopy& best_copy, const Progress& progress) {
  progress("echelon");
  const auto ours = measure_on_device(one, plan);
  const double copy = best_copy.again();
  CaseResult result;
  for (const auto& operation : ours) result.rows.push_back(row_of(one, operation, copy));
  for (const auto& contender : contenders) {
    progress(contender.name);
    auto said = run_device_contender(contender, one);
    if (!said.trouble.empty()) result.not_compared.push_back({one.name(), contender.name, said.trouble});
    for (const auto& line : said.lines) {
      const auto why = take(line, ours, result.rows);
      if (!why.empty()) result.not_compared.push_back({one.name(), contender.name, why});
    }
  }
  return result;
}

int run_solves(const BenchOptions& options, const std::vector<std::string>& arguments) {
  const Device gpu = Device::cuda();
  const bool methods = options.kind == "convergence";
  const auto cases =
      chosen_cases(methods ? bench::device_convergence(options.small) : bench::device_solves(options.small), options);
  const auto names = options.peers.empty() ? device_contender_names(options.kind) : options.peers;
  const auto contenders = find_contenders(options.kind, names, options);
  BenchReport report = new_report(options, arguments, contenders);
  report.backend = device_backend(gpu);
  report.rounds = options.rounds > 0 ? options.rounds : options.small ? 1 : solve_rounds;
  return run_cases(options, report, cases, [&](const bench::BenchCase& one, const Progress& progress) {
    return methods ? measure_device_convergence(one, report.rounds, contenders.found, progress)
                   : measure_device_solve(one, report.rounds, contenders.found, progress);
  });
}

int run_block(const BenchOptions& options, const std::vector<std::string>& arguments) {
  const Device gpu = Device::cuda();
  auto cases = bench::block_shapes(options.small);
  if (!options.matrices.empty()) {
    for (auto& one : bench::block_files(options.matrices, block_nonzeros)) cases.push_back(std::move(one));
  }
  cases = chosen_cases(std::move(cases), options);
  const auto names = options.peers.empty() ? device_contender_names(options.kind) : options.peers;
  const auto contenders = find_contenders(options.kind, names, options);
  const BlockPlan plan{options.rounds > 0 ? options.rounds
                       : options.small    ? small_repeats
                                          : sweep_repeats,
                       contenders.found};
  BenchReport report = new_report(options, arguments, contenders);
  report.backend = device_backend(gpu);
  report.rounds = plan.repeats;
  return run_cases(options, report, cases, [&](const bench::BenchCase& one, const Progress& progress) {
    return measure_device_block(one, plan, progress);
  });
}

int run_trisolve(const BenchOptions& options, const std::vector<std::string>& arguments) {
  const Device gpu = Device::cuda();
  const auto cases = chosen_cases(trisolve_cases(options.small, gpu), options);
  const auto names = options.peers.empty() ? device_contender_names(options.kind) : options.peers;
  const auto contenders = find_contenders("block", names, options);
  TrisolvePlan plan;
  plan.small = options.small;
  plan.repeats = options.rounds > 0 ? options.rounds : options.small ? small_repeats : sweep_repeats;
  plan.contenders = contenders.found;
  BenchReport report = new_report(options, arguments, contenders);
  report.backend = device_backend(gpu);
  report.rounds = plan.repeats;
  if (!options.spy.empty()) write_report(options.spy, trisolve_spy(cases.back()));
  return run_cases(options, report, cases, [&](const bench::BenchCase& one, const Progress& progress) {
    return measure_device_trisolve(one, plan, progress);
  });
}

int run_matrices(const BenchOptions& options, const std::vector<std::string>& arguments) {
  const Device gpu = Device::cuda();
  auto cases = bench::block_files(options.matrices);
  std::erase_if(cases, [](const bench::BenchCase& one) { return one.dof > 1; });
  cases = chosen_cases(std::move(cases), options);
  BenchReport report = new_report(options, arguments, {});
  report.backend = device_backend(gpu);
  report.rounds = 1;
  return run_cases(options, report, cases, [&](const bench::BenchCase& one, const Progress& progress) {
    return measure_matrix_verdicts(one, gpu, progress);
  });
}

}  // namespace

int run_bench_cuda(const BenchOptions& options, const std::vector<std::string>& arguments) {
  if (options.kind == "solver" || options.kind == "convergence") return run_solves(options, arguments);
  if (options.kind == "block") return run_block(options, arguments);
  if (options.kind == "matrices") return run_matrices(options, arguments);
  if (options.kind == "trisolve") return run_trisolve(options, arguments);
  const Device gpu = Device::cuda();
  const auto cases = chosen_cases(bench::device_shapes(options.kind, options.column, options.small), options);
  DevicePlan plan;
  plan.scope = scope_of(options.column);
  Contenders contenders;
  if (bench::has_contenders(options.column)) {
    auto names = options.peers.empty() ? device_contender_names(options.kind) : options.peers;
    if (plan.scope == DeviceScope::main) std::erase(names, "spmv");
    contenders = find_contenders(options.kind, names, options);
  }
  plan.repeats = options.rounds > 0         ? options.rounds
                 : options.small            ? small_repeats
                 : options.kind == "factor" ? factor_repeats
                                            : sweep_repeats;
  BenchReport report = new_report(options, arguments, contenders);
  report.backend = device_backend(gpu);
  report.rounds = plan.repeats;
  BestCopy best_copy(report.backend.copy_bandwidth);
  return run_cases(options, report, cases, [&](const bench::BenchCase& one, const Progress& progress) {
    return measure(one, plan, contenders.found, best_copy, progress);
  });
}

}  // namespace echelon::cli
