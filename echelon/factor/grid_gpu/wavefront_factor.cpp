// SPDX-License-Identifier: BSD-3-Clause
// The host's side of the factorization on a GPU: its tables, the policy's attempts, the report.
#include "echelon/factor/grid_gpu/wavefront_factor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/factor/grid/struct_factor.hpp"
#include "echelon/factor/grid_checks.hpp"
#include "echelon/factor/grid_gpu/wavefront_factor_view.hpp"
#include "echelon/factor/pivots/factor_bounds.hpp"

namespace echelon {
namespace {

/// What a tile waits for takes microseconds; a GPU that is shared or stopped by a debugger may take seconds.
constexpr std::int64_t patience_nanoseconds = 20'000'000'000;

/// Reaches of the neighbours that some point has.
bool is_in_grid(const Offset& o, const Wavefront& front) {
  return std::abs(o.x) < front.nx && std::abs(o.y) < front.ny && std::abs(o.z) < front.nz;
}

/// One that no point has stands at its own point: kernels may look there, and at no record that is none.
std::vector<FactorEntry> entries_of(const EliminationPlan& plan, const Wavefront& front) {
  std::vector<FactorEntry> entries;
  for (const Offset& o : plan.offsets) {
    const int y = o.y + front.c * o.z, x = o.x + front.a * o.y + front.b * o.z;
    entries.push_back(is_in_grid(o, front) ? FactorEntry{o.x, o.y, o.z, y, o.z, x + y + o.z}
                                           : FactorEntry{o.x, o.y, o.z, 0, 0, 0});
  }
  return entries;
}

template <class S>
Array<S> on_device(const std::vector<S>& host, Device device) {
  Array<S> copy(static_cast<std::int64_t>(host.size()), device);
  copy_bytes(copy.data(), device, host.data(), Device::host(), copy.bytes());
  return copy;
}

}  // namespace

template <class T>
struct WavefrontFactor<T>::Impl {
  const TileOrder& order;
  IluOptions options;
  bool positive;
  std::string title;
  EliminationPlan plan;
  const WavefrontFactorKernels<T>* kernels;
  Array<FactorEntry> entries;
  Array<RowItem> items;
  Array<FactorPair> pairs;
  Array<int> first_pair, first_item;
  Array<unsigned char> records, scratch;
  Array<FactorStatus> status;
  Array<unsigned> progress;
  Array<int> team_order;
  WavefrontFactorView<T> view{};
  FactorLaunch launch;
  PivotLog log;
  FactorStatus found{};

  Impl(const TileOrder& order_, const IluOptions& options_, bool positive_, FactorKernel kernel)
      : order(order_),
        options(options_),
        positive(positive_),
        title(fmt::format("{}({})", positive ? "IC" : "ILU", options.fill)),
        plan(order.stencil()),
        kernels(wavefront_factor_kernels<T>()) {
    check_options(options);
    if (!kernels) throw Error(ErrorCode::device, "factorization on a GPU: this build has no CUDA");
    if (order.device().is_host()) {
      throw Error(ErrorCode::bad_argument, "factorization on a GPU: got a tile order on the host, expected one on a GPU");
    }
    copy_plan();
    describe();
    view.kernel = kernel;
    view.item_count = static_cast<int>(schedule_row(plan, 1).items.size());
    launch = kernels->plan(order.device().index, view);
    share_rows();
    count_progress();
    view.scratch_bytes = launch.scratch_bytes;
    scratch = Array<unsigned char>(launch.scratch_bytes * (launch.generic ? launch.blocks : 0), order.device());
    view.scratch = scratch.data();
    kernels->records(order.device().index, view.vector, records.data(), view.record_bytes);
  }

  void copy_plan() {
    const Device device = order.device();
    entries = on_device(entries_of(plan, order.vector().front), device);
    std::vector<FactorPair> of_targets;
    for (const auto [m, u] : plan.pair) of_targets.push_back({m, u});
    pairs = on_device(of_targets, device);
    first_pair = on_device(std::vector<int>(plan.first.begin(), plan.first.end()), device);
    const int shape_z = order.vector().tiles.shape.z;
    view.record_bytes = (static_cast<int>(sizeof(FactorRecord)) + 4 * shape_z + 15) / 16 * 16;
    view.runs = order.runs();
    records = Array<unsigned char>(view.runs * view.record_bytes, device);
    status = Array<FactorStatus>(1, device);
  }

  void share_rows() {
    const RowSchedule schedule = schedule_row(plan, launch.groups);
    items = on_device(schedule.items, order.device());
    first_item = on_device(schedule.first, order.device());
    view.items = items.data();
    view.first_item = first_item.data();
    view.center_group = schedule.center_group;
    view.groups = launch.groups;
    view.warps = launch.warps;
  }

  /// Room for what tiles or teams say of themselves, and the teams' order.
  void count_progress() {
    const Device device = order.device();
    view.progress_count = order.vector().tiles.count;
    if (launch.team_lines > 0) {
      const Wavefront& front = order.vector().front;
      const int in_plane = (front.rows_y() + launch.team_lines - 1) / launch.team_lines;
      const std::vector<int> teams = tile_places_in_order(front, order.stencil(), {launch.team_lines, 1});
      team_order = on_device(teams, device);
      view.teams = {team_order.data(), static_cast<int>(teams.size()), in_plane};
      view.progress_count = in_plane * front.nz;
    }
    progress = Array<unsigned>(view.progress_count, device);
    view.progress = progress.data();
  }

  void describe() {
    const Wavefront& front = order.vector().front;
    const TileShape shape = order.vector().tiles.shape;
    view.vector = order.vector();
    view.records = records.data();
    view.entries = entries.data();
    view.host_offsets = plan.offsets.data();
    view.pairs = pairs.data();
    view.first_pair = first_pair.data();
    view.entry_count = static_cast<int>(plan.offsets.size());
    view.center = plan.center;
    view.block = order.dof();
    view.diagonal_only = plan.diagonal_only;
    view.status = status.data();
    view.patience = patience_nanoseconds;
    int far_y = 0, far_z = 0;
    for (int e = 0; const FactorEntry& o : entries_of(plan, front)) {
      const bool lower = e++ < plan.center;
      view.before = {std::max(view.before.x, -o.x), std::max(view.before.y, -o.y), std::max(view.before.z, -o.z)};
      view.after = {std::max(view.after.x, o.x), std::max(view.after.y, o.y), std::max(view.after.z, o.z)};
      if (!lower || !is_in_grid({o.x, o.y, o.z}, front)) continue;
      far_y = std::max(far_y, -o.line_y);
      far_z = std::max(far_z, -o.line_z);
      view.deepest = std::max(view.deepest, -o.level);
    }
    view.tiles_y = 1 + (far_y + shape.y - 1) / shape.y;
    view.tiles_z = 1 + (far_z + shape.z - 1) / shape.z;
  }

  void start(T* values, const T* source, const Attempt& attempt) {
    view.values = values;
    view.source = source;
    view.rules = {options.pivot_tolerance, attempt.shift, attempt.boost, positive, 1, nullptr};
    kernels->start(order.device().index, view, launch);
    view.first_ticket = 0;
  }

  double norm() const { return std::bit_cast<double>(found.norm); }

  void finish(PivotLog& to) {
    found = kernels->finish(order.device().index, status.data());
    if (found.stuck_tile != 0) {
      throw Error(ErrorCode::device,
                  fmt::format("{} on {}: tile {} waited more than {} s for its neighbours before level {}", title,
                              order.device().name(), found.stuck_tile - 1, static_cast<double>(view.patience) * 1e-9,
                              found.stuck_level));
    }
    to.take(found.notes);
    to.record_change(std::bit_cast<double>(found.change), norm());
  }

  /// As the host's.
  double growth(const WavefrontFactorCalls<T>& calls) const {
    const auto estimate = [&] {
      return calls.inverse_norm ? calls.inverse_norm() : std::numeric_limits<double>::infinity();
    };
    return growth_by(bounds_in(found).of_inverse(), norm(), estimate);
  }

  void describe_report(FactorReport& report) const {
    report.name = positive ? "ic" : "ilu";
    report.kind = PrecondKind::levels;
    report.symmetric = positive;
    report.fill = options.fill;
    report.block = order.dof();
    report.precision = sizeof(T) == 8 ? "fp64" : "fp32";
    report.kernel = launch.team_lines > 0 ? fmt::format("teams, b={}", order.dof())
                    : !launch.generic     ? fmt::format("tiles, b={}", order.dof())
                                          : fmt::format("tiles, generic b={}", order.dof());
    report.factor_kernel = fmt::format("{}, {}b={}", launch.kernel, launch.generic ? "generic " : "", order.dof());
    report.schedule = launch.team_lines > 0 ? "teams of lines" : "tiles of lines";
    report.levels = order.vector().front.levels();
    report.bytes = order.matrix_scalars() * static_cast<std::int64_t>(sizeof(T)) + order.bytes() + bytes();
    report.remarks.clear();
  }

  std::int64_t bytes() const {
    return entries.bytes() + items.bytes() + first_item.bytes() + pairs.bytes() + first_pair.bytes() + records.bytes() +
           scratch.bytes() + status.bytes() + progress.bytes() + team_order.bytes();
  }
};

template <class T>
WavefrontFactor<T>::WavefrontFactor(const TileOrder& order, const IluOptions& options, bool positive, FactorKernel kernel)
    : impl_(std::make_unique<Impl>(order, options, positive, kernel)) {}
template <class T>
WavefrontFactor<T>::WavefrontFactor(WavefrontFactor&&) noexcept = default;
template <class T>
WavefrontFactor<T>& WavefrontFactor<T>::operator=(WavefrontFactor&&) noexcept = default;
template <class T>
WavefrontFactor<T>::~WavefrontFactor() = default;

template <class T>
void WavefrontFactor<T>::factor(T* values, const WavefrontFactorCalls<T>& calls, FactorReport& report) {
  Timer timer;
  Impl& of = *impl_;
  of.describe_report(report);
  bool again = false;
  const auto attempt = [&](const Attempt& one) {
    if (again && !calls.source) calls.refill(values);
    again = true;
    start(values, calls.source ? calls.source : values, one);
    of.finish(of.log);
  };
  factor_with_policy(
      of.options, of.positive, of.title, of.log, attempt, [&] { return of.growth(calls); }, report);
  name_grid_points(of.order.grid(), of.order.dof(), report);
  report.numeric_seconds = timer.seconds();
}

template <class T>
void WavefrontFactor<T>::start(T* values, const T* source, const Attempt& attempt) {
  if (source != values && !reads_elsewhere()) {
    throw Error(ErrorCode::bad_argument, "factorization on a GPU: this kernel needs A in place");
  }
  impl_->start(values, source, attempt);
}
template <class T>
bool WavefrontFactor<T>::reads_elsewhere() const {
  return impl_->launch.reads_elsewhere;
}
template <class T>
void WavefrontFactor<T>::finish(PivotLog& log) {
  impl_->finish(log);
}
template <class T>
double WavefrontFactor<T>::norm() const {
  return impl_->norm();
}
template <class T>
void WavefrontFactor<T>::leave_out(int tickets, double patience_seconds) {
  impl_->view.first_ticket = static_cast<unsigned>(tickets);
  impl_->view.patience = static_cast<std::int64_t>(patience_seconds * 1e9);
}
template <class T>
std::int64_t WavefrontFactor<T>::bytes() const {
  return impl_->bytes();
}

template class WavefrontFactor<double>;
template class WavefrontFactor<float>;

}  // namespace echelon
