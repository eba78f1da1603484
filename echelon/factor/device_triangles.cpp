// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/device_triangles.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/factor/device_pattern_view.hpp"
#include "echelon/schedule/row_depth_view.hpp"

namespace echelon {
namespace {

void order_by_depth(DeviceTriangles& made, std::int64_t rows, Device device) {
  Array<std::int32_t> depth(2 * rows, device);
  RowDepthView view;
  view.rows = rows;
  view.triangle[RowDepthView::lower] = {made.lower.start.data(), made.lower.distance.data(), depth.data()};
  view.triangle[RowDepthView::upper] = {made.upper.start.data(), made.upper.distance.data(), depth.data() + rows};
  view.patience_seconds = analysis_patience_seconds;
  const RowDepths found = row_depth_kernels()->measure(device.index, view);
  if (found.waited >= 0) {
    throw Error(ErrorCode::device, fmt::format("depths of rows on {}: position {} waited {} s for position {}, which never "
                                               "came",
                                               device.name(), found.waited, view.patience_seconds, found.waited_for));
  }
  for (DeviceTriangle* one : {&made.lower, &made.upper}) one->tickets = Array<std::int32_t>(rows, device);
  std::int32_t* const order[] = {made.lower.tickets.data(), made.upper.tickets.data()};
  row_depth_kernels()->sort(device.index, view, found, order);
  made.lower.levels = found.levels[RowDepthView::lower];
  made.upper.levels = found.levels[RowDepthView::upper];
}

}  // namespace

DeviceTriangles cut_on_device(const PatternView& A, std::int64_t entries, SweepSchedule wanted, Device device) {
  DeviceTriangles made;
  if (A.rows == 0) {
    for (DeviceTriangle* one : {&made.lower, &made.upper}) one->start = Array<std::int64_t>(1, std::int64_t{0}, device);
    return made;
  }
  for (DeviceTriangle* one : {&made.lower, &made.upper}) one->start = Array<std::int64_t>(A.rows + 1, device);
  CutView view{A, entries, made.lower.start.data(), made.upper.start.data(), nullptr, nullptr};
  const PatternFacts facts = pattern_kernels()->count(device.index, view);
  made.missing_diagonals = facts.missing;
  if (facts.missing > 0) return made;
  made.longest = facts.longest;
  const std::int64_t above = entries - A.rows - facts.below;
  made.lower.distance = Array<std::int32_t>(facts.below, device);
  made.upper.distance = Array<std::int32_t>(above, device);
  view.lower_distance = made.lower.distance.data();
  view.upper_distance = made.upper.distance.data();
  pattern_kernels()->cut(device.index, view);
  made.lower.scattered = made.upper.scattered = 2 * std::int64_t{facts.scattered} > A.rows;
  made.lower.mean_entries = static_cast<double>(facts.below) / static_cast<double>(A.rows);
  made.upper.mean_entries = static_cast<double>(above) / static_cast<double>(A.rows);
  if (tickets_by_depth(wanted, facts.chained, A.rows)) order_by_depth(made, A.rows, device);
  return made;
}

Pattern permuted_on_device(const PatternView& A, std::int64_t entries, const Array<std::int32_t>& order,
                           const Array<std::int32_t>& position) {
  const Device device = order.device();
  Pattern made{Array<std::int64_t>(A.rows + 1, device), Array<std::int32_t>(entries, device)};
  pattern_kernels()->permute(device.index, {A, order.data(), position.data(), made.start.data(), made.column.data()});
  return made;
}

}  // namespace echelon
