// SPDX-License-Identifier: BSD-3-Clause
// The rounds of threshold_rounds.hpp on a GPU as their threads see them, and the table of launches that host code calls.
// Pointers are the device's; A stands in the elimination's order.
#pragma once

#include "echelon/factor/fixed_point/device_fixed_point_view.hpp"
#include "echelon/factor/fixed_point/kth_largest.hpp"

namespace echelon {

/// Where a pattern is written: the starts first as lengths of rows, one place on.
struct MadePattern {
  std::int64_t *lower_start = nullptr, *upper_start = nullptr;
  std::int32_t *lower_distance = nullptr, *upper_distance = nullptr;
};

struct DeviceThresholdView {
  DeviceFixedPointView rows;  // A, names, what is known of its rows, rules, unit, status, logs, met, sums
  SweptPattern from, to;
  SweptValues last, next;  // on `from` and on `to`; their diagonals are inverses
  const double* last_pivots = nullptr;
  double* next_pivots = nullptr;
  bool upper_only = false;  // L is its mirror
  MadePattern made;
  double *kept_lower = nullptr, *kept_upper = nullptr;
  double lower_threshold = 0, upper_threshold = 0;
};

/// Queued, not waited for, unless said.
struct DeviceThresholdKernels {
  void (*clear)(int device, std::int64_t* x, std::int64_t n);
  /// `made` ← `from` with A's places and those that L·U fills: lengths and starts, then distances.
  void (*count_grown)(int device, const DeviceThresholdView& view);
  void (*fill_grown)(int device, const DeviceThresholdView& view);
  /// `next` on `to` from `last` on `from`, with its pivots.
  void (*sweep)(int device, const DeviceThresholdView& view);
  void (*mirror)(int device, const DeviceThresholdView& view);
  /// Changes on the places of `from` (all, when it is empty), by row and by part.
  void (*sum)(int device, const DeviceThresholdView& view);
  /// Of the weights of `next`; waits.
  SelectionCounts (*count_digits)(int device, const DeviceThresholdView& view, bool lower, int digit, int shift,
                                  std::uint64_t prefix);
  /// `made` ← what of `to` the thresholds keep: lengths and starts, then distances and values.
  void (*count_kept)(int device, const DeviceThresholdView& view);
  void (*fill_kept)(int device, const DeviceThresholdView& view);
  /// `to` with its diagonal as whole rows of ascending columns.
  void (*join)(int device, const SweptPattern& to, std::int64_t* start, std::int32_t* column);
};

/// Null when the build has no CUDA.
const DeviceThresholdKernels* device_threshold_kernels();

}  // namespace echelon
