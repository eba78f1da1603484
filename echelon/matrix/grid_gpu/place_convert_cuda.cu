// SPDX-License-Identifier: BSD-3-Clause
// Conversions between user order and layouts without runs on a GPU: a thread a value, along user order, asks the layout for
// its place. Bytes: each value read once and written once; what a warp scatters over sectors meets its neighbours in the
// second-level cache, where a plane of the grid fits. No value is read or written twice.
#include <cuda_runtime.h>

#include "echelon/matrix/grid_gpu/tile_convert_store.cuh"

namespace echelon {
namespace {

constexpr int threads = 256;

/// Zeros behind the last point of one (entry, column) of skewed order.
__device__ void clear_padding(const TileConvertView& view, int entry, int column) {
  const LayoutView& layout = view.layout;
  const std::int64_t first = (std::int64_t{entry} * layout.columns + column) * layout.plane;
  for (std::int64_t n = layout.points * layout.rows; n < layout.plane; ++n) put(view, first + n, 0.0F);
}

template <class T, bool to_layout>
__global__ void __launch_bounds__(threads) place_kernel(const __grid_constant__ TileConvertView view) {
  const LayoutView& layout = view.layout;
  const int nx = layout.front.nx, ny = layout.front.ny, block = layout.rows * layout.columns;
  const std::int64_t n = std::int64_t{blockIdx.x} * threads + threadIdx.x, point = n / block;
  const int entry = static_cast<int>(blockIdx.y), source = view.source ? view.source[entry] : entry;
  if (point >= layout.points || (!to_layout && source < 0)) return;
  const auto line = point / nx;
  const Ijk p{static_cast<int>(point - line * nx), static_cast<int>(line % ny), static_cast<int>(line / ny)};
  const int within = static_cast<int>(n - point * block), column = within / layout.rows, row = within % layout.rows;
  const std::int64_t user = source * layout.points * block + n, at = layout.place(p).at(entry, row, column);
  const auto* const from = static_cast<const T*>(view.from);
  if constexpr (to_layout) {
    const bool kept = put(view, at, source < 0 ? T(0) : scale_of<T>(view, entry) * from[user]);
    if (!kept && view.lost) atomicAdd(view.lost, 1ull);
    if (point == 0 && row == 0) clear_padding(view, entry, column);
  } else {
    static_cast<T*>(view.to)[user] = from[at];
  }
}

}  // namespace

template <class T, bool to_layout>
void convert_by_place(int device, const TileConvertView& view) {
  check_conversion(cudaSetDevice(device), "cudaSetDevice");
  const std::int64_t values = view.layout.points * view.layout.rows * view.layout.columns;
  const dim3 blocks(static_cast<unsigned>((values + threads - 1) / threads), static_cast<unsigned>(view.layout.entries.end));
  place_kernel<T, to_layout><<<blocks, threads>>>(view);
  check_conversion(cudaGetLastError(), "conversion");
}
template void convert_by_place<double, true>(int, const TileConvertView&);
template void convert_by_place<double, false>(int, const TileConvertView&);
template void convert_by_place<float, true>(int, const TileConvertView&);
template void convert_by_place<float, false>(int, const TileConvertView&);

}  // namespace echelon
