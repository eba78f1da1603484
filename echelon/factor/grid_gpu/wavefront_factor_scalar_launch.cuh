// SPDX-License-Identifier: BSD-3-Clause
// What the translation units of single stencils instantiate.
#pragma once

#include <algorithm>

#include "echelon/factor/grid_gpu/wavefront_factor_launch.cuh"
#include "echelon/factor/grid_gpu/wavefront_factor_scalar.cuh"

namespace echelon {

template <class Static, class T>
struct ScalarsOf {
  static FactorLaunch plan(const WavefrontFactorView<T>& view, int) {
    const TileShape shape = view.vector.tiles.shape;
    FactorLaunch launch;
    launch.kernel = "known stencil";
    launch.warps = std::min((shape.y * shape.z + 31) / 32, most_scalar_warps<Static>);
    launch.blocks = view.vector.tiles.count;
    launch.shared_bytes = FactorShared(view).end;
    launch.generic = !view.is_near() || launch.shared_bytes > most_shared_bytes;
    return launch;
  }
  static void start(const WavefrontFactorView<T>& view, const FactorLaunch& launch) {
    allow_shared(factor_scalars<Static, T>, launch.shared_bytes);
    factor_scalars<Static, T><<<launch.blocks, (launch.warps + serving_warps) * 32, launch.shared_bytes>>>(view);
  }
};

#define ECHELON_FACTOR_SCALARS(Static)                                                                      \
  template <>                                                                                               \
  FactorRowsKernel<double> factor_scalars_kernel<static_plans::Static, double>() {                          \
    return {ScalarsOf<static_plans::Static, double>::plan, ScalarsOf<static_plans::Static, double>::start}; \
  }                                                                                                         \
  template <>                                                                                               \
  FactorRowsKernel<float> factor_scalars_kernel<static_plans::Static, float>() {                            \
    return {ScalarsOf<static_plans::Static, float>::plan, ScalarsOf<static_plans::Static, float>::start};   \
  }

}  // namespace echelon
