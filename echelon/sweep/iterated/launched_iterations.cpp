// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/iterated/launched_iterations.hpp"

#include "echelon/sweep/iterated/iteration_upload.hpp"

namespace echelon {

void LaunchedIterations::load(const IteratedTriangles<double>& prepared, const StoredFactors& factors, Device device,
                              const IterationLaunches& launches) {
  factors_ = factors;
  device_ = device;
  launches_ = &launches;
  const std::int64_t n = factors.rows * factors.block;
  for (auto& iterate : iterates_) set_size(iterate, n, device);
  set_size(between_, n, device);
  const bool scaled = prepared.lower().is_scaled() || prepared.upper().is_scaled();
  if (scaled || factors.orders.rows) set_size(right_, n, device);
  if (prepared.lower().options().method == Trisolve::neumann) set_size(total_, n, device);
  if (prepared.lower().options().rows_a_block > 1 && zeros_.size() != n) zeros_ = Array<double>(n, 0.0, device);
  load(prepared.lower(), factors.lower, nullptr, lower_);
  load(prepared.upper(), factors.upper, factors.inverse_diagonal, upper_);
}

void LaunchedIterations::load(const IteratedTriangle<double>& prepared, const StoredTriangle& stored,
                              const Array<double>* inverse, Side& side) {
  const TriangleView<double> swept = prepared.swept();
  const std::int64_t size = std::int64_t{swept.block} * swept.block, rows = swept.rows();
  const auto put_span = [&](Array<double>& there, const double* here, std::int64_t n) -> const double* {
    set_size(there, n, device_);
    copy_bytes(there.data(), device_, here, Device::host(), there.bytes());
    return there.data();
  };
  const bool scaled = prepared.is_scaled();
  side.sweeps = prepared.note().sweeps;
  side.sweep.lower = swept.lower;
  side.sweep.kind = iteration_kind(prepared.options());
  IterationView<double>& view = side.sweep.rows;
  view = {};
  view.rows = rows;
  view.block = swept.block;
  view.start = stored.start->data();
  view.distance = stored.distance->data();
  view.values = scaled ? put_span(side.values, swept.values, stored.values->size()) : stored.values->data();
  view.inverse_diagonal = scaled    ? put_span(side.inverse_diagonal, swept.inverse_diagonal, rows * size)
                          : inverse ? inverse->data()
                                    : nullptr;
  const bool reads_diagonal = side.sweep.kind == IterationKind::noncompact && prepared.diagonal();
  view.diagonal = reads_diagonal ? put_span(side.diagonal, prepared.diagonal(), rows * size) : nullptr;
  view.damping = prepared.options().damping;
  view.rows_a_block = prepared.options().rows_a_block;
  side.row_scale = scaled ? put(side.row_scales, prepared.scaling().row, device_) : nullptr;
  side.column_scale = scaled ? put(side.column_scales, prepared.scaling().column, device_) : nullptr;
}

void LaunchedIterations::copy(const double* from, double* to, const double* scale, const std::int32_t* order,
                              bool scatters) {
  launches_->copy(device_.index, {factors_.rows, factors_.block, order, scatters, scale, from, to});
}

/// The last sweep writes where the result belongs, unless it is to be scaled or put into another order.
void LaunchedIterations::run(Side& side, const double* r, double* result) {
  const std::int32_t* from_order = side.sweep.lower ? factors_.orders.rows : nullptr;
  const std::int32_t* to_order = side.sweep.lower ? nullptr : factors_.orders.columns;
  if (side.row_scale || from_order) {
    copy(r, right_.data(), side.row_scale, from_order, false);
    r = right_.data();
  }
  const bool copied = side.column_scale || to_order;
  const bool neumann = side.sweep.kind == IterationKind::neumann, blocks = side.sweep.rows.rows_a_block > 1;
  IterationSweep sweep = side.sweep;
  sweep.rows.r = r;
  double* total = copied ? total_.data() : result;
  sweep.rows.total = neumann ? total : nullptr;
  for (int k = 0; k < side.sweeps; ++k) {
    sweep.first = k == 0 && !blocks;
    sweep.rows.from = k == 0 ? zeros_.data() : iterates_[(k + 1) & 1].data();
    const bool direct = k + 1 == side.sweeps && !copied && !neumann;
    sweep.rows.to = direct ? result : iterates_[k & 1].data();
    launches_->sweep(device_.index, sweep);
  }
  if (!copied) return;
  copy(neumann ? total : iterates_[(side.sweeps + 1) & 1].data(), result, side.column_scale, to_order, true);
}

void LaunchedIterations::apply(const double* r, double* x) {
  run(lower_, r, between_.data());
  run(upper_, between_.data(), x);
}

std::int64_t LaunchedIterations::bytes() const {
  std::int64_t sum =
      iterates_[0].bytes() + iterates_[1].bytes() + zeros_.bytes() + right_.bytes() + total_.bytes() + between_.bytes();
  for (const Side* side : {&lower_, &upper_}) {
    sum += side->values.bytes() + side->inverse_diagonal.bytes() + side->diagonal.bytes() + side->row_scales.bytes() +
           side->column_scales.bytes();
  }
  return sum;
}

}  // namespace echelon
