// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/ilu_gpu/device_factored_ilu.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/timer.hpp"

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
    : report_(host.report()) {
  const Timer timer;
  if (!report_.ok) return;
  const Triangles<double>* factors = host.triangles();
  if (!factors) throw Error(ErrorCode::bad_argument, "factors on a grid are not brought to a GPU: they are made there");
  const std::int64_t rows = factors->rows;
  require_memory(factors->bytes() + rows * (8 + 16 * std::int64_t{factors->block}), title(report_), device);
  DeviceTriangles patterns = triangles_on_device(factors->lower, factors->upper, schedule, device);
  lower_ = {std::move(patterns.lower), factors->lower_values.to(device), order_on(host.order(), device)};
  upper_ = {std::move(patterns.upper), factors->upper_values.to(device), order_on(host.column_order(), device)};
  inverse_diagonal_ = factors->inverse_diagonal.to(device);
  solve_ = DeviceFactoredSolve(device, rows * factors->block);
  solve_.place({lower_.pattern, lower_.values, lower_.order}, {upper_.pattern, upper_.values, upper_.order},
               inverse_diagonal_, factors->block);
  report_.schedule = lower_.pattern.tickets.empty() ? "rows in order" : "rows by depth";
  report_.levels = lower_.pattern.levels;
  report_.bytes = solve_.bytes() + inverse_diagonal_.bytes();
  for (const OnDevice* one : {&lower_, &upper_}) {
    report_.bytes += one->pattern.bytes() + one->values.bytes() + one->order.bytes();
  }
  report_.remarks.emplace_back("factored on the host, swept on the GPU");
  solve_.choose(trisolve, report_);
  report_.symbolic_seconds += timer.seconds();
}

void DeviceFactoredIlu::apply(const Vector<double>& r, Vector<double>& z) const { solve_.apply(report_, r, z); }

void DeviceFactoredIlu::apply_many(std::span<const Vector<double>> r, std::span<Vector<double>> z) const {
  solve_.apply_many(report_, r, z);
}

void DeviceFactoredIlu::settle() const { solve_.settle(report_); }

}  // namespace echelon
