// SPDX-License-Identifier: BSD-3-Clause
// What the translation units of single block sizes instantiate.
#pragma once

#include <algorithm>

#include "echelon/factor/wavefront_factor_launch.cuh"
#include "echelon/factor/wavefront_factor_rows.cuh"

namespace echelon {

template <int B, class T>
struct RowsOf {
  /// As many lines at once as there are warps for, then as many groups as there is room for.
  static FactorLaunch plan(const WavefrontFactorView<T>& view) {
    constexpr int lines_a_warp = RowShared<B, T>::lines_a_warp;
    const TileShape shape = view.vector.tiles.shape;
    FactorLaunch launch;
    launch.warps = std::min((shape.y * shape.z + lines_a_warp - 1) / lines_a_warp, most_factor_warps);
    launch.groups = std::min(most_factor_warps / launch.warps, view.entry_count);
    const auto fits = [&] {
      launch.shared_bytes = RowShared<B, T>(view, launch.groups, launch.warps).end;
      return launch.shared_bytes <= most_shared_bytes;
    };
    while (!fits() && launch.groups > 1) --launch.groups;
    while (!fits() && launch.warps > 1) --launch.warps;
    launch.blocks = view.vector.tiles.count;
    launch.generic = !view.is_near() || !fits();
    return launch;
  }
  static void start(const WavefrontFactorView<T>& view, const FactorLaunch& launch) {
    allow_shared(factor_rows<B, T>, launch.shared_bytes);
    factor_rows<B, T><<<launch.blocks, (launch.groups * launch.warps + 2) * 32, launch.shared_bytes>>>(view);
  }
};

#define ECHELON_FACTOR_ROWS(B)                                  \
  template <>                                                   \
  FactorRowsKernel<double> factor_rows_kernel<B, double>() {    \
    return {RowsOf<B, double>::plan, RowsOf<B, double>::start}; \
  }                                                             \
  template <>                                                   \
  FactorRowsKernel<float> factor_rows_kernel<B, float>() {      \
    return {RowsOf<B, float>::plan, RowsOf<B, float>::start};   \
  }

}  // namespace echelon
