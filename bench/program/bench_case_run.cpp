// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_case_run.hpp"

#include <fmt/format.h>

#include <map>

#include "bench/measure/bandwidth.hpp"
#include "bench/measure/sampling.hpp"
#include "bench/measure/work_model.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::cli {
namespace {

template <class Sample>
std::vector<double> all(const std::vector<Sample>& samples, double Sample::*field) {
  std::vector<double> values;
  for (const auto& sample : samples) values.push_back(sample.*field);
  return values;
}

/// A contender with a number of ranks or threads: its lines, or why it has none.
struct PeerRun {
  const Contender* contender = nullptr;
  int workers = 1;
  std::vector<bench::ContenderLine> lines;
  std::string trouble;
};

/// "petsc, 2 rank(s)", "mkl, 2 thread(s)"
std::string named(const PeerRun& peer) {
  const char* what = peer.contender->workers == Workers::threads ? "thread(s)" : "rank(s)";
  return fmt::format("{}, {} {}", peer.contender->name, peer.workers, what);
}

class CaseRun {
 public:
  CaseRun(const bench::BenchCase& one, const CasePlan& plan) : one_(one), plan_(plan), ours_(one) {
    for (const auto& contender : plan.contenders) {
      for (const int count : plan.threads) {
        if (count == 1 || contender.workers != Workers::one) peers_.push_back({&contender, count, {}, {}});
      }
    }
  }

  CaseResult run() {
    for (int round = 0; round < plan_.rounds; ++round) {
      measure_bandwidth();
      measure_ours();
      for (auto& peer : peers_) measure(peer);
    }
    return result();
  }

 private:
  using Key = std::pair<std::size_t, int>;  // variant, threads

  void measure_bandwidth() {
    plan_.progress("bandwidth");
    const auto row = ours_.row({});
    const bench::WorkShape shape{row.nonzeros, one_.grid.points(), one_.dof};
    bench::BandwidthProbe probe(static_cast<std::int64_t>(row.bytes > 0 ? row.bytes : bench::sweep_bytes(shape)));
    for (const int count : plan_.threads) {
      set_threads(count);
      bandwidth_[count].push_back(probe.measure());
    }
  }

  void measure_ours() {
    const auto variants = ours_.variants();
    for (const int count : plan_.threads) {
      set_threads(count);
      for (std::size_t v = 0; v < variants.size(); ++v) {
        plan_.progress(fmt::format("echelon, {} thread(s)", count));
        auto& samples = samples_[{v, count}];
        samples.push_back(ours_.run(variants[v]));
        const auto& first = samples_[{v, plan_.threads.front()}].front();
        if (samples.back().hash != first.hash) {
          throw Error(ErrorCode::internal,
                      fmt::format("{} thread(s) gave other bits than {}", count, plan_.threads.front()));
        }
      }
    }
  }

  void measure(PeerRun& peer) {
    if (!peer.trouble.empty()) return;
    plan_.progress(named(peer));
    try {
      auto line = run_contender(*peer.contender, one_, peer.workers);
      peer.trouble = line.not_applicable.empty() ? objection(line) : line.not_applicable;
      peer.lines.push_back(std::move(line));
    } catch (const Error& error) {
      peer.trouble = error.what();
    }
  }

  /// Why an answer is not accepted; empty when it is.
  std::string objection(const bench::ContenderLine& line) {
    const auto& mine = samples_.begin()->second.front();
    if (one_.is_solve()) {
      // Both meet the tolerance, so x agrees to about the condition times that.
      constexpr double slack = 1.1, roughly = 1e-2;
      if (!(line.relative_residual <= slack * one_.rtol)) {
        return fmt::format("its true residual is {:.2e}, asked for {:.0e}", line.relative_residual, one_.rtol);
      }
      return agree(mine.answer, line.answer, roughly) ? "" : "another solution";
    }
    constexpr double rounding = 1e-8, another_method = 0.3;
    const auto expected = line.ranks == 1 ? mine.answer : block_jacobi_answer(line.ranks);
    if (agree(expected, line.answer, line.same_method ? rounding : another_method)) return "";
    return fmt::format("another answer: norm {:.12g}, expected {:.12g}", line.answer.norm, expected.norm);
  }

  bench::Fingerprint block_jacobi_answer(int ranks) {
    const auto known = slab_answers_.find(ranks);
    if (known != slab_answers_.end()) return known->second;
    return slab_answers_[ranks] = ours_.block_jacobi_answer(ranks);
  }

  CaseResult result() const {
    CaseResult result;
    const auto variants = ours_.variants();
    for (std::size_t v = 0; v < variants.size(); ++v) {
      for (const int count : plan_.threads) result.rows.push_back(row(variants[v], v, count));
    }
    for (const auto& peer : peers_) {
      if (peer.trouble.empty()) continue;
      result.not_compared.push_back({one_.name(), named(peer), peer.trouble});
    }
    return result;
  }

  BenchRow row(const OurVariant& variant, std::size_t v, int count) const {
    const auto& samples = samples_.at({v, count});
    const auto& last = samples.back();
    BenchRow row = ours_.row(variant);
    row.threads = count;
    row.seconds = bench::median(all(samples, &OurSample::seconds));
    row.spread = bench::spread(all(samples, &OurSample::seconds));
    row.analysis_seconds = bench::median(all(samples, &OurSample::analysis_seconds));
    row.setup_seconds = bench::median(all(samples, &OurSample::setup_seconds));
    row.solve_seconds = bench::median(all(samples, &OurSample::solve_seconds));
    row.triad = bench::median(all(bandwidth_.at(count), &bench::Bandwidth::triad));
    row.copy = bench::median(all(bandwidth_.at(count), &bench::Bandwidth::copy));
    row.kernel = last.kernel;
    row.schedule = last.schedule;
    row.iterations = last.iterations;
    row.relative_residual = last.relative_residual;
    // The first variant is what the others of a comparison of methods are measured by.
    if (one_.kind == "convergence") {
      row.parts = {{"factorization", bench::median(all(samples, &OurSample::factor_seconds))},
                   {"iteration", row.solve_seconds}};
      row.iteration_ratio =
          static_cast<double>(last.iterations) / static_cast<double>(samples_.at({0, count}).back().iterations);
    }
    for (const auto& peer : peers_) {
      if (peer.workers == count && peer.trouble.empty()) row.peers.push_back(peer_time(peer));
    }
    return row;
  }

  static PeerTime peer_time(const PeerRun& peer) {
    const auto& last = peer.lines.back();
    PeerTime time;
    time.name = last.contender;
    time.method = last.method;
    time.ranks = peer.workers;
    time.seconds = bench::median(all(peer.lines, &bench::ContenderLine::seconds));
    time.spread = bench::spread(all(peer.lines, &bench::ContenderLine::seconds));
    time.setup_seconds = bench::median(all(peer.lines, &bench::ContenderLine::setup_seconds));
    time.iterations = last.iterations;
    time.relative_residual = last.relative_residual;
    return time;
  }

  const bench::BenchCase& one_;
  const CasePlan& plan_;
  OurCase ours_;
  std::map<Key, std::vector<OurSample>> samples_;
  std::map<int, std::vector<bench::Bandwidth>> bandwidth_;
  std::map<int, bench::Fingerprint> slab_answers_;
  std::vector<PeerRun> peers_;
};

}  // namespace

CaseResult measure_case(const bench::BenchCase& one, const CasePlan& plan) { return CaseRun(one, plan).run(); }

}  // namespace echelon::cli
