// SPDX-License-Identifier: BSD-3-Clause
// A pattern that lies on a GPU cut there into its triangles, the arrays those of `split` (symbolic.hpp), with the order in
// which warps take their rows: that of level_plan (schedule/rows/sweep_plan.hpp), or none. A few numbers come to the host.
#pragma once

#include <cstdint>

#include "echelon/factor/rows/symbolic.hpp"
#include "echelon/schedule/rows_gpu/row_tickets.hpp"

namespace echelon {

struct DeviceTriangle {
  Array<std::int64_t> start;              // by sweep position
  Array<std::int32_t> distance, tickets;  // tickets: positions by depth; empty: in their own order
  std::int64_t levels = 0;                // of the longest chain of rows; not counted when in their own order
  double mean_entries = 0;                // of a row
  int longest = 0;                        // no row has more
  double far_rows = 0;                    // the part of all rows whose next row before them is not near
  bool scattered = false;                 // most are such rows: few levels, many rows at once
  std::int64_t bytes() const { return start.bytes() + distance.bytes() + tickets.bytes(); }
};

struct DeviceTriangles {
  std::int64_t missing_diagonals = 0;  // nothing else was done when there are any
  int longest = 0;                     // entries of a row, the diagonal among them
  DeviceTriangle lower, upper;
};

/// Waits that are longer are given up with Error(device).
constexpr double analysis_patience_seconds = 20;

/// `A` and its `entries` columns are on `device`.
DeviceTriangles cut_on_device(const PatternView& A, std::int64_t entries, SweepSchedule wanted, Device device);

/// The same from triangles that are on the host.
DeviceTriangles triangles_on_device(const TrianglePattern& lower, const TrianglePattern& upper, SweepSchedule wanted,
                                    Device device);

/// Sorting a row takes the square of its entries: longer ones are the host's.
constexpr std::int64_t longest_permuted_row = 512;

/// P A Pᵀ of a pattern that lies where `order` and its inverse `position` do.
Pattern permuted_on_device(const PatternView& A, std::int64_t entries, const Array<std::int32_t>& order,
                           const Array<std::int32_t>& position);

}  // namespace echelon
