// SPDX-License-Identifier: BSD-3-Clause
// Fixed-point sweeps (fixed_point.hpp) on a GPU as their threads see them, and the table of launches that host code calls.
// Patterns and values stand as in triangles.hpp, distances in 32 bits; pointers are the device's.
#pragma once

#include <cstdint>

#include "echelon/factor/rows_gpu/row_factor_view.hpp"

namespace echelon {

/// Two triangles, and of each entry the row it is in, so that a thread can begin with any of them.
struct SweptPattern {
  std::int64_t rows = 0, lower_entries = 0, upper_entries = 0;
  const std::int64_t *lower_start = nullptr, *upper_start = nullptr;
  const std::int32_t *lower_distance = nullptr, *upper_distance = nullptr;
  const std::int32_t *lower_row = nullptr, *upper_row = nullptr;
};

/// A on the pattern, with `diagonal` its diagonal; or an iterate: L·D, U, and with `diagonal` D⁻¹.
struct SweptValues {
  double *lower = nullptr, *upper = nullptr, *diagonal = nullptr;
};

struct DeviceFixedPointView {
  BlockCsrView<double> A;
  const std::int32_t *order = nullptr, *position = nullptr;  // as in FactorView
  const std::int32_t* names = nullptr;                       // of rows, for notes, where A stands in the elimination's order
  bool grown = false;
  SweptPattern pattern;
  RowMeasures known;
  PivotRules rules;  // without a log
  double unit = 1;   // as in FixedPointView
  SweptValues given, last, next;
  double* met = nullptr;     // pivots of a sweep before any repair, of the start A's diagonal
  double* scaled = nullptr;  // blocks: L of the last iterate
  double* mirror = nullptr;  // of diagonal sweeps: u_ki at the place of l_ik
  double *row_sums = nullptr, *part_sums = nullptr;
  std::int64_t workers = 0;  // threads that take rows in turn where each needs room of its own
  double* room = nullptr;    // blocks without a kernel of their own: 3 b² a worker
  int* swaps = nullptr;      // and b
  FactorStatus* status = nullptr;
  bool logs = false;      // bad pivots are noted
  bool measures = false;  // diagonal sweeps: row sums are written
  int* found = nullptr;
};

/// Queued, not waited for, unless said.
struct DeviceFixedPointKernels {
  /// Rows of entries, from the starts.
  void (*find_rows)(int device, const SweptPattern& pattern, std::int32_t* lower_row, std::int32_t* upper_row);
  /// `found` ← whether an entry beside the diagonal ever changes, or has no mirror.
  void (*look_for_changes)(int device, const DeviceFixedPointView& view);
  /// `given` ← A, its diagonal shifted.
  void (*place)(int device, const DeviceFixedPointView& view);
  /// next.diagonal ← the inverse of `met`, or of what takes its place.
  void (*pivots)(int device, const DeviceFixedPointView& view);
  /// `next` but for its diagonal, and `met`, from `given` and `last`.
  void (*sweep)(int device, const DeviceFixedPointView& view);
  /// The same where only the diagonal changes, with the pivots.
  void (*mirror)(int device, const DeviceFixedPointView& view);
  void (*sweep_diagonal)(int device, const DeviceFixedPointView& view);
  /// Squares of `next` (its diagonal: `met`) less `last` (its diagonal: the inverse's inverse), by row; without `last` of
  /// `next` itself.
  void (*sum_rows)(int device, const DeviceFixedPointView& view);
  /// Parts of the rows from their sums.
  void (*sum_parts)(int device, const DeviceFixedPointView& view);
  /// next.lower ← last.lower D⁻¹, another array; scalars: what bounds the inverse of LU, into the status.
  void (*finish)(int device, const DeviceFixedPointView& view);
};

/// Null when the build has no CUDA.
const DeviceFixedPointKernels* device_fixed_point_kernels();

}  // namespace echelon
