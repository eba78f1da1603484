// SPDX-License-Identifier: BSD-3-Clause
// Block CSR products on a GPU. b = 1: a few lanes share a row, load its entries together and sum them in their order, each
// lane the whole sum. Blocks: a thread a scalar row, b neighbours reading a block's column together. Bytes a row: 8 b² + 4
// an entry, 16 b and 8 for the row, and x.
#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/fma.hpp"
#include "echelon/matrix/doubled_sum.hpp"
#include "echelon/matrix/rows_gpu/csr_product_view.hpp"

namespace echelon {
namespace {

constexpr int product_threads = 256;

struct PlainSum {
  static constexpr bool reads_x = true;
  double sum = 0;
  __device__ PlainSum(const CsrProductView&, std::int64_t) {}
  __device__ void add(double a, double x) { sum = fma(a, x, sum); }
  __device__ double result() const { return sum; }
};

struct CarefulSum {
  static constexpr bool reads_x = true;
  DoubledSum sum;
  __device__ CarefulSum(const CsrProductView& v, std::int64_t row) : sum{v.b[row], 0} {}
  __device__ void add(double a, double x) { sum.subtract_product(a, x); }
  __device__ double result() const { return sum.high + sum.low; }
};

struct SizeSum {
  static constexpr bool reads_x = false;
  double sum = 0;
  __device__ SizeSum(const CsrProductView&, std::int64_t) {}
  __device__ void add(double a, double) { sum += fabs(a); }
  __device__ double result() const { return sum; }
};

/// All lanes of a warp go the way of its longest row.
template <class Sum, int lanes>
__global__ void __launch_bounds__(product_threads) shared_rows(const __grid_constant__ CsrProductView v) {
  const std::int64_t row = (blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x) / lanes;
  const bool inside = row < v.A.block_rows;
  const int lane = threadIdx.x % lanes;
  std::int64_t at = inside ? v.A.row_start[row] : 0;
  const std::int64_t end = inside ? v.A.row_start[row + 1] : 0;
  Sum sum(v, inside ? row : 0);
  for (; __any_sync(~0u, at < end); at += lanes) {
    double a = 0, x = 0;
    if (at + lane < end) {
      a = v.A.values[at + lane];
      if constexpr (Sum::reads_x) x = v.x[v.A.column[at + lane]];
    }
#pragma unroll
    for (int n = 0; n < lanes; ++n) {
      const double a_n = __shfl_sync(~0u, a, n, lanes), x_n = __shfl_sync(~0u, x, n, lanes);
      if (at + n < end) sum.add(a_n, x_n);
    }
  }
  if (inside && lane == 0) v.y[row] = sum.result();
}

template <class Sum>
__global__ void __launch_bounds__(product_threads) scalar_rows(const __grid_constant__ CsrProductView v) {
  const std::int64_t row = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  const int b = v.A.block;
  if (row >= v.A.block_rows * b) return;
  const std::int64_t block_row = row / b;
  const int r = static_cast<int>(row - block_row * b);
  Sum sum(v, row);
  for (std::int64_t e = v.A.row_start[block_row]; e < v.A.row_start[block_row + 1]; ++e) {
    const double* block = v.A.values + e * b * b + r;
    const double* x = Sum::reads_x ? v.x + std::int64_t{v.A.column[e]} * b : nullptr;
    for (int c = 0; c < b; ++c) sum.add(block[c * b], Sum::reads_x ? x[c] : 0);
  }
  v.y[row] = sum.result();
}

template <class Sum>
void launch(int device, const CsrProductView& v) {
  if (v.A.block_rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const int lanes = v.A.block > 1 ? 1 : v.long_rows ? 8 : 4;
  const std::int64_t threads = v.A.block_rows * v.A.block * lanes;
  const auto blocks = static_cast<unsigned>((threads + product_threads - 1) / product_threads);
  const auto kernel = lanes == 1 ? scalar_rows<Sum> : lanes == 4 ? shared_rows<Sum, 4> : shared_rows<Sum, 8>;
  kernel<<<blocks, product_threads>>>(v);
  check_cuda(cudaGetLastError(), "block CSR product");
}

}  // namespace

const CsrProductKernels* csr_product_kernels() {
  static const CsrProductKernels table{launch<PlainSum>, launch<CarefulSum>, launch<SizeSum>};
  return &table;
}

}  // namespace echelon
