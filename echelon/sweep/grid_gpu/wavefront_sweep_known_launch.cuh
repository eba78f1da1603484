// SPDX-License-Identifier: BSD-3-Clause
// The kernel of a triangle that is known, if it is one. A translation unit for each block size.
#pragma once

#include "echelon/sweep/grid_gpu/wavefront_sweep_known.cuh"
#include "echelon/sweep/grid_gpu/wavefront_sweep_launch.cuh"

namespace echelon::device {

template <class V, class S, const auto& Near, int Block, KnownTuning tuning>
bool known_as(const WavefrontSweepView& v, SweepKernel& found) {
  using Known = KnownSweep<Near, Block, tuning, V>;
  if (!Known::fits(v)) return false;
  found = v.lower ? known_sweep_kernel<Known, true, V, S> : known_sweep_kernel<Known, false, V, S>;
  return true;
}

template <int B, class V, class S>
SweepKernel known_kernel(const WavefrontSweepView& v) {
  SweepKernel found = nullptr;
  any_known<B>([&]<const auto & Near, KnownTuning tuning>() { return known_as<V, S, Near, B, tuning>(v, found); });
  return found;
}

template <int B>
SweepKernel known_block_kernel(const WavefrontSweepView& v, int vector_bytes, Stored stored) {
  if (vector_bytes == 8 && stored == Stored::fp64) return known_kernel<B, double, double>(v);
  if (vector_bytes == 8 && stored == Stored::fp32) return known_kernel<B, double, float>(v);
  if (vector_bytes == 8 && stored == Stored::bf16) return known_kernel<B, double, __nv_bfloat16>(v);
  if (vector_bytes == 8 && stored == Stored::fp16) return known_kernel<B, double, __half>(v);
  if constexpr (B == 1) {
    if (vector_bytes == 4) return known_kernel<B, float, float>(v);
  }
  return nullptr;
}

}  // namespace echelon::device
