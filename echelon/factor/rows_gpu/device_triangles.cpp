// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/rows_gpu/device_triangles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "echelon/base/error.hpp"
#include "echelon/factor/rows_gpu/device_pattern_view.hpp"
#include "echelon/schedule/rows_gpu/row_depth_view.hpp"

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

/// What the counting of entries left to do.
void order_rows(DeviceTriangles& made, const PatternFacts& facts, std::int64_t rows, SweepSchedule wanted, Device device) {
  made.longest = facts.longest;
  for (DeviceTriangle* one : {&made.lower, &made.upper}) {
    one->far_rows = static_cast<double>(facts.scattered) / static_cast<double>(rows);
    one->scattered = 2 * std::int64_t{facts.scattered} > rows;
    one->longest = std::max(0, facts.longest - 1);
    one->mean_entries = static_cast<double>(one->distance.size()) / static_cast<double>(rows);
  }
  if (tickets_by_depth(wanted, facts.chained, rows)) order_by_depth(made, rows, device);
}

/// As the device's count finds them.
PatternFacts facts_of(const TrianglePattern& lower, const TrianglePattern& upper) {
  PatternFacts facts;
  facts.below = lower.entries();
  const std::int64_t n = lower.rows;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t below = lower.start[i + 1] - lower.start[i], above = upper.start[n - i] - upper.start[n - 1 - i];
    facts.longest = std::max(facts.longest, static_cast<int>(below + 1 + above));
    if (below == 0) continue;
    const std::int64_t nearest = with_distances(
        lower, [&](const auto* distance) { return static_cast<std::int64_t>(distance[lower.start[i + 1] - 1]); });
    facts.chained += nearest == 1;
    facts.scattered += nearest * PatternFacts::far_part > n;
  }
  return facts;
}

DeviceTriangle uploaded(const TrianglePattern& triangle, Device device) {
  DeviceTriangle made;
  made.start = triangle.start.to(device);
  if (triangle.narrow) {
    Array<std::int32_t> wide(triangle.entries());
    std::copy_n(triangle.distance_16.data(), wide.size(), wide.data());
    made.distance = wide.to(device);
  } else {
    made.distance = triangle.distance.to(device);
  }
  return made;
}

}  // namespace

DeviceTriangles triangles_on_device(const TrianglePattern& lower, const TrianglePattern& upper, SweepSchedule wanted,
                                    Device device) {
  DeviceTriangles made;
  made.lower = uploaded(lower, device);
  made.upper = uploaded(upper, device);
  if (lower.rows > 0) order_rows(made, facts_of(lower, upper), lower.rows, wanted, device);
  return made;
}

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
  const std::int64_t above = entries - A.rows - facts.below;
  made.lower.distance = Array<std::int32_t>(facts.below, device);
  made.upper.distance = Array<std::int32_t>(above, device);
  view.lower_distance = made.lower.distance.data();
  view.upper_distance = made.upper.distance.data();
  pattern_kernels()->cut(device.index, view);
  order_rows(made, facts, A.rows, wanted, device);
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
