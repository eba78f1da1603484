// SPDX-License-Identifier: BSD-3-Clause
// Checks, allocation and the order of the steps: triangles and tickets on the device (ordering and fill on the host) → rows
// measured → factor by the policy → sweeps. The host's part is that of block_ilu.cpp.
#include "echelon/precond/ilu_gpu/device_block_ilu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/cuda/device_numbers.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/factor/counted_fill.hpp"
#include "echelon/factor/fixed_point/device_fixed_point.hpp"
#include "echelon/factor/pivots/factor_bounds.hpp"
#include "echelon/factor/rows_gpu/device_pattern_view.hpp"
#include "echelon/factor/rows_gpu/device_triangles.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/precond/ilu_gpu/device_block_factor.hpp"
#include "echelon/precond/ilu_gpu/device_factored_solve.hpp"
#include "echelon/schedule/orders/colouring.hpp"

namespace echelon {
namespace {

const BlockCsr<double>& checked(const BlockCsr<double>& A, const IluOptions& options) {
  check_options(options);
  require_elimination(options, "ILU on a GPU");
  if (!row_factor_kernels()) throw Error(ErrorCode::device, "block ILU on a GPU: this build has no CUDA");
  if (A.device().is_host()) throw Error(ErrorCode::bad_argument, "block ILU on a GPU: the matrix is on the host");
  if (options.precision != Stored::fp64) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("factors stored in {}: only those on a structured grid can be; this is block CSR",
                            word(options.precision)));
  }
  if (!A.square()) {
    throw Error(ErrorCode::not_square, fmt::format("ILU needs a square matrix; got {}×{}", A.rows(), A.columns()));
  }
  return A;
}

template <class S>
Array<S> copied(std::span<const S> from, Device from_device, Device to_device) {
  Array<S> copy(static_cast<std::int64_t>(from.size()), to_device);
  copy_bytes(copy.data(), to_device, from.data(), from_device, copy.bytes());
  return copy;
}

/// A triangle, the order of its rows, and its values.
struct FactorTriangle : DeviceTriangle {
  Array<double> values;

  FactorTriangle() = default;
  FactorTriangle(DeviceTriangle pattern, int block, Device device)
      : DeviceTriangle(std::move(pattern)), values(distance.size() * block * block, device) {}
  std::int64_t bytes() const { return DeviceTriangle::bytes() + values.bytes(); }
};

PatternView pattern_of(const BlockCsr<double>& A) { return {A.block_rows(), A.row_start().data(), A.column().data()}; }

}  // namespace

struct DeviceBlockIlu::Impl {
  IluOptions options;
  bool positive;
  Device device;
  std::int64_t rows, entries_of_A;
  int block;
  std::string title;
  bool grown = false;
  Array<std::int32_t> order, position;  // empty when natural
  FactorTriangle lower, upper;
  Array<double> inverse_diagonal;
  int longest = 1;
  DeviceBlockFactor work;
  std::optional<DeviceFixedPoint> fixed_point;
  FixedPointOutcome swept;
  PivotLog log;
  DeviceFactoredSolve solve;
  FactorReport report;

  Impl(const BlockCsr<double>& A, const IluOptions& options_, bool positive_)
      : options(options_),
        positive(positive_),
        device(A.device()),
        rows(A.block_rows()),
        entries_of_A(A.blocks()),
        block(A.block()),
        title(fmt::format("{}{}({})", options.factor_sweeps > 0 ? "Par" : "", positive ? "IC" : "ILU", options.fill)) {
    make_pattern(A);
    prepare_factorization();
    solve = DeviceFactoredSolve(device, rows * block);
    solve.place({lower, lower.values, order}, {upper, upper.values, order}, inverse_diagonal, block);
    describe();
    // Waits for the device, so that the time of all this is known.
    number_kernels()->fetch(device.index, {});
  }

  bool natural() const { return options.ordering == Ordering::natural; }

  void make_pattern(const BlockCsr<double>& A) {
    const bool as_it_stands = natural() && options.fill == 0;
    DeviceTriangles made;
    if (as_it_stands) made = cut(pattern_of(A), entries_of_A);
    if (!as_it_stands || made.missing_diagonals > 0) made = cut_ordered(A);
    report.levels = made.lower.levels;
    longest = std::max(1, made.longest);
    lower = FactorTriangle(std::move(made.lower), block, device);
    upper = FactorTriangle(std::move(made.upper), block, device);
    const auto stored = static_cast<double>(lower.distance.size() + upper.distance.size() + rows);
    report.fill_ratio = entries_of_A > 0 ? stored / static_cast<double>(entries_of_A) : 1;
    inverse_diagonal = Array<double>(rows * block * block, device);
  }

  /// A pattern on the device, once the factors have room there.
  DeviceTriangles cut(const PatternView& pattern, std::int64_t entries) const {
    const std::int64_t bb = std::int64_t{block} * block;
    require_memory(entries * (bb * 8 + 4) + rows * (48 + 32 * std::int64_t{block}), title, device);
    return cut_on_device(pattern, entries, options.schedule, device);
  }

  /// What takes a look from the host: Cuthill-McKee's order, fill, diagonals that are missing.
  DeviceTriangles cut_ordered(const BlockCsr<double>& A) {
    const Pattern host{copied(A.row_start(), device, Device::host()), copied(A.column(), device, Device::host())};
    report.missing_diagonals = missing_diagonals(host.view());
    grown = report.missing_diagonals > 0 || options.fill > 0;
    Array<std::int32_t> to_user, from_user;
    if (!natural()) {
      const Timer timer;
      auto found = elimination_order(host.view(), options.ordering);
      to_user = std::move(found.order);
      report.colours = found.colours;
      report.ordering_seconds = timer.seconds();
      from_user = Array<std::int32_t>(rows);
      for (std::int64_t i = 0; i < rows; ++i) from_user[to_user[i]] = static_cast<std::int32_t>(i);
    }
    order = to_user.to(device);
    position = from_user.to(device);
    if (!grown && longest_row(host) <= longest_permuted_row) {
      return cut(permuted_on_device(pattern_of(A), entries_of_A, order, position).view(), entries_of_A);
    }
    Pattern pattern = elimination_pattern(host.view(), to_user.span(), from_user.span());
    if (options.fill > 0) {
      const std::int64_t products = std::int64_t{block} * block * block;
      WorkBudget budget(title, (options.most_operations + products - 1) / products);
      pattern = filled_pattern(pattern.view(), options.fill, budget);
    }
    const Pattern there{pattern.start.to(device), pattern.column.to(device)};
    return cut(there.view(), there.column.size());
  }

  static std::int64_t longest_row(const Pattern& pattern) {
    std::int64_t longest = 0;
    for (std::int64_t i = 0; i + 1 < pattern.start.size(); ++i) {
      longest = std::max(longest, pattern.start[i + 1] - pattern.start[i]);
    }
    return longest;
  }

  void prepare_factorization() {
    const FactorView<double> view{{rows, block, nullptr, nullptr, nullptr},
                                  order.empty() ? nullptr : order.data(),
                                  position.empty() ? nullptr : position.data(),
                                  grown,
                                  lower.start.data(),
                                  upper.start.data(),
                                  lower.distance.data(),
                                  upper.distance.data(),
                                  lower.values.data(),
                                  upper.values.data(),
                                  inverse_diagonal.data(),
                                  {}};
    const DeviceBlockFactor::Size size{
        entries_of_A,   lower.distance.size(),     upper.distance.size(), longest, lower.mean_entries + upper.mean_entries,
        lower.far_rows, options.factor_sweeps == 0};
    work = DeviceBlockFactor(view, lower.tickets.empty() ? nullptr : lower.tickets.data(), size, device, title);
    if (options.factor_sweeps > 0) fixed_point.emplace(view, swept_pattern(rows, lower, upper), device);
  }

  void describe() {
    name_levels(report, positive, fixed_point ? "par" : report.colours > 0 ? "mc" : "");
    report.factor_sweeps = options.factor_sweeps;
    report.factor_kernel = fixed_point ? fixed_point->kernel() : work.kernel();
    report.fill = options.fill;
    report.block = block;
    report.ordering = word(options.ordering);
    report.schedule = lower.tickets.empty() ? "rows in order" : "rows by depth";
    report.bytes = lower.bytes() + upper.bytes() + inverse_diagonal.bytes() + order.bytes() + position.bytes() +
                   work.bytes() + solve.bytes() + (fixed_point ? fixed_point->bytes() : 0);
    report.bad_pivots.reserve(PivotLog::kept);
  }

  void factor(const BlockCsr<double>& A) {
    const Timer timer;
    report.remarks.clear();
    if (report.missing_diagonals > 0) {
      report.remarks.push_back(fmt::format("{} diagonal {} missing and inserted as zero", report.missing_diagonals,
                                           block > 1 ? "blocks were" : "entries were"));
    }
    Array<RowSweepWord> words = work.words_to_lend();
    work.prepare(A, words);
    factor_with_policy(
        options, positive, title, log,
        [&](const Attempt& one) {
          attempt({options.pivot_tolerance, one.shift, one.boost, positive, 0, nullptr});
        },
        [&] { return growth(); }, report);
    if (fixed_point) swept.tell(title, options.factor_sweeps, "fixed-point sweeps", log, report);
    solve.choose(options.trisolve, report);
    report.numeric_seconds = timer.seconds();
  }

  void attempt(const PivotRules& rules) {
    if (rows == 0) return;
    const FactorStatus found = fixed_point ? sweep_to_fixed_point(rules) : work.eliminate(rules, solve.sweeps);
    log.take(found.notes);
    log.record_change(std::bit_cast<double>(found.change), work.norm());
    swept.norm = work.norm();
    if (block == 1) swept.inverse_bound = bounds_in(found).of_inverse();
  }

  FactorStatus sweep_to_fixed_point(const PivotRules& rules) {
    work.begin();
    FactorView<double> view = work.rows();
    view.rules = rules;
    const double largest = cuda_backend()->largest(device.index, work.scale().data(), rows);
    swept = fixed_point->run(view, work.known(), work.status(), largest, options.factor_sweeps);
    return work.read();
  }

  /// ‖(LU)⁻¹ e‖∞·‖A‖∞, or a bound that says enough.
  double growth() {
    if (rows == 0) return 0;
    return fixed_point ? swept.growth([this] { return swept_growth(); }) : work.growth(solve.sweeps);
  }

  /// ‖(LU)⁻¹ e‖∞ of factors that were not eliminated.
  double swept_growth() {
    Array<double>& x = work.vector();
    cuda_backend()->fill(device.index, x.data(), x.size(), 1);
    solve.sweeps.apply(x.data(), x.data());
    const double largest = cuda_backend()->largest(device.index, x.data(), x.size());
    solve.sweeps.check();
    return std::isfinite(largest) ? largest : std::numeric_limits<double>::infinity();
  }
};

DeviceBlockIlu::DeviceBlockIlu(const BlockCsr<double>& A, const IluOptions& options, bool positive) {
  const Timer timer;
  impl_ = std::make_unique<Impl>(checked(A, options), options, positive);
  impl_->report.symbolic_seconds = timer.seconds();
  impl_->factor(A);
}
DeviceBlockIlu::DeviceBlockIlu(DeviceBlockIlu&&) noexcept = default;
DeviceBlockIlu& DeviceBlockIlu::operator=(DeviceBlockIlu&&) noexcept = default;
DeviceBlockIlu::~DeviceBlockIlu() = default;

void DeviceBlockIlu::apply(const Vector<double>& r, Vector<double>& z) const { impl_->solve.apply(impl_->report, r, z); }

void DeviceBlockIlu::apply_many(std::span<const Vector<double>> r, std::span<Vector<double>> z) const {
  impl_->solve.apply_many(impl_->report, r, z);
}

void DeviceBlockIlu::lower(const Vector<double>& r) const {
  impl_->solve.require_applicable(impl_->report, r, "right-hand side of an ILU");
  impl_->solve.sweeps.lower(r.data());
}

void DeviceBlockIlu::upper(Vector<double>& z) const {
  impl_->solve.require_applicable(impl_->report, z, "result of an ILU");
  impl_->solve.sweeps.upper(z.data());
}

void DeviceBlockIlu::settle() const { impl_->solve.settle(impl_->report); }

const FactorReport& DeviceBlockIlu::report() const { return impl_->report; }

const FactorReport& DeviceBlockIlu::refactor(const BlockCsr<double>& A) {
  Impl& of = *impl_;
  if (A.device() != of.device || A.block_rows() != of.rows || A.block_columns() != of.rows || A.block() != of.block ||
      A.blocks() != of.entries_of_A) {
    refuse_pattern();
  }
  FactorReport before = of.report;
  of.report.symbolic_seconds = of.report.ordering_seconds = 0;
  try {
    of.factor(A);
  } catch (const Error& error) {
    // The factors are what they were.
    if (error.code() == ErrorCode::structure) of.report = std::move(before);
    throw;
  }
  return of.report;
}

DeviceBlockIlu::Factors DeviceBlockIlu::factors() const {
  const Device host = Device::host();
  return {impl_->lower.values.to(host), impl_->inverse_diagonal.to(host), impl_->upper.values.to(host)};
}

void DeviceBlockIlu::leave_out_of_factorization(int rows, double seconds) { impl_->work.leave_out(rows, seconds); }

void DeviceBlockIlu::leave_out_of_sweep(int tickets, double seconds) { impl_->solve.sweeps.leave_out(tickets, seconds); }

}  // namespace echelon
