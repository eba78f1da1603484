// SPDX-License-Identifier: BSD-3-Clause
// The triangles of Gauss-Seidel on a GPU (unit_triangles_row.inl): a thread a value of L, then a thread a diagonal value.
#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/factor/grid_gpu/unit_triangles_row.inl"

namespace echelon::unit_triangles {
namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) lower_kernel(const __grid_constant__ View view, std::int64_t points) {
  const std::int64_t point = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (point < points) lower(view, static_cast<int>(blockIdx.y), point);
}

__global__ void __launch_bounds__(threads) diagonal_kernel(const __grid_constant__ View view, std::int64_t points) {
  const std::int64_t point = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (point < points) diagonal(view, point);
}

void run(int device, const View& view) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const std::int64_t points = view.grid.points();
  const auto blocks = static_cast<unsigned>((points + threads - 1) / threads);
  if (view.center > 0) lower_kernel<<<dim3(blocks, static_cast<unsigned>(view.center)), threads>>>(view, points);
  diagonal_kernel<<<blocks, threads>>>(view, points);
  check_cuda(cudaGetLastError(), "triangles of Gauss-Seidel");
}

}  // namespace

Launch launch() { return run; }

}  // namespace echelon::unit_triangles
