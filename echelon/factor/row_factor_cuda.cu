// SPDX-License-Identifier: BSD-3-Clause
// The table of row_factor_view.hpp: what is known of A's rows before an attempt, how much memory a warp takes, the kernel
// of each block size, and the fingerprint by which refactor knows a pattern again.
#include <algorithm>

#include "echelon/base/cuda_check.cuh"
#include "echelon/factor/row_factor.cuh"

namespace echelon {
namespace {

constexpr int plain_threads = 256;
/// Of a warp, so that a processor still holds a dozen of them.
constexpr std::int64_t most_shared_bytes = 16 * 1024;
constexpr std::int64_t most_scratch_bytes = std::int64_t{512} << 20;
/// Rows much longer than the others go through the scratch, so that these have more warps.
constexpr double worth_sharing = 4;
constexpr int always_shared_entries = 32;

unsigned blocks_for(std::int64_t n) { return static_cast<unsigned>((n + plain_threads - 1) / plain_threads); }

/// Sums in the host's order: along the row, a scalar row a thread.
__global__ void sum_kernel(BlockCsrView<double> A, RowMeasures to) {
  const std::int64_t row = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (row >= A.block_rows * A.block) return;
  const int b = A.block;
  const std::int64_t block_row = row / b, r = row - block_row * b, bb = std::int64_t{b} * b;
  double sum = 0, scale = 0;
  for (std::int64_t n = A.row_start[block_row] * bb + r; n < A.row_start[block_row + 1] * bb; n += b) {
    const double size = magnitude(A.values[n]);
    scale = size > scale ? size : scale;
    sum += size;
  }
  to.sums[row] = sum;
  raise(reinterpret_cast<unsigned long long*>(to.scale) + block_row, scale);
}

/// As note_row_sum of pivot_rules.hpp, without the note.
__global__ void judge_sums_kernel(BlockCsrView<double> A, RowMeasures to) {
  const std::int64_t row = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  double largest = 0;
  if (row < A.block_rows) {
    for (int r = 0; r < A.block; ++r) {
      const double sum = to.sums[row * A.block + r];
      largest = sum > largest || !(sum == sum) ? sum : largest;
    }
    bool nonfinite = false;
    if (!repair::is_finite(largest)) {
      const std::int64_t bb = std::int64_t{A.block} * A.block;
      for (std::int64_t n = A.row_start[row] * bb; n < A.row_start[row + 1] * bb && !nonfinite; ++n) {
        nonfinite = !repair::is_finite(A.values[n]);
      }
      largest = 0;
    }
    to.nonfinite[row] = nonfinite ? 1 : 0;
  }
  raise_by_warp(to.norm, largest);
}

__device__ unsigned long long mixed(unsigned long long x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

__global__ void fingerprint_kernel(BlockCsrView<double> A, std::int64_t entries, unsigned long long* sum) {
  const std::int64_t step = gridDim.x * std::int64_t{blockDim.x};
  unsigned long long own = 0;
  for (std::int64_t n = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; n < entries + A.block_rows; n += step) {
    const auto what = static_cast<unsigned long long>(n < entries ? A.column[n] : A.row_start[n - entries + 1]);
    own += mixed(mixed(static_cast<unsigned long long>(n) + 1) ^ what);
  }
  for (int half = 16; half > 0; half /= 2) own += __shfl_down_sync(~0u, own, half);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

using Kernel = void (*)(RowFactorView);

Kernel kernel_of(int block) {
  switch (block) {
    case 1: return row_factor_kernel<1>;
    case 2: return row_factor_kernel<2>;
    case 3: return row_factor_kernel<3>;
    case 4: return row_factor_kernel<4>;
    case 5: return row_factor_kernel<5>;
    case 6: return row_factor_kernel<6>;
    case 7: return row_factor_kernel<7>;
    case 8: return row_factor_kernel<8>;
    default: return row_factor_kernel<0>;
  }
}

RowFactorLaunch plan(int device, const RowFactorView& v, double mean_entries) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const int b = v.rows.A.block;
  RowFactorLaunch it;
  if (b <= 8) {
    const int worth = std::max(always_shared_entries, static_cast<int>(worth_sharing * mean_entries));
    const auto room = static_cast<int>((most_shared_bytes - RowRoom::judge_bytes(b)) / (8 * b * b + 8));
    it.entries_in_shared = std::min({v.longest, worth, room});
    it.shared_bytes =
        static_cast<int>(row_factor_warps * (RowRoom::judge_bytes(b) + RowRoom::row_bytes(b, it.entries_in_shared)));
  }
  if (v.longest > it.entries_in_shared) {
    it.scratch_bytes = RowRoom::row_bytes(b, v.longest) + (b <= 8 ? 0 : RowRoom::judge_bytes(b));
  }
  const Kernel kernel = kernel_of(b);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, it.shared_bytes),
             "row factorization: shared memory");
  int processors = 0, resident = 0;
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, row_factor_warps * 32,
                                                           static_cast<std::size_t>(it.shared_bytes)),
             "row factorization: occupancy");
  std::int64_t blocks = std::min(std::int64_t{processors} * std::max(resident, 1),
                                 (v.rows.A.block_rows + row_factor_warps - 1) / row_factor_warps);
  if (it.scratch_bytes > 0) blocks = std::min(blocks, most_scratch_bytes / (it.scratch_bytes * row_factor_warps));
  it.blocks = static_cast<unsigned>(std::max<std::int64_t>(blocks, 1));
  it.warps = std::int64_t{it.blocks} * row_factor_warps;
  return it;
}

double measure(int device, const BlockCsrView<double>& A, const RowMeasures& to) {
  if (A.block_rows == 0) return 0;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  check_cuda(cudaMemset(to.scale, 0, static_cast<std::size_t>(A.block_rows) * sizeof(double)), "row scales");
  check_cuda(cudaMemset(to.norm, 0, sizeof(*to.norm)), "norm");
  sum_kernel<<<blocks_for(A.block_rows * A.block), plain_threads>>>(A, to);
  judge_sums_kernel<<<blocks_for(A.block_rows), plain_threads>>>(A, to);
  double norm = 0;
  check_cuda(cudaMemcpy(&norm, to.norm, sizeof(norm), cudaMemcpyDeviceToHost), "row sums");
  return norm;
}

void start(int device, const RowFactorView& v, const RowFactorLaunch& launch) {
  if (v.rows.A.block_rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  check_cuda(cudaMemsetAsync(v.status, 0, sizeof(FactorStatus)), "status");
  kernel_of(v.rows.A.block)<<<launch.blocks, row_factor_warps * 32, static_cast<std::size_t>(launch.shared_bytes)>>>(v);
  check_cuda(cudaGetLastError(), "row factorization");
}

std::uint64_t fingerprint(int device, const BlockCsrView<double>& A) {
  if (A.block_rows == 0) return 0;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  std::int64_t entries = 0;
  check_cuda(cudaMemcpy(&entries, A.row_start + A.block_rows, sizeof(entries), cudaMemcpyDeviceToHost), "entries");
  unsigned long long *sum = nullptr, found = 0;
  check_cuda(cudaMalloc(&sum, sizeof(*sum)), "cudaMalloc");
  auto status = cudaMemset(sum, 0, sizeof(*sum));
  fingerprint_kernel<<<std::min(blocks_for(entries + A.block_rows), 1024u), plain_threads>>>(A, entries, sum);
  if (status == cudaSuccess) status = cudaMemcpy(&found, sum, sizeof(found), cudaMemcpyDeviceToHost);
  cudaFree(sum);
  check_cuda(status, "fingerprint of a pattern");
  return found;
}

}  // namespace

const RowFactorKernels* row_factor_kernels() {
  static const RowFactorKernels table{plan, measure, start, fingerprint};
  return &table;
}

}  // namespace echelon
