// SPDX-License-Identifier: BSD-3-Clause
// Which triangles have kernels of their own: the named stencils with the tiles and plans they are given. A translation unit
// for each block size.
#pragma once

#include "echelon/sweep/wavefront_sweep_known.cuh"
#include "echelon/sweep/wavefront_sweep_launch.cuh"

namespace echelon::device {

template <class V, class S, const auto& Near, int Block, int TileY, int TileZ, int LinesAThread, int Groups>
bool known_as(const WavefrontSweepView& v, SweepKernel& found) {
  using Known = KnownSweep<Near, Block, TileY, TileZ, LinesAThread, Groups, V>;
  if (!Known::fits(v)) return false;
  found = v.lower ? known_sweep_kernel<Known, true, V, S> : known_sweep_kernel<Known, false, V, S>;
  return true;
}

template <int B, class V, class S>
SweepKernel known_kernel(const WavefrontSweepView& v) {
  using namespace near_entries;
  SweepKernel found = nullptr;
  const auto is = [&]<const auto & Near, int TileY, int TileZ, int LinesAThread, int Groups>() {
    return known_as<V, S, Near, B, TileY, TileZ, LinesAThread, Groups>(v, found);
  };
  if constexpr (B == 1) {
    if (is.template operator()<star7, 16, 16, 4, 3>() || is.template operator()<star7, 32, 16, 4, 3>() ||
        is.template operator()<star13, 16, 16, 2, 2>() || is.template operator()<diamond13, 16, 16, 2, 3>() ||
        is.template operator()<diamond25, 16, 8, 2, 3>() || is.template operator()<box27, 16, 8, 2, 3>())
      return found;
  }
  if constexpr (B == 2) {
    if (is.template operator()<star7, 16, 8, 2, 3>() || is.template operator()<star13, 16, 8, 2, 2>() ||
        is.template operator()<diamond13, 16, 8, 2, 3>() || is.template operator()<diamond25, 8, 8, 1, 2>() ||
        is.template operator()<box27, 16, 4, 1, 3>())
      return found;
  }
  if constexpr (B == 3) {
    if (is.template operator()<star7, 8, 8, 2, 2>() || is.template operator()<star13, 8, 8, 2, 2>() ||
        is.template operator()<diamond13, 8, 8, 2, 2>() || is.template operator()<diamond25, 8, 4, 1, 2>() ||
        is.template operator()<box27, 8, 4, 1, 2>())
      return found;
  }
  if constexpr (B == 4) {
    if (is.template operator()<star7, 8, 8, 2, 2>() || is.template operator()<star13, 8, 4, 1, 2>() ||
        is.template operator()<diamond13, 8, 4, 1, 2>() || is.template operator()<diamond25, 4, 4, 1, 2>() ||
        is.template operator()<box27, 4, 4, 1, 2>())
      return found;
  }
  if constexpr (B == 5) {
    if (is.template operator()<star7, 8, 4, 2, 2>() || is.template operator()<star13, 4, 4, 1, 2>() ||
        is.template operator()<diamond13, 4, 4, 1, 2>() || is.template operator()<diamond25, 4, 4, 1, 2>() ||
        is.template operator()<box27, 4, 4, 1, 2>())
      return found;
  }
  if constexpr (B == 6) {
    if (is.template operator()<star7, 8, 4, 2, 2>() || is.template operator()<star13, 4, 4, 1, 2>() ||
        is.template operator()<diamond13, 4, 4, 1, 2>() || is.template operator()<diamond25, 4, 2, 1, 2>() ||
        is.template operator()<box27, 4, 2, 1, 2>())
      return found;
  }
  if constexpr (B == 7) {
    if (is.template operator()<star7, 4, 4, 1, 2>() || is.template operator()<star13, 4, 2, 1, 2>() ||
        is.template operator()<diamond13, 4, 2, 1, 2>() || is.template operator()<diamond25, 4, 2, 1, 2>() ||
        is.template operator()<box27, 4, 2, 1, 2>())
      return found;
  }
  if constexpr (B == 8) {
    if (is.template operator()<star7, 4, 4, 1, 2>() || is.template operator()<star13, 4, 2, 1, 2>() ||
        is.template operator()<diamond13, 4, 2, 1, 2>() || is.template operator()<diamond25, 4, 2, 1, 2>() ||
        is.template operator()<box27, 4, 2, 1, 2>())
      return found;
  }
  return found;
}

template <int B>
SweepKernel known_block_kernel(const WavefrontSweepView& v, int vector_bytes, Stored stored) {
  if (vector_bytes == 8 && stored == Stored::fp64) return known_kernel<B, double, double>(v);
  if (vector_bytes == 8 && stored == Stored::fp32) return known_kernel<B, double, float>(v);
  if constexpr (B == 1) {
    if (vector_bytes == 4) return known_kernel<B, float, float>(v);
    if (stored == Stored::bf16) return known_kernel<B, double, __nv_bfloat16>(v);
    if (stored == Stored::fp16) return known_kernel<B, double, __half>(v);
  }
  return nullptr;
}

}  // namespace echelon::device
