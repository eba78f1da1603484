// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/rows_gpu/row_sweeps.hpp"

#include <fmt/format.h>

#include "echelon/base/cleared_array.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"

namespace echelon {
namespace {

constexpr int largest_fixed_block = 8;

unsigned long long nanoseconds(double seconds) { return static_cast<unsigned long long>(seconds * 1e9); }

}  // namespace

RowSweepView sweep_view(const DeviceTriangle& triangle, bool lower, int block, const Array<double>& values,
                        const Array<double>& inverse_diagonal, const Array<std::int32_t>& order) {
  RowSweepView v;
  v.rows = triangle.start.size() - 1;
  v.block = block;
  v.lower = lower;
  v.mean_entries = triangle.mean_entries;
  v.longest = triangle.longest;
  v.levels = triangle.levels;
  v.scattered = triangle.scattered;
  v.start = triangle.start.data();
  v.distance = triangle.distance.data();
  v.values = values.data();
  v.inverse_diagonal = inverse_diagonal.data();
  v.tickets = triangle.tickets.empty() ? nullptr : triangle.tickets.data();
  v.order = order.empty() ? nullptr : order.data();
  return v;
}

std::string RowSweeps::kernel() const {
  const char* of_block = lower_.one_block.used() && upper_.one_block.used() ? " of one block" : "";
  return fmt::format("rows{}, {}b={}", of_block, lower_.block > largest_fixed_block ? "generic " : "", lower_.block);
}

RowSweeps::RowSweeps(const RowSweepView& lower, const RowSweepView& upper, Device device, double patience_seconds)
    : device_(device), lower_(lower), upper_(upper), words_(cleared_array<RowSweepWord>(lower.rows * lower.block, device)) {
  set_state({.patience = nanoseconds(patience_seconds)});
  for (RowSweepView* view : {&lower_, &upper_}) {
    view->words = words_.data();
    view->state = state_.data();
    row_sweep_kernels()->plan(device.index, *view);
  }
}

void RowSweeps::lower(const double* r) {
  lower_.r[0] = r;
  row_sweep_kernels()->launch(device_.index, lower_);
}

void RowSweeps::upper(double* z) { upper(nullptr, z); }

void RowSweeps::upper(const double* r, double* z) {
  upper_.r[0] = r;
  upper_.x[0] = z;
  row_sweep_kernels()->launch(device_.index, upper_);
  upper_.r[0] = nullptr;
}

void RowSweeps::apply(const double* r, double* z) {
  lower(r);
  upper(z);
}

void RowSweeps::apply_many(std::span<const Vector<double>> r, std::span<Vector<double>> z) {
  std::size_t done = 0;
  for (const std::size_t columns : {4, 2}) {
    if (lower_.block > largest_fixed_block) break;
    for (; r.size() - done >= columns; done += columns) apply_together(r.subspan(done, columns), z.subspan(done, columns));
  }
  for (; done < r.size(); ++done) apply(r[done].data(), z[done].data());
}

/// Every launch has an epoch of its own, so two and four vectors may take turns in the same words.
void RowSweeps::apply_together(std::span<const Vector<double>> r, std::span<Vector<double>> z) {
  if (words_of_many_.empty()) {
    const std::int64_t n = RowSweepView::most_columns * lower_.rows * lower_.block;
    require_memory(n * static_cast<std::int64_t>(sizeof(RowSweepWord)), "sweeps of several vectors", device_);
    words_of_many_ = cleared_array<RowSweepWord>(n, device_);
  }
  RowSweepView down = lower_, up = upper_;
  for (RowSweepView* view : {&down, &up}) {
    view->columns = static_cast<int>(r.size());
    view->words = words_of_many_.data();
    row_sweep_kernels()->plan(device_.index, *view);
  }
  for (std::size_t k = 0; k < r.size(); ++k) {
    down.r[k] = r[k].data();
    up.x[k] = z[k].data();
  }
  row_sweep_kernels()->launch(device_.index, down);
  row_sweep_kernels()->launch(device_.index, up);
}

void RowSweeps::set_state(const RowSweepState& first) {
  if (state_.empty()) state_ = Array<RowSweepState>(1, device_);
  state_.copy_from(Array<RowSweepState>(1, first));
}

void RowSweeps::check() { check(state_.to(Device::host())[0]); }

void RowSweeps::check(const RowSweepState& now) {
  if (now.first_wait == RowSweepState::no_wait) return;
  set_state({.epoch = now.epoch + 1, .patience = now.patience});
  throw Error(
      ErrorCode::device,
      fmt::format("a sweep on {} was given up: position {} waited {} s for position {}, which never came", device_.name(),
                  now.first_wait & 0xffffffffu, static_cast<double>(now.patience) * 1e-9, now.first_wait >> 32));
}

void RowSweeps::leave_out(int tickets, double patience_seconds) {
  check();
  RowSweepState now = state_.to(Device::host())[0];
  now.ticket = static_cast<unsigned>(tickets);
  now.patience = nanoseconds(patience_seconds);
  set_state(now);
}

}  // namespace echelon
