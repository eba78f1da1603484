// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_cuda_block.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/measure/block_matrix.hpp"
#include "bench/measure/device_measure.hpp"
#include "bench/measure/sampling.hpp"
#include "bench/program/bench_ours.hpp"
#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/precond/ilu_gpu/device_block_ilu.hpp"

namespace echelon::cli {
namespace {

using bench::device_measure;

/// A sweep repeats so often as an analysis with its first factorization once.
constexpr int sweeps_an_analysis = 3;

struct Way {
  const char* suffix;
  Ordering ordering;
  SweepSchedule schedule;
};
constexpr Way chosen{"", Ordering::natural, SweepSchedule::automatic},
    by_depth{" (rows by depth)", Ordering::natural, SweepSchedule::levels},
    in_order{" (rows in order)", Ordering::natural, SweepSchedule::sequential},
    by_rcm{" (own rcm)", Ordering::rcm, SweepSchedule::automatic};

struct Operation {
  const char *name, *peers;  // ours, and what contenders call it
};
constexpr Operation operations[] = {
    {"analysis", "analysis"},         {"ilu0 first factorization", "factor"},
    {"ilu0 factorization", "factor"}, {"ilu0 factorization beside a checked one of a copy", "refactor"},
    {"lower sweep", "lower"},         {"upper sweep", "upper"}};

/// The rows of a way, in the order of `operations`, and its answer U⁻¹ L⁻¹ r.
struct Measured {
  std::vector<BenchRow> rows;
  bench::Fingerprint answer;
};

class BlockRun {
 public:
  BlockRun(const bench::BenchCase& one, int repeats)
      : one_(one), repeats_(repeats), A_(bench::block_matrix(one).to(gpu_)), r_(A_.rows(), gpu_), x_(A_.rows(), gpu_) {
    device_measure()->make_right_hand_side(r_.data(), r_.size());
  }

  Measured measure(const Way& way) {
    const int fewer = std::max(1, repeats_ / sweeps_an_analysis);
    IluOptions options;
    options.shift = ShiftPolicy::none;
    options.ordering = way.ordering;
    options.schedule = way.schedule;
    std::vector<double> analysis, first;
    std::unique_ptr<DeviceBlockIlu> M;
    // Cuthill-McKee on the host is no part of what contenders do, and slow. Otherwise one goes first that takes the memory
    // from the system: contenders have theirs, too, before they analyse.
    const bool rcm = way.ordering == Ordering::rcm;
    for (int i = rcm ? 0 : -1; i < (rcm ? 1 : fewer); ++i) {
      M.reset();
      M = std::make_unique<DeviceBlockIlu>(A_, options);
      if (i < 0) continue;
      analysis.push_back(M->report().symbolic_seconds);
      first.push_back(M->report().numeric_seconds);
    }
    const auto factor = bench::device_samples_for_a_while([&] { require_factored(M->refactor(A_)); });
    const auto lower = bench::device_samples(1, repeats_, [&] { M->lower(r_); });
    const auto upper = bench::device_samples(
        1, repeats_, [&] { M->upper(x_); }, [&] { M->lower(r_); });
    M->settle();
    Measured found;
    found.answer = device_measure()->fingerprint(x_.data(), x_.size());
    for (const auto& samples : {analysis, first, factor, factor, lower, upper}) {
      const std::size_t which = found.rows.size();
      BenchRow row = row_of_case(one_);
      row.n = A_.rows();
      row.nonzeros = A_.nonzeros();
      row.operation = std::string(operations[which].name) + way.suffix;
      row.seconds = bench::median(samples);
      row.spread = bench::spread(samples);
      row.analysis_seconds = which == 0 ? 0 : bench::median(analysis);
      row.bytes = bytes(which);
      row.kernel = M->report().kernel;
      row.schedule = M->report().schedule;
      found.rows.push_back(std::move(row));
    }
    return found;
  }

 private:
  static void require_factored(const FactorReport& report) {
    if (!report.ok) throw Error(ErrorCode::structure, report.message);
  }

  /// What must move: 8 b² + 4 an entry (factorization: twice), 16 b + 8 a row of a sweep; half the entries are in either
  /// triangle, the diagonal in U.
  double bytes(std::size_t which) const {
    const double rows = static_cast<double>(A_.block_rows()), b = A_.block();
    const double entry = 8 * b * b + 4, entries = static_cast<double>(A_.blocks());
    if (which == 0) return 0;
    if (which <= 3) return 2 * entries * entry + 16 * rows;
    const double triangle = 0.5 * (entries - rows) * entry + rows * (16 * b + 8);
    return which == 4 ? triangle : triangle + 8 * b * b * rows;
  }

  const Device gpu_ = Device::cuda();
  const bench::BenchCase& one_;
  const int repeats_;
  BlockCsr<double> A_;
  Vector<double> r_, x_;
};

/// Takes a contender's line into the rows of its operation, when its answer is ours; the reason when it does not count.
std::string take(const bench::ContenderLine& line, const std::vector<Measured*>& ways) {
  constexpr double rounding = 1e-8;
  if (!line.not_applicable.empty()) return line.not_applicable;
  if (std::ranges::find(operations, line.operation, &Operation::peers) == std::end(operations)) {
    return fmt::format("{} is not among what is measured", line.operation);
  }
  const auto expected = ways.front()->answer;
  if (!agree(expected, line.answer, rounding)) {
    return fmt::format("{}: another answer: norm {:.12g}, expected {:.12g}", line.method, line.answer.norm, expected.norm);
  }
  PeerTime peer;
  peer.name = line.contender;
  peer.method = line.method;
  peer.seconds = line.seconds;
  peer.analysis_seconds = line.setup_seconds;
  for (auto* way : ways) {
    for (std::size_t n = 0; n < std::size(operations); ++n) {
      if (line.operation == operations[n].peers) way->rows[n].peers.push_back(peer);
    }
  }
  return "";
}

/// The first use of a kernel loads it.
void warm_up(int dof) {
  bench::BenchCase tiny;
  tiny.kind = "block";
  tiny.dof = dof;
  for (const Way& way : {by_depth, in_order}) BlockRun(tiny, 1).measure(way);
}

}  // namespace

CaseResult measure_device_block(const bench::BenchCase& one, const BlockPlan& plan, const Progress& progress) {
  progress("echelon");
  warm_up(one.dof);
  Measured first, depth, order, rcm;
  {
    BlockRun run(one, plan.repeats);
    first = run.measure(chosen);
    depth = run.measure(by_depth);
    order = run.measure(in_order);
    if (one.numbering != "rcm") rcm = run.measure(by_rcm);
  }
  if (order.answer.norm != depth.answer.norm || order.answer.probe != depth.answer.probe) {
    throw Error(ErrorCode::internal,
                fmt::format("rows in order: norm {:.17g}, by depth {:.17g}", order.answer.norm, depth.answer.norm));
  }
  CaseResult result;
  for (const auto& contender : plan.contenders) {
    progress(contender.name);
    const auto said = run_device_contender(contender, one);
    if (!said.trouble.empty()) result.not_compared.push_back({one.name(), contender.name, said.trouble});
    for (const auto& line : said.lines) {
      const auto why = take(line, {&first, &depth, &order});
      if (!why.empty()) result.not_compared.push_back({one.name(), contender.name, why});
    }
  }
  const double copy = cuda_backend()->copy_bandwidth(Device::cuda().index);
  for (auto* way : {&first, &depth, &order, &rcm}) {
    for (auto& row : way->rows) {
      row.copy = copy;
      result.rows.push_back(std::move(row));
    }
  }
  return result;
}

}  // namespace echelon::cli
