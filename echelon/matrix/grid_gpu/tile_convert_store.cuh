// SPDX-License-Identifier: BSD-3-Clause
// What the kernels of conversions share: how a value is rounded and put where it belongs.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <string>

#include "echelon/base/error.hpp"
#include "echelon/matrix/grid_gpu/tile_convert_view.hpp"

namespace echelon {

inline void check_conversion(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw Error(ErrorCode::device, std::string("CUDA: ") + call + " failed: " + cudaGetErrorString(status));
}

/// to[at] ← value, rounded; false when it was finite and left the range.
template <class T>
__device__ __forceinline__ bool put(const TileConvertView& view, std::int64_t at, T value) {
  const auto single = static_cast<float>(value);
  switch (view.stored) {
    case Stored::fp64: static_cast<double*>(view.to)[at] = static_cast<double>(value); return true;
    case Stored::fp32: static_cast<float*>(view.to)[at] = single; return isfinite(single) || !isfinite(value);
    case Stored::bf16: {
      const __nv_bfloat16 rounded = __float2bfloat16_rn(single);
      static_cast<__nv_bfloat16*>(view.to)[at] = rounded;
      return isfinite(__bfloat162float(rounded)) || !isfinite(value);
    }
    case Stored::fp16: {
      const __half rounded = __float2half_rn(single);
      static_cast<__half*>(view.to)[at] = rounded;
      return isfinite(__half2float(rounded)) || !isfinite(value);
    }
  }
  return true;
}

template <class T>
__device__ __forceinline__ T scale_of(const TileConvertView& view, int entry) {
  return static_cast<T>(entry < view.center   ? view.scales.lower
                        : entry > view.center ? view.scales.upper
                                              : view.scales.diagonal);
}

/// Between user order and a layout that is not kept in runs; place_convert_cuda.cu.
template <class T, bool to_layout>
void convert_by_place(int device, const TileConvertView& view);

/// From tile order to tile order; tile_narrow_cuda.cu.
template <class T>
void narrow_tiles_cuda(int device, const TileConvertView& view);

}  // namespace echelon
