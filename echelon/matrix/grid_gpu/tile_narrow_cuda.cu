// SPDX-License-Identifier: BSD-3-Clause
// A matrix in tile order rounded to fewer bits: a block of threads a run of memory, four values a thread, so that both sides
// move whole sectors. Bytes: each value read once in T and written once, shorter. Runs begin and end at multiples of eight.
#include "echelon/matrix/grid_gpu/tile_convert_store.cuh"

namespace echelon {
namespace {

constexpr int threads = 256, values_a_thread = 4;

template <class T>
struct alignas(16) Four {
  T value[values_a_thread];
};

/// Four values at `at`, a multiple of four; how many left the range.
template <class T>
__device__ __forceinline__ unsigned put_four(const TileConvertView& view, std::int64_t at, const Four<T>& from, T scale) {
  unsigned lost = 0;
  if (view.stored == Stored::fp32) {
    float4 rounded;
    float* const parts = &rounded.x;
#pragma unroll
    for (int k = 0; k < values_a_thread; ++k) {
      const T value = scale * from.value[k];
      parts[k] = static_cast<float>(value);
      lost += isfinite(value) && !isfinite(parts[k]);
    }
    reinterpret_cast<float4*>(view.to)[at / values_a_thread] = rounded;
    return lost;
  }
#pragma unroll
  for (int k = 0; k < values_a_thread; ++k) lost += !put(view, at + k, scale * from.value[k]);
  return lost;
}

template <class T>
__global__ void __launch_bounds__(threads) narrow_kernel(const __grid_constant__ TileConvertView view) {
  const LayoutView& layout = view.layout;
  const std::int64_t run = blockIdx.x, start = layout.run_start[run], end = layout.run_start[run + 1];
  const auto an_entry = static_cast<unsigned>((end - start) / layout.entries.end);
  const auto* const from = static_cast<const T*>(view.from) + start;
  unsigned lost = 0;
  for (unsigned n = threadIdx.x * values_a_thread; n < end - start; n += threads * values_a_thread) {
    const auto four = *reinterpret_cast<const Four<T>*>(from + n);
    lost += put_four(view, start + n, four, scale_of<T>(view, static_cast<int>(n / an_entry)));
  }
  if (lost > 0) atomicAdd(view.lost, static_cast<unsigned long long>(lost));
}

}  // namespace

template <class T>
void narrow_tiles_cuda(int device, const TileConvertView& view) {
  check_conversion(cudaSetDevice(device), "cudaSetDevice");
  narrow_kernel<T><<<static_cast<unsigned>(view.runs), threads>>>(view);
  check_conversion(cudaGetLastError(), "narrowing");
}
template void narrow_tiles_cuda<double>(int, const TileConvertView&);
template void narrow_tiles_cuda<float>(int, const TileConvertView&);

}  // namespace echelon
