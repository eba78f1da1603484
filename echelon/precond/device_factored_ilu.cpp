// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/device_factored_ilu.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/report/timer.hpp"

namespace echelon {
namespace {

bool natural(std::span<const std::int32_t> order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<std::int32_t>(i)) return false;
  }
  return true;
}

Array<std::int32_t> order_on(std::span<const std::int32_t> order, Device device) {
  return natural(order) ? Array<std::int32_t>() : Array<std::int32_t>(order).to(device);
}

}  // namespace

DeviceFactoredIlu::DeviceFactoredIlu(const Ilu<double>& host, SweepSchedule schedule, Device device,
                                     const TrisolveOptions& trisolve)
    : device_(device), report_(host.report()) {
  const Timer timer;
  if (!report_.ok) return;
  const Triangles<double>* factors = host.triangles();
  if (!factors) throw Error(ErrorCode::bad_argument, "factors on a grid are not brought to a GPU: they are made there");
  rows_ = factors->rows;
  block_ = factors->block;
  require_memory(factors->bytes() + rows_ * (8 + 16 * std::int64_t{block_}), title(report_), device);
  DeviceTriangles patterns = triangles_on_device(factors->lower, factors->upper, schedule, device);
  lower_ = {std::move(patterns.lower), factors->lower_values.to(device), order_on(host.order(), device)};
  upper_ = {std::move(patterns.upper), factors->upper_values.to(device), order_on(host.column_order(), device)};
  inverse_diagonal_ = factors->inverse_diagonal.to(device);
  const auto view = [&](const OnDevice& one, bool lower) {
    return sweep_view(one.pattern, lower, block_, one.values, inverse_diagonal_, one.order);
  };
  sweeps_ = RowSweeps(view(lower_, true), view(upper_, false), device, analysis_patience_seconds);
  report_.kernel = row_kernel_name(block_);
  report_.schedule = lower_.pattern.tickets.empty() ? "rows in order" : "rows by depth";
  report_.levels = lower_.pattern.levels;
  report_.bytes = sweeps_.bytes() + inverse_diagonal_.bytes();
  for (const OnDevice* one : {&lower_, &upper_}) {
    report_.bytes += one->pattern.bytes() + one->values.bytes() + one->order.bytes();
  }
  report_.remarks.emplace_back("factored on the host, swept on the GPU");
  choose_sweeps(trisolve);
  report_.symbolic_seconds += timer.seconds();
}

void DeviceFactoredIlu::choose_sweeps(const TrisolveOptions& trisolve) {
  const auto stored = [](const OnDevice& one) {
    return StoredTriangle{&one.pattern.start, &one.pattern.distance, &one.values};
  };
  const SweepOrders orders{order_or_null(lower_.order), order_or_null(upper_.order)};
  iterates_ =
      iterations_.prepare({rows_, block_, stored(lower_), stored(upper_), &inverse_diagonal_, orders}, trisolve, report_);
  if (!iterates_) return;
  report_.kernel = iterations_.kernel();
  report_.bytes += iterations_.bytes();
}

void DeviceFactoredIlu::apply(const double* r, double* z) const {
  if (iterates_) {
    iterations_.apply(r, z);
  } else {
    sweeps_.apply(r, z);
  }
}

void DeviceFactoredIlu::require_applicable(const Vector<double>& v, const char* what) const {
  if (!report_.ok) throw Error(ErrorCode::bad_argument, "a failed factorization was applied: " + report_.message);
  if (v.device() != device_) {
    throw Error(ErrorCode::device,
                fmt::format("mixing places: factors on {}, the {} on {}", device_.name(), what, v.device().name()));
  }
  if (v.size() != rows_ * block_) throw_size_mismatch(what, v.size(), rows_ * block_);
}

void DeviceFactoredIlu::apply(const Vector<double>& r, Vector<double>& z) const {
  require_applicable(r, "right-hand side of an ILU");
  require_applicable(z, "result of an ILU");
  apply(r.data(), z.data());
}

void DeviceFactoredIlu::apply_many(std::span<const Vector<double>> r, std::span<Vector<double>> z) const {
  require_as_many(r.size(), z.size());
  for (std::size_t k = 0; k < r.size(); ++k) {
    require_applicable(r[k], "right-hand side of an ILU");
    require_applicable(z[k], "result of an ILU");
  }
  if (!iterates_) return sweeps_.apply_many(r, z);
  for (std::size_t k = 0; k < r.size(); ++k) apply(r[k].data(), z[k].data());
}

void DeviceFactoredIlu::settle() const {
  if (report_.ok) sweeps_.check();
}

}  // namespace echelon
