// SPDX-License-Identifier: BSD-3-Clause
// The table of row_factor_view.hpp: what is known of A's rows before an attempt, how much memory a warp takes, and the
// kernel of each block size and length of rows.
#include <algorithm>

#include "echelon/base/cuda_check.cuh"
#include "echelon/factor/row_factor.cuh"
#include "echelon/factor/row_factor_columns.cuh"
#include "echelon/factor/row_factor_met.cuh"
#include "echelon/factor/row_factor_scalar.cuh"
#include "echelon/factor/row_meets.cuh"

namespace echelon {
namespace {

constexpr int plain_threads = 256;
/// Of a warp, so that a processor still holds a dozen of them.
constexpr std::int64_t most_shared_bytes = 17 * 1024;
constexpr std::int64_t most_scratch_bytes = std::int64_t{512} << 20;
/// Rows much longer than the others go through the scratch, so that these have more warps.
constexpr double worth_sharing = 4;
constexpr int always_shared_entries = 32;

/// Entries and rows are kept in 16 bits where blocks of two rows are brought together.
constexpr int longest_fixed_row = 65535;
constexpr int short_row = 9;
constexpr std::int64_t most_words = std::int64_t{1} << 32;
constexpr int scan_threads = 1024;

unsigned blocks_for(std::int64_t n) { return static_cast<unsigned>((n + plain_threads - 1) / plain_threads); }

/// What the two kernels below find, of scalars.
__global__ void measure_scalars_kernel(BlockCsrView<double> A, RowMeasures to) {
  const std::int64_t row = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  double sum = 0;
  if (row < A.block_rows) {
    double scale = 0;
    bool nonfinite = false;
    for (std::int64_t n = A.row_start[row]; n < A.row_start[row + 1]; ++n) {
      const double size = magnitude(A.values[n]);
      scale = size > scale ? size : scale;
      nonfinite = nonfinite || !repair::is_finite(size);
      sum += size;
    }
    to.scale[row] = scale;
    to.nonfinite[row] = nonfinite ? 1 : 0;
    if (!repair::is_finite(sum)) sum = 0;
  }
  raise_by_warp(to.norm, sum);
}

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

using Kernel = void (*)(RowFactorView);

/// A kernel, its threads, and the rows that a warp takes at a time.
struct Chosen {
  Kernel kernel = nullptr;
  int threads = 0, rows_a_warp = 1;
};

template <int G, int C>
Chosen scalar_rows() {
  return {scalar_row_factor_kernel<G, C>, scalar_row_threads, ScalarRowLane<G, C>::rows_a_warp};
}

template <int G, int E, int C>
Chosen met_rows() {
  return {met_row_factor_kernel<G, E, C>, met_row_threads, MetRowLane<G, E, C>::rows_a_warp};
}

/// Where it is kept how rows meet. Two rows a warp take fewer instructions than one, but a row longer.
Chosen chosen_met(int stride, bool dealt) {
  switch (stride) {
    case 8: return met_rows<8, 1, 4>();
    case 16: return met_rows<16, 1, 4>();
    case 32: return dealt ? met_rows<16, 2, 4>() : met_rows<32, 1, 4>();
    case 64: return met_rows<32, 2, 4>();
    case 96: return met_rows<32, 3, 4>();
    default: return met_rows<32, 4, 4>();
  }
}

/// Rows whose columns the lanes of a group have in registers; no kernel for rows that are longer.
template <int B, int G, int S, int C, int Blocks, int... Others>
Chosen column_rows(int longest) {
  using Row = ColumnRow<B, G, S, C>;
  if (longest <= Row::most_entries) {
    return {column_row_factor_kernel<B, G, S, C, Blocks>, column_row_threads, Row::rows_a_warp};
  }
  if constexpr (sizeof...(Others) > 0) {
    return column_rows<B, Others...>(longest);
  } else {
    return {};
  }
}

/// What was fastest on an H200, more rows under way before more steps of each: blocks of four and more in long rows, and
/// those of six and more, go to tensor cores.
Chosen column_rows(const RowFactorView& v) {
  switch (v.rows.A.block) {
    case 2: return column_rows<2, 16, 1, 2, 7, 32, 2, 2, 5>(v.longest);
    case 3: return column_rows<3, 32, 1, 2, 6, 32, 3, 1, 4>(v.longest);
    case 4: return column_rows<4, 32, 1, 2, 6>(v.longest);
    case 5: return column_rows<5, 32, 2, 1, 5>(v.longest);
    default: return {};
  }
}

/// Few blocks of two short rows meet: fewer registers, more rows under way.
template <int B>
Chosen block_rows(bool is_short) {
  Kernel kernel = row_factor_kernel<B, 8>;
  if constexpr (B == 4 || B > 5) {
    if (is_short) kernel = row_factor_kernel<B, 2>;
  }
  return {kernel, row_factor_warps * 32, 1};
}

Chosen chosen(const RowFactorView& v) {
  if (v.meets.kept()) return chosen_met(v.meets.stride, v.dealt);
  if (v.words) return v.longest < 8 ? scalar_rows<8, 4>() : v.longest < 16 ? scalar_rows<16, 8>() : scalar_rows<32, 8>();
  if (const Chosen columns = column_rows(v); columns.kernel) return columns;
  const bool is_short = v.longest <= short_row;
  switch (v.longest > longest_fixed_row ? 0 : v.rows.A.block) {
    case 1: return block_rows<1>(false);
    case 2: return block_rows<2>(false);
    case 3: return block_rows<3>(false);
    case 4: return block_rows<4>(is_short);
    case 5: return block_rows<5>(false);
    case 6: return block_rows<6>(is_short);
    case 7: return block_rows<7>(is_short);
    case 8: return block_rows<8>(is_short);
    default: return block_rows<0>(false);
  }
}

/// A lane an entry, and one for the estimate.
bool fits_a_warp(const RowFactorView& v, std::int64_t words) {
  return v.rows.A.block == 1 && v.longest < 32 && words < most_words;
}

template <int G, int E>
void launch_meet(const RowFactorView& v) {
  const std::int64_t threads = v.rows.A.block_rows * G;
  row_meets_kernel<G, E>
      <<<static_cast<unsigned>((threads + row_meets_threads - 1) / row_meets_threads), row_meets_threads>>>(
          v.rows, v.tickets, v.meets);
}

void meet(int device, const RowFactorView& v) {
  if (!v.meets.kept()) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  switch (v.meets.stride) {
    case 8: launch_meet<8, 1>(v); break;
    case 16: launch_meet<16, 1>(v); break;
    case 32: launch_meet<32, 1>(v); break;
    case 64: launch_meet<32, 2>(v); break;
    case 96: launch_meet<32, 3>(v); break;
    default: launch_meet<32, 4>(v);
  }
  check_cuda(cudaGetLastError(), "how rows meet");
}

void plan_memory(const RowFactorView& v, double mean_entries, RowFactorLaunch& it) {
  if (column_rows(v).kernel) return;
  const int b = v.rows.A.block;
  const bool fixed = b <= 8 && v.longest <= longest_fixed_row;
  if (fixed) {
    const int worth = std::max(always_shared_entries, static_cast<int>(worth_sharing * mean_entries));
    const auto room = static_cast<int>((most_shared_bytes - RowRoom::judge_bytes(b)) / (8 * b * b + 8));
    it.entries_in_shared = std::min({v.longest, worth, room});
    it.shared_bytes =
        static_cast<int>(row_factor_warps * (RowRoom::judge_bytes(b) + RowRoom::row_bytes(b, it.entries_in_shared)));
  }
  if (v.longest > it.entries_in_shared) {
    it.scratch_bytes = RowRoom::row_bytes(b, v.longest) + (fixed ? 0 : RowRoom::judge_bytes(b));
  }
}

RowFactorLaunch plan(int device, const RowFactorView& v, double mean_entries, std::int64_t upper_entries) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  RowFactorLaunch it;
  RowFactorView asked = v;
  const std::int64_t words = 2 * v.rows.A.block_rows + upper_entries;
  if (v.meets.kept()) {
    it.words = (words + 1) / 2;
  } else if (fits_a_warp(v, words)) {
    it.words = words;
    static RowSweepWord some;
    asked.words = &some;
  } else {
    plan_memory(v, mean_entries, it);
  }
  const Chosen kernel = chosen(asked);
  check_cuda(cudaFuncSetAttribute(kernel.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, it.shared_bytes),
             "row factorization: shared memory");
  int processors = 0, resident = 0;
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel.kernel, kernel.threads,
                                                           static_cast<std::size_t>(it.shared_bytes)),
             "row factorization: occupancy");
  const std::int64_t rows_a_block = kernel.threads / 32 * kernel.rows_a_warp;
  std::int64_t blocks =
      std::min(std::int64_t{processors} * std::max(resident, 1), (v.rows.A.block_rows + rows_a_block - 1) / rows_a_block);
  if (it.scratch_bytes > 0) blocks = std::min(blocks, most_scratch_bytes / (it.scratch_bytes * row_factor_warps));
  it.blocks = static_cast<unsigned>(std::max<std::int64_t>(blocks, 1));
  it.warps = std::int64_t{it.blocks} * row_factor_warps;
  return it;
}

void measure(int device, const BlockCsrView<double>& A, const RowMeasures& to) {
  if (A.block_rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  check_cuda(cudaMemsetAsync(to.norm, 0, sizeof(*to.norm)), "norm");
  if (A.block == 1) {
    measure_scalars_kernel<<<blocks_for(A.block_rows), plain_threads>>>(A, to);
    check_cuda(cudaGetLastError(), "row sums");
    return;
  }
  check_cuda(cudaMemsetAsync(to.scale, 0, static_cast<std::size_t>(A.block_rows) * sizeof(double)), "row scales");
  sum_kernel<<<blocks_for(A.block_rows * A.block), plain_threads>>>(A, to);
  judge_sums_kernel<<<blocks_for(A.block_rows), plain_threads>>>(A, to);
  check_cuda(cudaGetLastError(), "row sums");
}

/// |a| of the first value of A that is finite and not zero, 1 without one: what stands for the scale of a row of zeros.
__global__ void zero_row_scale_kernel(BlockCsrView<double> A, FactorStatus* status) {
  __shared__ int first;
  const std::int64_t values = A.row_start[A.block_rows] * A.block * A.block;
  for (std::int64_t begin = 0; begin < values; begin += blockDim.x) {
    if (threadIdx.x == 0) first = blockDim.x;
    __syncthreads();
    const std::int64_t n = begin + threadIdx.x;
    const double size = n < values ? magnitude(A.values[n]) : 0;
    if (size > 0 && repair::is_finite(size)) atomicMin(&first, static_cast<int>(threadIdx.x));
    __syncthreads();
    if (first == static_cast<int>(threadIdx.x)) status->zero_row_scale = size;
    if (first < static_cast<int>(blockDim.x)) return;
    __syncthreads();
  }
  if (threadIdx.x == 0) status->zero_row_scale = 1;
}

void begin(int device, const BlockCsrView<double>& A, FactorStatus* status) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  check_cuda(cudaMemsetAsync(status, 0, sizeof(FactorStatus)), "status");
  zero_row_scale_kernel<<<1, scan_threads>>>(A, status);
  check_cuda(cudaGetLastError(), "scale of rows of zeros");
}

void start(int device, const RowFactorView& v, const RowFactorLaunch& launch) {
  if (v.rows.A.block_rows == 0) return;
  begin(device, v.rows.A, v.status);
  if (launch.words > 0) {
    // All bits: a NaN that says that a word is not there yet. None: a tag that no attempt has.
    check_cuda(
        cudaMemsetAsync(v.words, v.meets.kept() ? 0xff : 0, static_cast<std::size_t>(launch.words) * sizeof(RowSweepWord)),
        "words");
  }
  if (RowRoom::is_small(v.rows.A.block) && v.longest <= longest_fixed_row) {
    clear_published_kernel<<<launch.blocks, plain_threads>>>(v);
  }
  const Chosen kernel = chosen(v);
  const dim3 blocks(launch.blocks), threads(static_cast<unsigned>(kernel.threads));
  const auto shared_bytes = static_cast<std::size_t>(launch.shared_bytes);
  if (v.dealt) {
    // Whose rows are dealt out beforehand: none may wait for a block that has not begun.
    RowFactorView copy = v;
    void* arguments[] = {&copy};
    check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel.kernel), blocks, threads, arguments,
                                           shared_bytes, nullptr),
               "row factorization");
  } else {
    kernel.kernel<<<blocks, threads, shared_bytes>>>(v);
  }
  check_cuda(cudaGetLastError(), "row factorization");
}

}  // namespace

const RowFactorKernels* row_factor_kernels() {
  static const RowFactorKernels table{meet, plan, measure, begin, start};
  return &table;
}

}  // namespace echelon
