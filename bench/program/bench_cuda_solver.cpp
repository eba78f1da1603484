// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_cuda_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/measure/device_measure.hpp"
#include "bench/measure/sampling.hpp"
#include "bench/measure/timed_solve.hpp"
#include "bench/program/bench_ours.hpp"
#include "echelon/base/error.hpp"
#include "echelon/precond/ilu_gpu/device_ilu.hpp"

namespace echelon::cli {
namespace {

using bench::device_measure;

/// What a contender's x may miss the tolerance by: it is judged by a residual without doubled sums.
constexpr double near_the_tolerance = 1.1;
/// Norms of two answers to the same tolerance.
constexpr double roughly = 1e-2;

/// The rounds of one storage of the factors.
struct Sampled {
  explicit Sampled(Stored kept) : stored(kept) {}
  Stored stored;
  std::vector<double> seconds, setup, span, solve, tables;
  std::vector<std::vector<TimePart>> parts, setup_parts;
  Report report;
  double answer_norm = 0;
};

/// The whole way of a case, once or more often.
class DeviceSolves {
 public:
  explicit DeviceSolves(const bench::BenchCase& one)
      : one_(one), rows_(one.make_rows(gpu_)), b_(one.right_hand_side().to(gpu_)), x_(b_.size(), gpu_) {}

  std::int64_t nonzeros() const {
    return neighbours_inside(one_.grid, rows_->stencil().offsets()) * rows_->dof() * rows_->dof();
  }
  /// Of as many values as A has, and nothing else.
  double copy_seconds() const {
    const Array<double> from(one_.matrix_bytes() / std::int64_t{sizeof(double)}, gpu_);
    Array<double> to(from.size(), gpu_);
    const auto times = bench::device_samples(1, 3, [&] { to.copy_from(from); });
    return bench::median(times);
  }
  void round(std::vector<Sampled>& variants) {
    for (auto& variant : variants) variant.span.push_back(setup_span(variant.stored));
    Set set;
    rows_.reset();
    set.sampling = device_measure()->seconds([&] { rows_ = one_.make_rows(gpu_); });
    set.all = device_measure()->seconds([&] { set.A = std::make_unique<TileMatrix>(rows_, one_.fill); });
    set.assembly = device_measure()->seconds([&] { set.A->assign(rows_); });
    for (auto& variant : variants) measure(set, variant);
  }

 private:
  std::unique_ptr<DeviceIlu> factored(const TileMatrix& A, Stored stored) const {
    IluOptions options;
    options.precision = stored;
    options.fill = one_.fill;
    options.shift = ShiftPolicy::none;
    return std::make_unique<DeviceIlu>(A, options, one_.solver == "cg");
  }

  /// From the problem to a preconditioner that can be applied, as a user does it: nothing is waited for in between. Less the
  /// factorization, as it is done again on the same matrix.
  double setup_span(Stored stored) {
    constexpr int factored_again = 3;
    std::unique_ptr<TileMatrix> A;
    std::unique_ptr<DeviceIlu> M;
    rows_.reset();
    const double all = device_measure()->seconds([&] {
      rows_ = one_.make_rows(gpu_);
      A = std::make_unique<TileMatrix>(rows_, one_.fill);
      M = factored(*A, stored);
    });
    std::vector<double> again;
    for (int r = 0; r < factored_again; ++r) again.push_back(M->refactor(*A).numeric_seconds);
    return std::max(0.0, all - bench::median(again));
  }

  /// The matrix of a round, what making it took, and how much of that is the writing of its rows.
  struct Set {
    std::unique_ptr<TileMatrix> A;
    double sampling = 0, all = 0, assembly = 0;
  };

  void measure(const Set& set, Sampled& to) {
    const TileMatrix& A = *set.A;
    std::unique_ptr<DeviceIlu> M;
    const double made = device_measure()->seconds([&] { M = factored(A, to.stored); });
    const double tables = M->report().symbolic_seconds;
    double factorization = M->report().numeric_seconds;
    // The first one takes memory and makes the sweeps' tables, too.
    factorization = std::min(factorization, M->refactor(A).numeric_seconds);
    if (!M->report().ok) throw Error(ErrorCode::structure, M->report().message);
    auto solved = bench::timed_solve(one_, A, b_, x_, *M);
    to.seconds.push_back(factorization + solved.seconds);
    const double rest = std::max(0.0, made - factorization);
    to.setup.push_back(set.sampling + set.all + rest);
    to.setup_parts.push_back({{"samples of the problem", set.sampling},
                              {"assembly", set.assembly},
                              {"tables and memory of the matrix", std::max(0.0, set.all - set.assembly)},
                              {"tables of the preconditioner", tables},
                              {"memory of the preconditioner", std::max(0.0, rest - tables)}});
    to.solve.push_back(solved.seconds);
    to.tables.push_back(tables);
    solved.parts.insert(solved.parts.begin(), {"factorization", factorization});
    to.parts.push_back(std::move(solved.parts));
    to.report = std::move(solved.report);
    to.answer_norm = device_measure()->fingerprint(x_.data(), x_.size()).norm;
  }

  const Device gpu_ = Device::cuda();
  const bench::BenchCase& one_;
  problems::Rows rows_;
  Vector<double> b_, x_;
};

BenchRow row_of(const bench::BenchCase& one, const Sampled& ours) {
  BenchRow row = row_of_case(one);
  row.operation = fmt::format("{} + {}{}", one.solver, one.solver == "cg" ? "ic" : "ilu", one.fill);
  row.precision = ours.report.preconditioner.precision;
  if (one.solver == "gmres") row.basis = "fp64";
  row.seconds = bench::median(ours.seconds);
  row.spread = bench::spread(ours.seconds);
  row.setup_seconds = bench::median(ours.setup);
  row.setup_span_seconds = bench::median(ours.span);
  row.solve_seconds = bench::median(ours.solve);
  row.analysis_seconds = bench::median(ours.tables);
  row.parts = medians(ours.parts);
  row.setup_parts = medians(ours.setup_parts);
  row.iterations = ours.report.iterations;
  row.relative_residual = ours.report.relative_residual;
  row.kernel = ours.report.preconditioner.kernel;
  row.schedule = ours.report.preconditioner.schedule;
  return row;
}

/// Why a contender's time does not count; empty when it was put into the row.
std::string take(const bench::BenchCase& one, const bench::ContenderLine& line, double our_norm, BenchRow& row) {
  if (!line.not_applicable.empty()) return line.not_applicable;
  if (!(line.relative_residual <= near_the_tolerance * one.rtol)) {
    return fmt::format("{}: a residual of {:.3g}, asked for was {:.1g}", line.method, line.relative_residual, one.rtol);
  }
  if (!(std::abs(line.answer.norm - our_norm) <= roughly * our_norm)) {
    return fmt::format("{}: another answer: norm {:.6g}, expected {:.6g}", line.method, line.answer.norm, our_norm);
  }
  PeerTime peer;
  peer.name = line.contender;
  peer.method = line.method;
  peer.seconds = line.seconds;
  peer.analysis_seconds = line.setup_seconds;
  peer.iterations = line.iterations;
  peer.relative_residual = line.relative_residual;
  peer.parts = line.parts;
  row.peers.push_back(std::move(peer));
  return "";
}

}  // namespace

std::vector<TimePart> medians(const std::vector<std::vector<TimePart>>& rounds) {
  std::vector<TimePart> parts = rounds.front();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    std::vector<double> samples;
    for (const auto& round : rounds) samples.push_back(round[p].seconds);
    parts[p].seconds = bench::median(samples);
  }
  return parts;
}

MeasuredSolves measure_device_solves(const bench::BenchCase& one, int rounds, const std::vector<Stored>& storages) {
  // The first use of a kernel loads it.
  constexpr std::int64_t tiny_side = 12;
  bench::BenchCase tiny = one;
  for (std::int64_t* side : {&tiny.grid.nx, &tiny.grid.ny, &tiny.grid.nz}) *side = std::min(*side, tiny_side);
  std::vector<Sampled> dropped, kept;
  for (const Stored stored : storages) {
    dropped.emplace_back(stored);
    kept.emplace_back(stored);
  }
  DeviceSolves(tiny).round(dropped);
  DeviceSolves solves(one);
  for (int r = 0; r < rounds; ++r) solves.round(kept);
  MeasuredSolves ours;
  for (const auto& variant : kept) {
    ours.rows.push_back(row_of(one, variant));
    ours.rows.back().nonzeros = solves.nonzeros();
    ours.rows.back().copy_seconds = solves.copy_seconds();
  }
  ours.answer_norm = kept.front().answer_norm;
  return ours;
}

void compare_with(const std::vector<Contender>& contenders, const bench::BenchCase& one, double answer_norm,
                  const Progress& progress, BenchRow& row, CaseResult& result) {
  for (const auto& contender : contenders) {
    progress(contender.name);
    const auto said = run_device_contender(contender, one);
    if (!said.trouble.empty()) result.not_compared.push_back({one.name(), contender.name, said.trouble});
    for (const auto& line : said.lines) {
      const auto why = take(one, line, answer_norm, row);
      if (!why.empty()) result.not_compared.push_back({one.name(), contender.name, why});
    }
  }
}

CaseResult measure_device_solve(const bench::BenchCase& one, int rounds, const std::vector<Contender>& contenders,
                                const Progress& progress) {
  progress("echelon");
  auto ours = measure_device_solves(one, rounds, {Stored::fp64, Stored::fp32});
  CaseResult result;
  result.rows = std::move(ours.rows);
  compare_with(contenders, one, ours.answer_norm, progress, result.rows.front(), result);
  return result;
}

}  // namespace echelon::cli
