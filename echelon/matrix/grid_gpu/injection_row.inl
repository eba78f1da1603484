// SPDX-License-Identifier: BSD-3-Clause
// One coarse point of an injection and of its transpose, for host and device: coarse ← r − A x at the fine point with twice
// its coordinates; fine ← fine + coarse there. A table has the fine point's place for every place of the coarse vector, so
// either may be in any order; −1 is padding. Bytes a coarse point: 4 + 8, and the lines of memory the fine points lie in.
#pragma once

#include <cstdint>

#include "echelon/base/device.hpp"

namespace echelon::injection {

ECHELON_FN void restrict_row(const std::int32_t* fine_place, std::int64_t at, const double* r, const double* Ax,
                             double* coarse) {
  const std::int32_t from = fine_place[at];
  coarse[at] = from < 0 ? 0.0 : r[from] - Ax[from];
}

ECHELON_FN void add_row(const std::int32_t* fine_place, std::int64_t at, const double* coarse, double* fine) {
  const std::int32_t to = fine_place[at];
  if (to >= 0) fine[to] += coarse[at];
}

struct Kernels {
  /// Of `n` coarse places; queued.
  void (*restrict_residual)(int device, const std::int32_t* fine_place, std::int64_t n, const double* r, const double* Ax,
                            double* coarse);
  void (*add)(int device, const std::int32_t* fine_place, std::int64_t n, const double* coarse, double* fine);
};

/// Null when the build has no CUDA.
const Kernels* kernels();

}  // namespace echelon::injection
