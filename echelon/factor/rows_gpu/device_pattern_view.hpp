// SPDX-License-Identifier: BSD-3-Clause
// The patterns of block CSR factors on a GPU as the kernels see them, and the table of launches that host code calls.
// Pointers are the device's, the arrays those of symbolic.hpp and triangles.hpp.
#pragma once

#include <cstdint>

#include "echelon/factor/rows/symbolic.hpp"

namespace echelon {

/// What one pass over a pattern finds.
struct PatternFacts {
  std::int64_t below = 0;  // entries of the strict lower triangle
  int missing = 0;         // rows without a diagonal entry
  int longest = 0;         // entries of a row
  int chained = 0;         // rows that have the column just before their diagonal
  int scattered = 0;       // rows whose next column before the diagonal is more than a far_part of all rows away
  static constexpr std::int64_t far_part = 16;
};

/// A pattern with a full diagonal and the triangles it is cut into, distances in 32 bits.
struct CutView {
  PatternView A;
  std::int64_t entries = 0;  // of A
  std::int64_t *lower_start = nullptr, *upper_start = nullptr;
  std::int32_t *lower_distance = nullptr, *upper_distance = nullptr;
};

/// P A Pᵀ: row i of it is row order[i] of A, position is the inverse of order.
struct PermutedView {
  PatternView A;
  const std::int32_t *order = nullptr, *position = nullptr;
  std::int64_t* start = nullptr;
  std::int32_t* column = nullptr;
};

struct PatternKernels {
  /// Writes `lower_start`, which means nothing when a diagonal entry is missing. Waits.
  PatternFacts (*count)(int device, const CutView& view);
  /// The other arrays, from `lower_start`. Queued.
  void (*cut)(int device, const CutView& view);
  /// Work grows with the square of a row's entries: for rows of up to hundreds. Queued.
  void (*permute)(int device, const PermutedView& view);
};

/// Null when the build has no CUDA.
const PatternKernels* pattern_kernels();

}  // namespace echelon
