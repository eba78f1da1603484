// SPDX-License-Identifier: BSD-3-Clause
// Order → rows measured → rounds by the policy → triangles and the order of their rows → sweeps. The host's part is that of
// parilut.cpp.
#include "echelon/precond/ilu_gpu/device_parilut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/factor/fixed_point/device_fixed_point.hpp"
#include "echelon/factor/fixed_point/device_threshold.hpp"
#include "echelon/factor/rows_gpu/device_pattern_view.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/precond/ilu_gpu/device_factored_solve.hpp"
#include "echelon/schedule/orders/colouring.hpp"

namespace echelon {
namespace {

const BlockCsr<double>& checked(const BlockCsr<double>& A, const IluOptions& options) {
  check_options(options);
  require_elimination(options, "ParILUT");
  if (!device_threshold_kernels()) throw Error(ErrorCode::device, "ParILUT on a GPU: this build has no CUDA");
  if (A.device().is_host()) throw Error(ErrorCode::bad_argument, "ParILUT on a GPU: the matrix is on the host");
  if (!A.square()) {
    throw Error(ErrorCode::not_square, fmt::format("ILU needs a square matrix; got {}×{}", A.rows(), A.columns()));
  }
  if (A.block() != 1) {
    throw Error(ErrorCode::bad_argument, fmt::format("ParILUT takes blocks of size 1; got {}", A.block()));
  }
  return A;
}

}  // namespace

struct DeviceParilut::Impl {
  IluOptions options;
  bool symmetric;
  Device device;
  std::int64_t rows;
  std::string title;
  Array<std::int32_t> order, order_there;  // empty when natural
  DeviceTriangle lower, upper;
  Array<double> lower_values, upper_values, inverse_diagonal;
  Array<double> probe;  // a vector for the estimate of growth
  DeviceFactoredSolve solve;
  ThresholdOutcome outcome;
  PivotLog log;
  FactorReport report;

  Impl(const BlockCsr<double>& A, const IluOptions& options_, bool symmetric_)
      : options(options_),
        symmetric(symmetric_),
        device(A.device()),
        rows(A.rows()),
        title(symmetric ? "ParICT" : "ParILUT"),
        probe(rows, device),
        solve(device, rows) {
    if (options.factor_sweeps == 0) options.factor_sweeps = default_sweeps;
    if (natural()) return;
    const Timer timer;
    const BlockCsr<double> host = A.to(Device::host());
    auto found = elimination_order({rows, host.row_start().data(), host.column().data()}, options.ordering);
    order = std::move(found.order);
    order_there = order.to(device);
    report.colours = found.colours;
    report.symbolic_seconds = report.ordering_seconds = timer.seconds();
  }

  bool natural() const { return options.ordering == Ordering::natural; }

  void factor(const BlockCsr<double>& user) {
    const Timer timer;
    std::optional<BlockCsr<double>> reordered;
    if (!natural()) reordered.emplace(permuted(user.to(Device::host()), order.span()).to(device));
    const BlockCsr<double>& A = natural() ? user : *reordered;
    report.remarks.clear();
    const ThresholdLimits limits = limits_for(A);
    if (report.missing_diagonals > 0) {
      report.remarks.push_back(
          fmt::format("{} diagonal entries were missing and inserted as zero", report.missing_diagonals));
    }
    Array<double> scale(rows, device);
    Array<std::uint8_t> nonfinite(rows, device);
    Array<unsigned long long> norm(1, 0ull, device);
    const RowMeasures known{scale.data(), nonfinite.data(), norm.data()};
    row_factor_kernels()->measure(device.index, A.view(), known);
    const double largest = rows > 0 ? cuda_backend()->largest(device.index, scale.data(), rows) : 0;
    const double norm_of_A = std::bit_cast<double>(norm.to(Device::host())[0]);
    DeviceThresholdRounds rounds(A.view(), natural() ? nullptr : order_there.data(), known, largest, device,
                                 {device_threshold_kernels(), device_fixed_point_kernels()});
    Array<FactorStatus> status(1, FactorStatus{}, device);
    factor_with_policy(
        options, symmetric, title, log,
        [&](const Attempt& one) {
          row_factor_kernels()->begin(device.index, A.view(), status.data());
          const PivotRules rules{options.pivot_tolerance, one.shift, one.boost, symmetric, 0, nullptr};
          DeviceSweptRows S;
          outcome = rounds.run(rules, limits, status.data(), S);
          if (rows == 0) return;
          take(S, status.data());
          const FactorStatus found = status.to(Device::host())[0];
          outcome.norm = norm_of_A;
          outcome.inverse_bound = bounds_in(found).of_inverse();
          log.take(found.notes);
          log.record_change(std::bit_cast<double>(found.change), norm_of_A);
        },
        [&] { return rows == 0 ? 0 : outcome.growth([this] { return inverse_growth(); }); }, report);
    describe(A);
    solve.choose(options.trisolve, report);
    report.numeric_seconds = timer.seconds();
  }

  /// The limit is on L + U with one diagonal each, as on those of A.
  ThresholdLimits limits_for(const BlockCsr<double>& A) {
    Array<std::int64_t> start(rows + 1, device);
    const PatternView pattern{rows, A.row_start().data(), A.column().data()};
    const PatternFacts facts = pattern_kernels()->count(device.index, {pattern, A.blocks(), start.data()});
    report.missing_diagonals = facts.missing;
    const std::int64_t above = A.blocks() - (rows - facts.missing) - facts.below;
    return {entry_limit(facts.below), entry_limit(above), options.factor_sweeps, symmetric};
  }
  std::int64_t entry_limit(std::int64_t entries) const {
    const double all = options.fill_limit * static_cast<double>(entries + rows) - static_cast<double>(rows);
    return all > 0 ? static_cast<std::int64_t>(all) : 0;
  }

  /// The rows of S become the factors: L = S D⁻¹ below the diagonal.
  void take(DeviceSweptRows& S, FactorStatus* status) {
    const SweptPattern pattern = S.pattern.view();
    lower_values = Array<double>(pattern.lower_entries, device);
    DeviceFixedPointView finished;
    finished.A.block = 1;
    finished.pattern = pattern;
    finished.last = S.values.view();
    finished.next.lower = lower_values.data();
    finished.status = status;
    device_fixed_point_kernels()->finish(device.index, finished);
    upper_values = std::move(S.values.upper);
    inverse_diagonal = std::move(S.values.inverse);
    const std::int64_t entries = pattern.lower_entries + rows + pattern.upper_entries;
    Pattern whole{Array<std::int64_t>(rows + 1, device), Array<std::int32_t>(entries, device)};
    device_threshold_kernels()->join(device.index, pattern, whole.start.data(), whole.column.data());
    DeviceTriangles made = cut_on_device(whole.view(), entries, options.schedule, device);
    lower = std::move(made.lower);
    upper = std::move(made.upper);
    solve.place({lower, lower_values, order_there}, {upper, upper_values, order_there}, inverse_diagonal, 1);
  }

  /// ‖(LU)⁻¹ e‖∞
  double inverse_growth() {
    cuda_backend()->fill(device.index, probe.data(), rows, 1);
    solve.sweeps.apply(probe.data(), probe.data());
    const double largest = cuda_backend()->largest(device.index, probe.data(), rows);
    solve.sweeps.check();
    return std::isfinite(largest) ? largest : std::numeric_limits<double>::infinity();
  }

  void describe(const BlockCsr<double>& A) {
    report.name = symmetric ? "parict" : "parilut";
    report.kind = PrecondKind::fill_limit;
    report.symmetric = symmetric;
    report.ordering = word(options.ordering);
    report.factor_kernel = threshold_rounds_name;
    report.block = 1;
    report.schedule = lower.tickets.empty() ? "rows in order" : "rows by depth";
    report.levels = lower.levels;
    const auto stored = static_cast<double>(lower.distance.size() + upper.distance.size() + rows);
    report.fill_ratio = A.blocks() > 0 ? stored / static_cast<double>(A.blocks()) : 1;
    report.bytes = lower.bytes() + upper.bytes() + lower_values.bytes() + upper_values.bytes() + inverse_diagonal.bytes() +
                   order.bytes() + order_there.bytes() + probe.bytes() + solve.bytes();
    report.factor_sweeps = options.factor_sweeps;
    report.fill_limit = options.fill_limit;
    report.threshold = std::min(outcome.lower_threshold, outcome.upper_threshold);
    outcome.tell(title, options.factor_sweeps, "rounds of fixed-point sweeps", log, report);
  }
};

DeviceParilut::DeviceParilut(const BlockCsr<double>& A, const IluOptions& options, bool symmetric)
    : impl_(std::make_unique<Impl>(checked(A, options), options, symmetric)) {
  impl_->factor(A);
}
DeviceParilut::DeviceParilut(DeviceParilut&&) noexcept = default;
DeviceParilut& DeviceParilut::operator=(DeviceParilut&&) noexcept = default;
DeviceParilut::~DeviceParilut() = default;

void DeviceParilut::apply(const Vector<double>& r, Vector<double>& z) const { impl_->solve.apply(impl_->report, r, z); }

void DeviceParilut::apply_many(std::span<const Vector<double>> r, std::span<Vector<double>> z) const {
  impl_->solve.apply_many(impl_->report, r, z);
}

void DeviceParilut::settle() const { impl_->solve.settle(impl_->report); }

const FactorReport& DeviceParilut::report() const { return impl_->report; }

const FactorReport& DeviceParilut::refactor(const BlockCsr<double>& A) {
  Impl& of = *impl_;
  if (A.device() != of.device || A.block_rows() != of.rows || A.block_columns() != of.rows || A.block() != 1) {
    throw Error(ErrorCode::structure,
                fmt::format("refactor got {}×{} rows on {}, but {}×{} on {} were factored first", A.rows(), A.columns(),
                            A.device().name(), of.rows, of.rows, of.device.name()));
  }
  of.report.symbolic_seconds = of.report.ordering_seconds = 0;
  of.factor(A);
  return of.report;
}

DeviceParilut::Factors DeviceParilut::factors() const {
  const Device host = Device::host();
  const Impl& of = *impl_;
  return {of.lower.start.to(host),  of.upper.start.to(host),      of.lower.distance.to(host), of.upper.distance.to(host),
          of.lower_values.to(host), of.inverse_diagonal.to(host), of.upper_values.to(host)};
}

}  // namespace echelon
