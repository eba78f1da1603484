// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_cuda_trisolve.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/measure/device_measure.hpp"
#include "bench/measure/sampling.hpp"
#include "bench/program/bench_trisolve_runs.hpp"
#include "echelon/base/error.hpp"
#include "echelon/precond/ilu_gpu/device_block_ilu.hpp"

namespace echelon::cli {
namespace {

using bench::device_measure;

class DeviceTrisolve {
 public:
  DeviceTrisolve(const bench::BenchCase& one, int repeats)
      : of_(one), repeats_(repeats), A_(of_.matrix().to(gpu_)), r_(of_.right_hand_side().to(gpu_)), z_(A_.rows(), gpu_) {}

  BenchRow measure(const TrisolveRun& run) {
    const DeviceBlockIlu M(A_, of_.ilu_options(run));
    if (!M.report().ok) throw Error(ErrorCode::structure, M.report().message);
    const auto samples = bench::device_samples(true, repeats_, [&] { M.apply(r_, z_); });
    M.settle();
    BenchRow row = of_.row(run, M.report(), z_.to(Device::host()));
    of_.count_iterations(A_, M, gpu_, row);
    row.seconds = bench::median(samples);
    row.spread = bench::spread(samples);
    return row;
  }
  /// Of the run measured last.
  bench::Fingerprint answer() const { return device_measure()->fingerprint(z_.data(), z_.size()); }

 private:
  const Device gpu_ = Device::cuda();
  const TrisolveCase of_;
  const int repeats_;
  BlockCsr<double> A_;
  Vector<double> r_, z_;
};

double error_of(const BenchRow& row) {
  const auto error = std::ranges::find(row.measures, "error", &NamedNumber::name);
  return error == row.measures.end() ? 1 : error->value;
}

}  // namespace

std::vector<PeerTime> both_solves(const std::vector<bench::ContenderLine>& lines, const bench::Fingerprint& expected,
                                  std::string& objection) {
  constexpr double rounding = 1e-8;
  std::vector<PeerTime> peers;
  for (const auto& lower : lines) {
    if (!lower.not_applicable.empty()) objection = lower.not_applicable;
    if (lower.operation != "lower") continue;
    const auto upper = std::ranges::find_if(
        lines, [&](const bench::ContenderLine& line) { return line.operation == "upper" && line.method == lower.method; });
    if (upper == lines.end()) continue;
    if (!agree(expected, upper->answer, rounding)) {
      objection = fmt::format("{}: another answer: norm {:.12g}, expected {:.12g}", upper->method, upper->answer.norm,
                              expected.norm);
      continue;
    }
    PeerTime peer;
    peer.name = lower.contender;
    peer.method = lower.method;
    peer.seconds = lower.seconds + upper->seconds;
    peer.analysis_seconds = lower.setup_seconds + upper->setup_seconds;
    peers.push_back(std::move(peer));
  }
  return peers;
}

CaseResult measure_device_trisolve(const bench::BenchCase& one, const TrisolvePlan& plan, const Progress& progress) {
  CaseResult result;
  bench::Fingerprint answer;
  {
    DeviceTrisolve ours(one, plan.repeats);
    auto runs = trisolve_runs(one, plan.small);
    TrisolveRun automatic{"auto", {}};
    automatic.options.method = Trisolve::automatic;
    runs.insert(runs.begin() + 1, automatic);
    for (const auto& run : runs) {
      progress(run.name);
      result.rows.push_back(ours.measure(run));
      if (run.options.method == Trisolve::exact) answer = ours.answer();
    }
  }
  const double error = error_of(result.rows.front());
  if (error != 0) throw Error(ErrorCode::internal, fmt::format("exact sweeps differ from the host's by {:.1e}", error));
  for (const auto& contender : plan.contenders) {
    progress(contender.name);
    const auto said = run_device_contender(contender, one);
    std::string objection = said.trouble;
    const auto peers = both_solves(said.lines, answer, objection);
    if (!objection.empty()) result.not_compared.push_back({one.name(), contender.name, objection});
    for (auto& row : result.rows) row.peers.insert(row.peers.end(), peers.begin(), peers.end());
  }
  return result;
}

}  // namespace echelon::cli
