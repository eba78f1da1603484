// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/mg/mg_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "bench/measure/bandwidth.hpp"
#include "bench/measure/sampling.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/report/solution_hash.hpp"

namespace echelon::cli {
namespace {

constexpr std::int64_t most_iterations = 2000;
constexpr double slack = 1.1;  // of the tolerance: a recurrence parts from b − A x by rounding
constexpr int cycles_a_round = 3;

struct Sample {
  double setup = 0, solve = 0, cycle = 0;
  double seconds() const { return setup + solve; }
};

/// A method at a number of threads: its samples, and what the last solve told.
struct OurRun {
  const MgMethod* method = nullptr;
  int threads = 1;
  std::vector<Sample> samples;
  Report report;
  FactorReport preconditioner;
  ResidualHistory history;
  std::string hash, trouble;
};

/// A contender with a number of ranks, its lines by setting ("default", "best", "smg").
struct PeerRun {
  const Contender* contender = nullptr;
  int ranks = 1;
  std::map<std::string, std::vector<bench::ContenderLine>> lines;
  std::map<std::string, std::string> trouble;
  std::string best;  // the setting that was best in the first round
};

template <class Item, class Value>
std::vector<double> each(const std::vector<Item>& items, const Value& value) {
  std::vector<double> values;
  for (const auto& item : items) values.push_back(std::invoke(value, item));
  return values;
}

bench::BenchCase with_room(const bench::BenchCase& one) {
  // The matrix, and a hierarchy whose coarser operators are boxes.
  bench::require_room(one, 5, "echelon");
  return one;
}

class MgCaseRun {
 public:
  MgCaseRun(const bench::BenchCase& one, const MgPlan& plan)
      : one_(with_room(one)), plan_(plan), A_(one.make()), b_(one.right_hand_side()), ones_(b_.size(), 1.0) {
    for (const auto& method : mg_methods()) {
      const bool wanted = plan.methods.empty() ? method.usual : std::ranges::count(plan.methods, method.name) > 0;
      if (!wanted || !method.fits(one)) continue;
      for (const int count : plan.threads) {
        OurRun& mine = ours_.emplace_back();
        mine.method = &method, mine.threads = count;
      }
    }
    for (const auto& contender : plan.contenders) {
      for (const int ranks : plan.threads) {
        PeerRun& peer = peers_.emplace_back();
        peer.contender = &contender, peer.ranks = ranks;
      }
    }
  }

  CaseResult run() {
    for (int round = 0; round < plan_.rounds; ++round) {
      measure_bandwidth();
      for (auto& mine : ours_) measure(mine);
      for (auto& peer : peers_) measure(peer);
    }
    return result();
  }

 private:
  void measure_bandwidth() {
    plan_.progress("bandwidth");
    bench::BandwidthProbe probe(one_.matrix_bytes());
    for (const int count : plan_.threads) {
      set_threads(count);
      bandwidth_[count].push_back(probe.measure());
    }
  }

  void measure(OurRun& mine) {
    if (!mine.trouble.empty()) return;
    plan_.progress(fmt::format("{}, {} thread{}", mine.method->name, mine.threads, mine.threads == 1 ? "" : "s"));
    set_threads(mine.threads);
    try {
      mine.samples.push_back(solved(mine));
    } catch (const Error& error) {
      mine.trouble = error.what();
    }
  }

  Sample solved(OurRun& mine) {
    KrylovOptions options;
    options.rtol = one_.rtol;
    options.restart = one_.restart;
    options.max_it = most_iterations;
    if (one_.words.closed) options.null_space = &ones_;
    Vector<double> x(b_.size(), 0.0);
    Sample sample;
    const Timer clock;
    const auto M = make_preconditioner(mine.method->pc, &A_, mine.method->options);
    sample.setup = clock.seconds();
    if (!M->report().ok) throw Error(ErrorCode::structure, M->report().message);
    mine.history.assign(1, {sample.setup, 1.0});
    options.monitor = [&](std::int64_t iteration, double residual) {
      if (iteration > 0) mine.history.push_back({clock.seconds(), residual});
      return Verdict::proceed;
    };
    mine.report = solve(one_.solver, A_, b_, x, *M, options);
    sample.solve = clock.seconds() - sample.setup;
    if (!mine.report.converged) throw Error(ErrorCode::structure, mine.report.message);
    require_answer(x);
    mine.history.push_back({sample.seconds(), mine.report.relative_residual});
    mine.preconditioner = M->report();
    require_same_bits(mine, solution_hash(x.span()));
    Vector<double> z(b_.size());
    sample.cycle = bench::median_seconds(cycles_a_round, [&] { M->apply(b_, z); });
    return sample;
  }

  /// b − A x as contenders' answers are judged.
  void require_answer(const Vector<double>& x) const {
    Vector<double> r(b_.size());
    A_.careful_residual(b_, x, r);
    double rr = 0, bb = 0;
    for (std::int64_t i = 0; i < r.size(); ++i) rr += r[i] * r[i], bb += b_[i] * b_[i];
    const double left = std::sqrt(rr / bb);
    if (left <= slack * one_.rtol) return;
    throw Error(ErrorCode::structure, fmt::format("its true residual is {:.2e}, asked for {:.0e}", left, one_.rtol));
  }

  void require_same_bits(OurRun& mine, const std::string& hash) const {
    mine.hash = hash;
    for (const auto& other : ours_) {
      if (other.method != mine.method || other.hash.empty() || other.hash == hash) continue;
      throw Error(ErrorCode::internal, fmt::format("{} thread(s) gave other bits than {}", mine.threads, other.threads));
    }
  }

  void measure(PeerRun& peer) {
    const bool first = peer.lines.empty() && peer.trouble.empty();
    if (!first && peer.best.empty()) return;
    plan_.progress(fmt::format("{}, {} rank(s)", peer.contender->name, peer.ranks));
    bench::BenchCase asked = one_;
    asked.setting = peer.best;
    const SaidLines said = run_contender_lines(*peer.contender, asked, peer.ranks);
    for (const auto& line : said.lines) {
      const std::string why = line.not_applicable.empty() ? objection(line) : line.not_applicable;
      if (!why.empty()) peer.trouble[line.operation] = why;
      if (!why.empty()) continue;
      peer.lines[line.operation].push_back(line);
      // "PCG PFMG relax 2, rap 0, skip 1": the method, and what it is asked for again.
      if (first && line.operation == "best") peer.best = line.method.substr(line.method.find(' ') + 1);
    }
    if (!said.trouble.empty()) peer.trouble["run"] = said.trouble;
  }

  std::string objection(const bench::ContenderLine& line) const {
    if (line.relative_residual <= slack * one_.rtol) return "";
    return fmt::format("its true residual is {:.2e}, asked for {:.0e}", line.relative_residual, one_.rtol);
  }

  CaseResult result() const {
    CaseResult result;
    for (const auto& mine : ours_) {
      if (mine.trouble.empty()) {
        result.rows.push_back(row(mine));
      } else {
        result.missing.push_back(
            {one_.name(), fmt::format("{}, {} thread(s)", mine.method->name, mine.threads), mine.trouble});
      }
    }
    for (const auto& peer : peers_) {
      for (const auto& [setting, why] : peer.trouble) {
        result.not_compared.push_back(
            {one_.name(), fmt::format("{} {}, {} rank(s)", peer.contender->name, setting, peer.ranks), why});
      }
    }
    return result;
  }

  BenchRow row(const OurRun& mine) const {
    BenchRow row = row_of_case(one_);
    const bench::WorkShape shape{A_.nonzeros(), one_.grid.points(), one_.dof};
    row.operation = mine.method->name;
    row.nonzeros = shape.nonzeros;
    row.precision = mine.preconditioner.precision;
    if (one_.solver == "gmres") row.basis = mine.report.basis_precision;
    row.threads = mine.threads;
    row.seconds = bench::median(each(mine.samples, &Sample::seconds));
    row.spread = bench::spread(each(mine.samples, &Sample::seconds));
    row.setup_seconds = bench::median(each(mine.samples, &Sample::setup));
    row.solve_seconds = bench::median(each(mine.samples, &Sample::solve));
    row.iterations = mine.report.iterations;
    row.relative_residual = mine.report.relative_residual;
    row.triad = bench::median(each(bandwidth_.at(mine.threads), &bench::Bandwidth::triad));
    row.copy = bench::median(each(bandwidth_.at(mine.threads), &bench::Bandwidth::copy));
    row.kernel = mine.preconditioner.kernel;
    row.schedule = mine.preconditioner.schedule;
    row.history = mine.history;
    const double cycle = bench::median(each(mine.samples, &Sample::cycle));
    row.measures = {{"cycle_seconds", cycle}};
    if (mine.method->figures) {
      for (const auto& figure : mine.method->figures(mine.preconditioner, shape)) {
        row.measures.push_back(figure);
        if (figure.name == "cycle_bytes")
          row.measures.push_back({"cycle_percent_of_triad", 100 * figure.value / cycle / row.triad});
      }
    }
    for (const auto& peer : peers_) {
      if (peer.ranks != mine.threads) continue;
      for (const auto& [setting, lines] : peer.lines) row.peers.push_back(peer_time(lines));
    }
    return row;
  }

  static PeerTime peer_time(const std::vector<bench::ContenderLine>& lines) {
    const auto& last = lines.back();
    PeerTime time;
    time.name = last.contender;
    time.method = fmt::format("{}: {}", last.operation, last.method);
    time.ranks = last.ranks;
    time.seconds = bench::median(each(lines, &bench::ContenderLine::seconds));
    time.spread = bench::spread(each(lines, &bench::ContenderLine::seconds));
    time.setup_seconds = bench::median(each(lines, &bench::ContenderLine::setup_seconds));
    time.iterations = last.iterations;
    time.relative_residual = last.relative_residual;
    time.history = last.history;
    return time;
  }

  bench::BenchCase one_;
  const MgPlan& plan_;
  StructMatrix<double> A_;
  Vector<double> b_, ones_;
  std::vector<OurRun> ours_;
  std::vector<PeerRun> peers_;
  std::map<int, std::vector<bench::Bandwidth>> bandwidth_;
};

}  // namespace

CaseResult measure_mg(const bench::BenchCase& one, const MgPlan& plan) { return MgCaseRun(one, plan).run(); }

}  // namespace echelon::cli
