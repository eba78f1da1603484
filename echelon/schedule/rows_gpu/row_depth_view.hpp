// SPDX-License-Identifier: BSD-3-Clause
// The depth of the rows of two triangles on a GPU as its kernel sees it, depth(s) = 1 + max depth(s − distance) and 0
// without entries, and the table of launches that host code calls. Pointers are the device's.
#pragma once

#include <cstdint>

namespace echelon {

struct RowDepthView {
  static constexpr int lower = 0, upper = 1;
  struct Triangle {
    const std::int64_t* start = nullptr;  // by sweep position, as in triangles.hpp
    const std::int32_t* distance = nullptr;
    std::int32_t* depth = nullptr;
  };
  std::int64_t rows = 0;
  Triangle triangle[2];
  double patience_seconds = 0;
  unsigned first_ticket = 0;  // for tests: nobody takes those before
};

struct RowDepths {
  std::int64_t levels[2] = {0, 0};
  /// A wait that was given up: by which position, for which; −1 without one.
  std::int64_t waited = -1, waited_for = -1;
};

struct RowDepthKernels {
  /// Waits.
  RowDepths (*measure)(int device, const RowDepthView& view);
  /// Positions by depth, ascending within a depth. Queued.
  void (*sort)(int device, const RowDepthView& view, const RowDepths& depths, std::int32_t* const order[2]);
};

/// Null when the build has no CUDA.
const RowDepthKernels* row_depth_kernels();

}  // namespace echelon
