// SPDX-License-Identifier: BSD-3-Clause
// The way from a view's numbers to compiled sweeps, and how many blocks of threads a device holds of each.
#include <algorithm>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/cuda/shared_limit.cuh"
#include "echelon/sweep/rows_gpu/row_sweep.cuh"
#include "echelon/sweep/rows_gpu/row_sweep_one_block.hpp"

namespace echelon {
namespace {

using Kernel = void (*)(RowSweepView);

/// A kernel, its threads, its shared memory, and the rows that a block of threads takes at a time.
struct Chosen {
  Kernel kernel;
  int threads, shared_bytes, rows;
};

template <bool lower, int B, int E>
Chosen fixed(int columns) {
  const int rows = device::RowLane<lower, B, E, 1>::rows_a_warp * device::row_sweep_threads / 32;
  const Kernel kernel = columns == 1   ? device::row_sweep_kernel<lower, B, E, 1>
                        : columns == 2 ? device::row_sweep_kernel<lower, B, E, 2>
                                       : device::row_sweep_kernel<lower, B, E, 4>;
  return {kernel, device::row_sweep_threads, 0, rows};
}

/// Rows this short take a lane an entry for three of them, so that more rows are under way.
constexpr double few_entries = 4;

template <bool lower>
Chosen chosen(const RowSweepView& v) {
  const bool few = v.mean_entries <= few_entries;
  switch (v.block) {
    // 8 and 16 are slower for 7 and 27 entries, in few and in many levels.
    case 1:
      if (few && v.scattered) return fixed<lower, 1, 2>(v.columns);  // what is asked for is there, more rows count
      return few ? fixed<lower, 1, 3>(v.columns) : fixed<lower, 1, 4>(v.columns);
    case 2: return few ? fixed<lower, 2, 3>(v.columns) : fixed<lower, 2, 4>(v.columns);
    case 3: return fixed<lower, 3, 3>(v.columns);
    case 4: return fixed<lower, 4, 4>(v.columns);
    case 5: return fixed<lower, 5, 3>(v.columns);
    case 6: return fixed<lower, 6, 2>(v.columns);
    case 7: return fixed<lower, 7, 2>(v.columns);
    case 8: return fixed<lower, 8, 2>(v.columns);
    default: return {device::row_sweep_generic<lower>, 32, v.block * static_cast<int>(sizeof(double)), 1};
  }
}

Chosen chosen_for(const RowSweepView& v) { return v.lower ? chosen<true>(v) : chosen<false>(v); }

void plan(int device, RowSweepView& v) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  v.blocks = 1;
  if (plan_one_block(device, v)) return;
  const Chosen it = chosen_for(v);
  raise_shared_limit(it.kernel, it.shared_bytes, "row sweep: shared memory");
  int processors = 0, resident = 0;
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, it.kernel, it.threads,
                                                           static_cast<std::size_t>(it.shared_bytes)),
             "row sweep: occupancy");
  const std::int64_t useful = (v.rows + it.rows - 1) / it.rows, held = std::int64_t{processors} * std::max(resident, 1);
  v.blocks = static_cast<unsigned>(std::clamp<std::int64_t>(useful, 1, held));
}

void launch(int device, const RowSweepView& v) {
  if (v.rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  if (v.one_block.used()) {
    launch_one_block(v);
    return;
  }
  const Chosen it = chosen_for(v);
  it.kernel<<<v.blocks, static_cast<unsigned>(it.threads), static_cast<std::size_t>(it.shared_bytes)>>>(v);
  check_cuda(cudaGetLastError(), "row sweep");
}

}  // namespace

const RowSweepKernels* row_sweep_kernels() {
  static const RowSweepKernels table{plan, launch};
  return &table;
}

}  // namespace echelon
