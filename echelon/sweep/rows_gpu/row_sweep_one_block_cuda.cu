// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/cuda/shared_limit.cuh"
#include "echelon/sweep/rows_gpu/row_sweep_one_block.cuh"
#include "echelon/sweep/rows_gpu/row_sweep_one_block.hpp"

namespace echelon {
namespace {

using Kernel = void (*)(RowSweepView);

template <bool lower>
Kernel chosen(int block) {
  switch (block) {
    case 1: return device::one_block_sweep_kernel<lower, 1>;
    case 2: return device::one_block_sweep_kernel<lower, 2>;
    case 3: return device::one_block_sweep_kernel<lower, 3>;
    case 4: return device::one_block_sweep_kernel<lower, 4>;
    case 5: return device::one_block_sweep_kernel<lower, 5>;
    case 6: return device::one_block_sweep_kernel<lower, 6>;
    case 7: return device::one_block_sweep_kernel<lower, 7>;
    default: return device::one_block_sweep_kernel<lower, 8>;
  }
}

Kernel chosen_for(const RowSweepView& v) { return v.lower ? chosen<true>(v.block) : chosen<false>(v.block); }

}  // namespace

bool plan_one_block(int device, RowSweepView& v) {
  v.one_block = {};
  if (!v.tickets || v.columns > 1 || !words_may_be_shared) return false;
  int most = 0;
  check_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
  v.one_block = OneBlockPlan::make(v.rows, v.levels, v.block, v.longest, v.mean_entries, most);
  if (!v.one_block.used()) return false;
  raise_shared_limit(chosen_for(v), v.one_block.shared_bytes, "row sweep: shared memory");
  return true;
}

void launch_one_block(const RowSweepView& v) {
  const OneBlockPlan& plan = v.one_block;
  chosen_for(v)<<<1, static_cast<unsigned>(plan.threads), static_cast<std::size_t>(plan.shared_bytes)>>>(v);
  check_cuda(cudaGetLastError(), "row sweep");
}

}  // namespace echelon
