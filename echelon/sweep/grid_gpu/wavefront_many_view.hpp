// SPDX-License-Identifier: BSD-3-Clause
// What the kernel that sweeps several vectors at once is given: the view of one vector's sweep (wavefront_sweep_view.hpp)
// with a plan for `columns` of them, and where each of them is. A stage of the ring holds their r one behind the other, a
// level of the history their planes, and a run of border words theirs: what lanes do side by side stays side by side.
#pragma once

#include "echelon/sweep/grid_gpu/wavefront_sweep_view.hpp"

namespace echelon {

struct WavefrontManyView {
  static constexpr int most_columns = 8;
  WavefrontSweepView sweep;  // its r and x are unused
  int columns = 1;
  const double* r[most_columns] = {};
  double* x[most_columns] = {};  // each may be its r
};

struct WavefrontManyBackend {
  /// Asynchronous. Coefficients in FP64; `columns` and lines a thread as many_sweep_shape said. Throws Error(device) when
  /// the launch fails.
  void (*launch)(int device, const WavefrontManyView& view);
};
/// Null when the build has no CUDA.
const WavefrontManyBackend* wavefront_many_backend();

}  // namespace echelon
