// SPDX-License-Identifier: BSD-3-Clause
// Buffers and the order of the steps. U and D⁻¹ end in the factors; L·D ends beside them, since its product with D⁻¹, which
// is L, may not stand where it is read.
#include "echelon/factor/fixed_point/device_fixed_point.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "echelon/base/memory.hpp"
#include "echelon/stencil/shapes.hpp"

namespace echelon {
namespace {

constexpr int largest_fixed_block = 8;
constexpr std::int64_t most_workers = std::int64_t{1} << 17;
constexpr std::int64_t most_workers_with_room = 8192;

std::int64_t parts_of(std::int64_t rows) { return (rows + fixed_point_part_rows - 1) / fixed_point_part_rows; }

}  // namespace

SweptPattern swept_pattern(std::int64_t rows, const DeviceTriangle& lower, const DeviceTriangle& upper) {
  SweptPattern S;
  S.rows = rows;
  S.lower_entries = lower.distance.size();
  S.upper_entries = upper.distance.size();
  S.lower_start = lower.start.data();
  S.upper_start = upper.start.data();
  S.lower_distance = lower.distance.data();
  S.upper_distance = upper.distance.data();
  return S;
}

DeviceFixedPoint::DeviceFixedPoint(const FactorView<double>& rows, const SweptPattern& pattern, Device device,
                                   const DeviceFixedPointKernels* kernels)
    : device_(device), kernels_(kernels) {
  const std::int64_t n = pattern.rows, b = rows.A.block, bb = b * b;
  const std::int64_t below = pattern.lower_entries, above = pattern.upper_entries;
  lower_row_ = Array<std::int32_t>(below, device);
  upper_row_ = Array<std::int32_t>(above, device);
  view_.A.block = rows.A.block;
  view_.pattern = pattern;
  view_.pattern.lower_row = lower_row_.data();
  view_.pattern.upper_row = upper_row_.data();
  look_at_pattern();
  const std::int64_t copies = only_diagonal_ ? below : 2 * (below + above) + (b > 1 ? below : 0);
  require_memory((copies * bb + 4 * n * bb) * std::int64_t{sizeof(double)}, "ParILU", device);
  given_lower_ = Array<double>(below * bb, device);
  given_diagonal_ = Array<double>(n * bb, device);
  inverse_ = Array<double>(n * bb, device);
  row_sums_ = Array<double>(n, device);
  part_sums_ = Array<double>(parts_of(n), device);
  if (!only_diagonal_) {
    given_upper_ = Array<double>(above * bb, device);
    lower_ = Array<double>(below * bb, device);
    upper_ = Array<double>(above * bb, device);
    met_ = Array<double>(n * bb, device);
    if (b > 1) scaled_ = Array<double>(below * bb, device);
  }
  const bool needs_room = b > largest_fixed_block;
  view_.workers = std::min(n, needs_room ? most_workers_with_room : most_workers);
  if (needs_room) {
    room_ = Array<double>(view_.workers * 3 * bb, device);
    swaps_ = Array<int>(view_.workers * b, device);
  }
}

void DeviceFixedPoint::look_at_pattern() {
  if (view_.pattern.rows == 0) return;
  kernels_->find_rows(device_.index, view_.pattern, lower_row_.data(), upper_row_.data());
  if (view_.A.block != 1) return;
  Array<int> found(1, 0, device_);
  view_.found = found.data();
  kernels_->look_for_changes(device_.index, view_);
  only_diagonal_ = found.to(Device::host())[0] == 0;
  view_.found = nullptr;
}

std::string DeviceFixedPoint::kernel() const {
  return (only_diagonal_ ? "fixed-point sweeps of the diagonal, " : "fixed-point sweeps, ") +
         shapes::kernel_name(view_.A.block);
}

/// ‖·‖ of what row_sums hold, the parts in the host's order.
double DeviceFixedPoint::measured(DeviceFixedPointView& view) {
  kernels_->sum_parts(device_.index, view);
  const Array<double> parts = part_sums_.to(Device::host());
  double sum = 0;
  for (const double one : parts) sum += one;
  return std::sqrt(sum);
}

/// `given`, the pivots of the start in last.diagonal, and the buffers in turn so that the last sweep ends as said above.
void DeviceFixedPoint::start(DeviceFixedPointView& view, int sweeps) {
  const bool even = sweeps % 2 == 0;
  view.given = {given_lower_.data(), only_diagonal_ ? view.next.upper : given_upper_.data(), given_diagonal_.data()};
  kernels_->place(device_.index, view);
  double* const inverse[] = {view.next.diagonal, inverse_.data()};
  view.met = given_diagonal_.data();
  view.next.diagonal = inverse[even ? 0 : 1];
  kernels_->pivots(device_.index, view);
  view.last = {view.given.lower, view.given.upper, view.next.diagonal};
  view.next.diagonal = inverse[even ? 1 : 0];
  view.met = met_.data();
}

void DeviceFixedPoint::step(DeviceFixedPointView& view, bool logs, bool measures) {
  view.logs = logs;
  view.measures = measures;
  if (only_diagonal_) {
    kernels_->sweep_diagonal(device_.index, view);
    return;
  }
  kernels_->sweep(device_.index, view);
  if (measures) kernels_->sum_rows(device_.index, view);
  kernels_->pivots(device_.index, view);
}

FixedPointOutcome DeviceFixedPoint::run(const FactorView<double>& rows, const RowMeasures& known, FactorStatus* status,
                                        double largest, int sweeps) {
  FixedPointOutcome outcome;
  if (view_.pattern.rows == 0) {
    outcome.inverse_bound = 0;
    return outcome;
  }
  DeviceFixedPointView view = view_;
  view.A = rows.A;
  view.order = rows.order;
  view.position = rows.position;
  view.grown = rows.grown;
  view.known = known;
  view.rules = rows.rules;
  view.unit = fixed_point_unit(largest);
  view.status = status;
  view.scaled = scaled_.data();
  view.room = room_.data();
  view.swaps = swaps_.data();
  view.row_sums = row_sums_.data();
  view.part_sums = part_sums_.data();
  view.mirror = rows.lower_values;
  view.next = {nullptr, rows.upper_values, rows.inverse_diagonal};
  start(view, sweeps);

  DeviceFixedPointView of_given = view;
  of_given.next = view.given;
  of_given.met = view.given.diagonal;
  of_given.last = {};
  kernels_->sum_rows(device_.index, of_given);
  const double norm = measured(view);
  const auto relative = [&](double size) { return norm > 0 ? size / norm : size; };

  if (only_diagonal_) kernels_->mirror(device_.index, view);
  // Of sweeps and the one that measures after them, the last but one ends in the factors, but for L·D.
  const auto alternate = [&](int sweep) {
    const bool factors = (sweeps - sweep) % 2 == 1;
    if (!only_diagonal_) {
      view.next.lower = factors ? lower_.data() : rows.lower_values;
      view.next.upper = factors ? rows.upper_values : upper_.data();
    }
    view.next.diagonal = factors ? rows.inverse_diagonal : inverse_.data();
  };
  for (int s = 0; s <= sweeps; ++s) {
    const bool measures = s == 0 || s == sweeps;
    alternate(s);
    step(view, s + 1 == sweeps, measures);
    if (measures) (s == 0 ? outcome.start_residual : outcome.residual) = relative(measured(view));
    if (s < sweeps)
      view.last = only_diagonal_ ? SweptValues{view.last.lower, view.last.upper, view.next.diagonal} : view.next;
  }
  view.next.lower = rows.lower_values;
  kernels_->finish(device_.index, view);
  return outcome;
}

std::int64_t DeviceFixedPoint::bytes() const {
  return lower_row_.bytes() + upper_row_.bytes() + given_lower_.bytes() + given_upper_.bytes() + given_diagonal_.bytes() +
         lower_.bytes() + upper_.bytes() + inverse_.bytes() + met_.bytes() + scaled_.bytes() + room_.bytes() +
         swaps_.bytes() + row_sums_.bytes() + part_sums_.bytes();
}

}  // namespace echelon
