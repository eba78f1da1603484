// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/hpcg/bench_hpcg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/measure/sampling.hpp"
#include "bench/program/bench_frame.hpp"
#include "bench/program/hpcg/hpcg_runs.hpp"
#include "cli/machine_info.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::cli {
namespace {

struct HpcgCase {
  std::string smoother;
  HpcgLayout layout;
  /// "exact 104x104x104 r2 t1"; the sides are those of a process.
  std::string name() const {
    const auto side = layout.side;
    return fmt::format("{} {}x{}x{} r{} t{}", smoother, side, side, side, layout.ranks, layout.threads);
  }
};

std::vector<HpcgCase> hpcg_cases(const BenchOptions& options) {
  std::vector<std::int64_t> sides = {104, 128};
  if (options.small) sides = {16};
  if (options.large) sides.push_back(192);
  const int cores = hardware_threads();
  const std::vector<int> all = cores > 1 ? std::vector<int>{1, cores} : std::vector<int>{1};
  const auto& threads = options.threads.empty() ? all : options.threads;
  const auto& ranks = options.ranks.empty() ? all : options.ranks;
  const bool asked = threads.size() * ranks.size() == 1;
  std::vector<HpcgCase> cases;
  for (const std::int64_t side : sides) {
    for (const int r : ranks) {
      for (const int t : threads) {
        // More than the cores only when nothing else was asked for.
        if (r * t > cores && !asked) continue;
        for (const auto& smoother : options.methods.empty() ? hpcg_smoother_names() : options.methods) {
          cases.push_back({smoother, {side, r, t}});
        }
      }
    }
  }
  return cases;
}

/// A reference takes minutes; its rating for a layout is measured once and stands beside every smoother.
class References {
 public:
  explicit References(const BenchOptions& options) : options_(options) {}
  const HpcgRun& at(const HpcgLayout& layout) {
    const auto key = fmt::format("{} {} {}", layout.side, layout.ranks, layout.threads);
    const auto found = runs_.find(key);
    if (found != runs_.end()) return found->second;
    return runs_.emplace(key, run_reference_hpcg(layout, options_.xhpcg, options_.seconds, options_.contender_limit))
        .first->second;
  }

 private:
  const BenchOptions& options_;
  std::map<std::string, HpcgRun> runs_;
};

CaseResult measure(const HpcgCase& one, const BenchOptions& options, int rounds, References& references,
                   const Progress& progress) {
  std::vector<double> ratings;
  HpcgRun run;
  for (int round = 0; round < rounds; ++round) {
    progress(fmt::format("ours, round {}", round + 1));
    run = run_own_hpcg(one.layout, one.smoother, options.seconds, options.contender_limit);
    ratings.push_back(run.rating);
  }
  BenchRow row;
  row.name = one.name();
  row.operation = one.smoother;
  row.problem = "poisson", row.stencil = "box27";
  row.grid = {run.grid[0], run.grid[1], run.grid[2]};
  row.n = run.equations, row.nonzeros = run.nonzeros;
  row.threads = one.layout.threads;
  row.flops = rated_set_flops(run);
  row.seconds = row.flops / (1e9 * bench::median(ratings));
  row.spread = bench::spread(ratings);
  row.iterations = run.iterations;
  row.iteration_ratio = static_cast<double>(run.iterations) / 50;
  row.relative_residual = run.residual;
  row.triad = run.triad;
  row.measures = {{"ranks", static_cast<double>(one.layout.ranks)},
                  {"rating_gflops", bench::median(ratings)},
                  {"raw_gflops", run.raw},
                  {"bound_gflops", run.bound},
                  {"percent_of_bound", run.percent_of_bound},
                  {"setup_in_iterations", run.setup_iterations}};
  CaseResult result;
  if (!options.xhpcg.empty()) {
    progress("the reference");
    try {
      const HpcgRun& reference = references.at(one.layout);
      if (reference.equations != run.equations || reference.nonzeros != run.nonzeros) {
        throw Error(ErrorCode::structure, "the reference ran another problem");
      }
      PeerTime peer;
      peer.name = reference.what;
      peer.method = "reference";
      peer.ranks = one.layout.ranks;
      peer.seconds = row.flops / (1e9 * reference.rating);
      peer.iterations = reference.iterations;
      peer.relative_residual = reference.residual;
      row.peers.push_back(std::move(peer));
    } catch (const Error& error) {
      result.not_compared.push_back({row.name, "HPCG 3.1", error.what()});
    }
  }
  result.rows.push_back(std::move(row));
  return result;
}

}  // namespace

std::vector<std::string> hpcg_smoother_names() { return {"exact", "multicolour", "bmc", "dbsr"}; }

int run_bench_hpcg(const BenchOptions& options, const std::vector<std::string>& arguments) {
  const auto cases = chosen_of(hpcg_cases(options), options);
  BenchReport report = new_report(options, arguments, {});
  report.backend = host_backend(true);
  report.rounds = options.rounds > 0 ? options.rounds : 1;
  if (!options.xhpcg.empty()) report.contenders_found.push_back("xhpcg");
  References references(options);
  return run_named_cases(options, report, names_of(cases), [&](std::size_t which, const Progress& progress) {
    return measure(cases[which], options, report.rounds, references, progress);
  });
}

}  // namespace echelon::cli
