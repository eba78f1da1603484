// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_cuda_methods.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/measure/device_measure.hpp"
#include "bench/measure/sampling.hpp"
#include "bench/measure/timed_solve.hpp"
#include "bench/program/bench_cuda_solver.hpp"
#include "bench/program/bench_ours.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/precond/ilu_gpu/device_block_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_parilut.hpp"
#include "echelon/precond/registry.hpp"

namespace echelon::cli {
namespace {

using bench::device_measure;

/// The case in block CSR on the GPU, and what making it there took.
class CsrSolves {
 public:
  explicit CsrSolves(const bench::BenchCase& one)
      : one_(one), A_(on_gpu(one)), b_(one.right_hand_side().to(gpu_)), x_(b_.size(), gpu_) {
    conversion_ = timer_.seconds();
  }

  /// By the options that its name stands for, in the class that factors again.
  template <class Factors>
  BenchRow measure(const std::string& pc, int rounds) {
    IluOptions options = options_by_name(pc, {}).ilu;
    options.shift = ShiftPolicy::none;
    std::vector<double> seconds, setup, solve, tables;
    std::vector<std::vector<TimePart>> parts, setup_parts;
    Report report;
    for (int r = 0; r < rounds; ++r) {
      std::unique_ptr<Factors> M;
      const double made = device_measure()->seconds([&] { M = std::make_unique<Factors>(A_, options, one_.symmetric()); });
      const double analysis = M->report().symbolic_seconds, order = M->report().ordering_seconds;
      double factorization = M->report().numeric_seconds;
      // The first one takes memory, too.
      factorization = std::min(factorization, M->refactor(A_).numeric_seconds);
      if (!M->report().ok) throw Error(ErrorCode::structure, M->report().message);
      auto solved = bench::timed_solve(one_, A_, b_, x_, *M);
      const double rest = std::max(0.0, made - factorization);
      seconds.push_back(factorization + solved.seconds);
      setup.push_back(rest + conversion_);
      solve.push_back(solved.seconds);
      tables.push_back(analysis);
      setup_parts.push_back({{"matrix in block CSR, by the host", conversion_},
                             {"elimination order", order},
                             {"the rest of the analysis", std::max(0.0, analysis - order)},
                             {"memory of the preconditioner", std::max(0.0, rest - analysis)}});
      solved.parts.insert(solved.parts.begin(), {"factorization", factorization});
      parts.push_back(std::move(solved.parts));
      report = std::move(solved.report);
    }
    BenchRow row = row_of_case(one_);
    row.operation = fmt::format("{} + {}", one_.solver, pc);
    row.precision = "fp64";
    row.nonzeros = A_.nonzeros();
    row.seconds = bench::median(seconds);
    row.spread = bench::spread(seconds);
    row.setup_seconds = bench::median(setup);
    row.solve_seconds = bench::median(solve);
    row.analysis_seconds = bench::median(tables);
    row.parts = medians(parts);
    row.setup_parts = medians(setup_parts);
    row.iterations = report.iterations;
    row.relative_residual = report.relative_residual;
    row.kernel = report.preconditioner.kernel;
    row.schedule = report.preconditioner.schedule;
    return row;
  }

 private:
  BlockCsr<double> on_gpu(const bench::BenchCase& one) const { return to_block_csr(one.make()).to(gpu_); }

  const Timer timer_;
  const Device gpu_ = Device::cuda();
  const bench::BenchCase& one_;
  const BlockCsr<double> A_;
  Vector<double> b_, x_;
  double conversion_ = 0;
};

struct Method {
  const char* pc;
  BenchRow (CsrSolves::*measure)(const std::string& pc, int rounds);
};

constexpr Method methods[] = {{"parilu", &CsrSolves::measure<DeviceBlockIlu>},
                              {"parilut", &CsrSolves::measure<DeviceParilut>},
                              {"mcilu", &CsrSolves::measure<DeviceBlockIlu>}};

/// The first use of a kernel loads it.
void warm_up(const bench::BenchCase& one) {
  constexpr std::int64_t tiny_side = 12;
  bench::BenchCase tiny = one;
  for (std::int64_t* side : {&tiny.grid.nx, &tiny.grid.ny, &tiny.grid.nz}) *side = std::min(*side, tiny_side);
  CsrSolves solves(tiny);
  for (const auto& method : methods) static_cast<void>((solves.*method.measure)(method.pc, 1));
}

}  // namespace

CaseResult measure_device_convergence(const bench::BenchCase& one, int rounds, const std::vector<Contender>& contenders,
                                      const Progress& progress) {
  CaseResult result;
  const auto add = [&](BenchRow row) {
    row.name = one.name();
    const auto first = result.rows.empty() ? row.iterations : result.rows.front().iterations;
    row.iteration_ratio = static_cast<double>(row.iterations) / static_cast<double>(std::max<std::int64_t>(first, 1));
    if (!result.rows.empty()) row.copy_seconds = result.rows.front().copy_seconds;
    result.rows.push_back(std::move(row));
  };
  double answer_norm = 0;
  for (const int fill : {0, 1}) {
    progress(fmt::format("ic{}", fill));
    bench::BenchCase with = one;
    with.fill = fill;
    auto measured = measure_device_solves(with, rounds, {Stored::fp64});
    if (fill == 0) answer_norm = measured.answer_norm;
    add(std::move(measured.rows.front()));
  }
  progress("block CSR");
  warm_up(one);
  CsrSolves solves(one);
  for (const auto& method : methods) {
    progress(method.pc);
    add((solves.*method.measure)(method.pc, rounds));
  }
  compare_with(contenders, one, answer_norm, progress, result.rows.back(), result);
  return result;
}

}  // namespace echelon::cli
