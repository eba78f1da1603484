// SPDX-License-Identifier: BSD-3-Clause
// What the translation units of single block sizes instantiate.
#pragma once

#include <algorithm>

#include "echelon/factor/grid_gpu/wavefront_factor_launch.cuh"
#include "echelon/factor/grid_gpu/wavefront_factor_rows.cuh"

namespace echelon {

template <int B, class T>
struct RowsOf {
  /// As many lines at once as there are warps for, then as many groups as there is room for when all tiles that can run at
  /// the same time are to be resident, at most so many as a row has independent work for.
  static FactorLaunch plan(const WavefrontFactorView<T>& view, int processors) {
    constexpr int lines_a_warp = RowShared<B, T>::lines_a_warp;
    const TileView& tiles = view.vector.tiles;
    const std::int64_t lines = std::int64_t{tiles.shape.y} * tiles.shape.z;
    FactorLaunch launch;
    launch.kernel = "lists";
    launch.warps = static_cast<int>(std::min<std::int64_t>((lines + lines_a_warp - 1) / lines_a_warp, most_factor_warps));
    const std::int64_t at_once = std::int64_t{tiles.count} * tiles.front.nx / tiles.front.levels();
    const int resident =
        static_cast<int>(std::clamp<std::int64_t>((at_once + processors - 1) / processors, 1, most_resident));
    const int useful = view.diagonal_only ? 3 : 8;
    launch.groups = std::clamp((resident_factor_warps / resident - serving_warps) / launch.warps, 1, useful);
    const auto fits = [&] {
      launch.shared_bytes = RowShared<B, T>(view, launch.groups, launch.warps).end;
      return launch.shared_bytes <= most_shared_bytes;
    };
    while (!fits() && launch.groups > 1) --launch.groups;
    while (!fits() && launch.warps > 1) --launch.warps;
    launch.blocks = view.vector.tiles.count;
    launch.generic = !view.is_near() || !fits();
    launch.reads_elsewhere = B > 1 && !launch.generic && !view.diagonal_only;
    return launch;
  }
  static constexpr std::int64_t most_resident = 3;

  static void start(const WavefrontFactorView<T>& view, const FactorLaunch& launch) {
    allow_shared(factor_rows<B, T>, launch.shared_bytes);
    factor_rows<B, T><<<launch.blocks, (launch.groups * launch.warps + serving_warps) * 32, launch.shared_bytes>>>(view);
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
