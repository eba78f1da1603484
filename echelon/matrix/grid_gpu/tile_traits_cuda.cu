// SPDX-License-Identifier: BSD-3-Clause
// The kernel of tile_traits.inl: rows along walks (tile_walk.cuh), what a warp found added to the whole at the end.
#include <cuda_runtime.h>

#include <bit>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/matrix/grid_gpu/tile_traits.inl"
#include "echelon/matrix/grid_gpu/tile_walk.cuh"

namespace echelon::tile_traits {
namespace {

constexpr unsigned all_lanes = 0xffffffffu;

template <class Join>
__device__ unsigned long long over_warp(unsigned long long own, const Join& join) {
  for (int half = 16; half > 0; half /= 2) own = join(own, __shfl_xor_sync(all_lanes, own, half));
  return own;
}

/// Sizes of `to` are bits.
struct Totals {
  unsigned long long zero, negative, weak, dominant, nan, first_weak, largest, difference;
};

__global__ void __launch_bounds__(TileWalk::threads) find_kernel(const __grid_constant__ View view, Totals* to) {
  extern __shared__ int walk_memory[];
  const TileProductView& v = view.matrix;
  Findings own;
  walk_tiles(
      v.vector, v.block, walk_memory,
      [&](Ijk p, int row, const TileRun& run, unsigned rank) {
        see_row(view, p, row, {v.values + run.start * v.entries * v.block + rank, run.length}, own);
      },
      [](const TileRun&) {});
  const bool first = threadIdx.x % 32 == 0;
  const auto add = [&](unsigned long long n, unsigned long long* total) {
    const auto sum = over_warp(n, [](unsigned long long a, unsigned long long b) { return a + b; });
    if (first && sum > 0) atomicAdd(total, sum);
  };
  const auto top = [&](double x, unsigned long long* total) {
    const auto bits = over_warp(static_cast<unsigned long long>(__double_as_longlong(x)),
                                [](unsigned long long a, unsigned long long b) { return a > b ? a : b; });
    if (first && bits > 0) atomicMax(total, bits);
  };
  add(own.zero, &to->zero);
  add(own.negative, &to->negative);
  add(own.weak, &to->weak);
  add(own.dominant, &to->dominant);
  add(own.nan, &to->nan);
  top(own.largest, &to->largest);
  top(own.difference, &to->difference);
  const auto least = over_warp(own.first_weak, [](unsigned long long a, unsigned long long b) { return a < b ? a : b; });
  if (first && least != ~0ull) atomicMin(&to->first_weak, least);
}

Findings find(int device, const View& view) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  Totals start{};
  start.first_weak = ~0ull;
  const Array<Totals> host{start};
  auto totals = host.to({Device::Kind::cuda, device});
  const LayoutView& vector = view.matrix.vector;
  find_kernel<<<TileWalk::blocks(vector, view.matrix.longest), TileWalk::threads, TileWalk::shared_bytes(vector)>>>(
      view, totals.data());
  check_cuda(cudaGetLastError(), "the traits of a matrix");
  const Totals found = totals.to(Device::host())[0];
  return {found.zero,
          found.negative,
          found.weak,
          found.dominant,
          found.nan,
          found.first_weak,
          std::bit_cast<double>(found.largest),
          std::bit_cast<double>(found.difference)};
}

}  // namespace

const Kernels* kernels() {
  static const Kernels table{find};
  return &table;
}

}  // namespace echelon::tile_traits
