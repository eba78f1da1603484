// SPDX-License-Identifier: BSD-3-Clause
// Injection and its transpose on a GPU (injection_row.inl): a thread a coarse place. No two write the same fine point.
#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/matrix/grid_gpu/injection_row.inl"

namespace echelon::injection {
namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads)
    restrict_kernel(const std::int32_t* __restrict__ fine_place, std::int64_t n, const double* __restrict__ r,
                    const double* __restrict__ Ax, double* __restrict__ coarse) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < n) restrict_row(fine_place, at, r, Ax, coarse);
}

__global__ void __launch_bounds__(threads) add_kernel(const std::int32_t* __restrict__ fine_place, std::int64_t n,
                                                      const double* __restrict__ coarse, double* __restrict__ fine) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < n) add_row(fine_place, at, coarse, fine);
}

unsigned blocks(std::int64_t n) { return static_cast<unsigned>((n + threads - 1) / threads); }

void restrict_residual(int device, const std::int32_t* fine_place, std::int64_t n, const double* r, const double* Ax,
                       double* coarse) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  restrict_kernel<<<blocks(n), threads>>>(fine_place, n, r, Ax, coarse);
  check_cuda(cudaGetLastError(), "injection");
}

void add(int device, const std::int32_t* fine_place, std::int64_t n, const double* coarse, double* fine) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  add_kernel<<<blocks(n), threads>>>(fine_place, n, coarse, fine);
  check_cuda(cudaGetLastError(), "transpose of an injection");
}

}  // namespace

const Kernels* kernels() {
  static constexpr Kernels table{restrict_residual, add};
  return &table;
}

}  // namespace echelon::injection
