// SPDX-License-Identifier: BSD-3-Clause
// What the translation units of single block sizes instantiate.
#pragma once

#include <algorithm>

#include "echelon/factor/wavefront_factor_launch.cuh"
#include "echelon/factor/wavefront_factor_rows.cuh"

namespace echelon {

template <int B, int Q, class T>
FactorLaunch plan_rows(const WavefrontFactorView<T>& view) {
  constexpr int most = most_factor_warps<B, Q>, lines_a_warp = RowShared<B, T>::lines_a_warp;
  const TileShape shape = view.vector.tiles.shape;
  FactorLaunch launch;
  launch.groups = (view.entry_count + Q - 1) / Q;
  launch.warps = std::min((shape.y * shape.z + lines_a_warp - 1) / lines_a_warp, most / launch.groups);
  launch.blocks = view.vector.tiles.count;
  if (launch.warps == 0) return launch;
  launch.shared_bytes = RowShared<B, T>(FactorShared(view, true).end, launch.groups, launch.warps).end;
  launch.slots = launch.shared_bytes <= most_shared_bytes ? Q : 0;
  return launch;
}

template <int B, int Q, class T>
void start_rows(const WavefrontFactorView<T>& view, const FactorLaunch& launch) {
  static int allowed = 0;
  if (launch.shared_bytes > allowed) {
    check_cuda(cudaFuncSetAttribute(factor_rows<B, Q, T>, cudaFuncAttributeMaxDynamicSharedMemorySize, launch.shared_bytes),
               "cudaFuncSetAttribute");
    allowed = launch.shared_bytes;
  }
  factor_rows<B, Q, T><<<launch.blocks, (launch.groups * launch.warps + 2) * 32, launch.shared_bytes>>>(view);
}

/// The first of the slot counts that holds a row in one group, or else the first that fits at all.
template <int B, class T, int... Qs>
struct RowsOf {
  static FactorLaunch plan(const WavefrontFactorView<T>& view) {
    FactorLaunch best;
    const auto consider = [&](const FactorLaunch& one) {
      if (one.slots > 0 && (best.slots == 0 || (best.groups > 1 && one.groups == 1))) best = one;
    };
    (consider(plan_rows<B, Qs>(view)), ...);
    return best;
  }
  static void start(const WavefrontFactorView<T>& view, const FactorLaunch& launch) {
    (static_cast<void>(launch.slots == Qs && (start_rows<B, Qs>(view, launch), true)), ...);
  }
};

#define ECHELON_FACTOR_ROWS(B, ...)                                                       \
  template <>                                                                             \
  FactorRowsKernel<double> factor_rows_kernel<B, double>() {                              \
    return {RowsOf<B, double, __VA_ARGS__>::plan, RowsOf<B, double, __VA_ARGS__>::start}; \
  }                                                                                       \
  template <>                                                                             \
  FactorRowsKernel<float> factor_rows_kernel<B, float>() {                                \
    return {RowsOf<B, float, __VA_ARGS__>::plan, RowsOf<B, float, __VA_ARGS__>::start};   \
  }

}  // namespace echelon
