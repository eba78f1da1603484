// SPDX-License-Identifier: BSD-3-Clause
// Launches of iterated triangular solves. A sweep: a thread a scalar row, as many CTAs as that takes. A cluster: its size
// may be above the portable eight, which the kernel must be told.
#include <algorithm>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/sweep/iterated/iterated_machines.cuh"

namespace echelon {
namespace device {
namespace {

constexpr int copy_threads = 256;

template <int B>
__global__ void __launch_bounds__(iteration_threads) iterated_sweep_kernel(const __grid_constant__ IterationSweep v) {
  CtaMachine machine;
  sweep_stored_rows<B>(v, machine);
}

template <int B, bool resident>
__global__ void __launch_bounds__(ClusterView::most_threads(B), 1)
    iterated_cluster_kernel(const __grid_constant__ ClusterView v) {
  ClusterMachine machine(v.ctas);
  iterate_in_cluster<B, resident>(v, machine);
}

template <int E>
__global__ void __launch_bounds__(ClusterView::most_holding_threads(E), 1)
    iterated_held_kernel(const __grid_constant__ ClusterView v) {
  ClusterMachine machine(v.ctas);
  iterate_held_rows<E>(v, machine);
}

__global__ void __launch_bounds__(copy_threads) iteration_copy_kernel(const __grid_constant__ IterationCopy v) {
  const std::int64_t n = std::int64_t{blockIdx.x} * copy_threads + threadIdx.x;
  if (n < v.rows * v.block) copy_scalar(v, n);
}

}  // namespace
}  // namespace device

namespace {

constexpr unsigned ctas_for(std::int64_t work, std::int64_t a_cta) {
  return static_cast<unsigned>((work + a_cta - 1) / a_cta);
}

using SweepKernel = void (*)(IterationSweep);
using ClusterKernel = void (*)(ClusterView);

SweepKernel sweep_kernel(int block) {
  switch (block) {
    case 1: return device::iterated_sweep_kernel<1>;
    case 2: return device::iterated_sweep_kernel<2>;
    case 3: return device::iterated_sweep_kernel<3>;
    case 4: return device::iterated_sweep_kernel<4>;
    case 5: return device::iterated_sweep_kernel<5>;
    case 6: return device::iterated_sweep_kernel<6>;
    case 7: return device::iterated_sweep_kernel<7>;
    case 8: return device::iterated_sweep_kernel<8>;
    default: return device::iterated_sweep_kernel<0>;
  }
}

template <bool resident>
ClusterKernel cluster_kernel(int block) {
  switch (block) {
    case 1: return device::iterated_cluster_kernel<1, resident>;
    case 2: return device::iterated_cluster_kernel<2, resident>;
    case 3: return device::iterated_cluster_kernel<3, resident>;
    case 4: return device::iterated_cluster_kernel<4, resident>;
    case 5: return device::iterated_cluster_kernel<5, resident>;
    case 6: return device::iterated_cluster_kernel<6, resident>;
    case 7: return device::iterated_cluster_kernel<7, resident>;
    case 8: return device::iterated_cluster_kernel<8, resident>;
    default: return device::iterated_cluster_kernel<0, resident>;
  }
}

ClusterKernel held_kernel(int entries) {
  return entries <= 4    ? device::iterated_held_kernel<4>
         : entries <= 8  ? device::iterated_held_kernel<8>
         : entries <= 10 ? device::iterated_held_kernel<10>
         : entries <= 13 ? device::iterated_held_kernel<13>
                         : device::iterated_held_kernel<16>;
}

ClusterKernel cluster_kernel(const ClusterView& v) {
  if (v.form == ClusterForm::held) return held_kernel(v.held_entries);
  return v.form == ClusterForm::resident ? cluster_kernel<true>(v.block) : cluster_kernel<false>(v.block);
}

void sweep(int device, const IterationSweep& v) {
  if (v.rows.rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const int b = v.rows.block, blocks = row_blocks_a_cta(b);
  const auto bytes = b == 1 ? 0 : static_cast<std::size_t>(blocks) * static_cast<std::size_t>(b) * sizeof(double);
  const SweepKernel kernel = sweep_kernel(b);
  constexpr std::size_t without_asking = 48 * 1024;
  if (bytes > without_asking) {
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
               "iterated sweep: shared memory");
  }
  kernel<<<ctas_for(v.rows.rows, blocks * v.rows.rows_a_block), iteration_threads, bytes>>>(v);
  check_cuda(cudaGetLastError(), "iterated sweep");
}

void copy(int device, const IterationCopy& v) {
  if (v.rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  device::iteration_copy_kernel<<<ctas_for(v.rows * v.block, device::copy_threads), device::copy_threads>>>(v);
  check_cuda(cudaGetLastError(), "iterated solve: copy");
}

/// A launch of one cluster; `attribute` must outlive it.
cudaLaunchConfig_t configuration(const ClusterView& v, cudaLaunchAttribute& attribute) {
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(v.ctas), 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(v.ctas));
  config.blockDim = dim3(static_cast<unsigned>(v.threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(v.layout.bytes);
  config.attrs = &attribute;
  config.numAttrs = 1;
  return config;
}

/// What does not fit is an answer here, not an error.
bool can_cluster(int device, const ClusterView& v) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  int most_bytes = 0, has_clusters = 0;
  check_cuda(cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
  check_cuda(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, device), "cudaDeviceGetAttribute");
  if (has_clusters == 0 || v.layout.bytes > most_bytes || v.threads > threads_at_most(v)) return false;
  const ClusterKernel kernel = cluster_kernel(v);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_bytes),
             "iterated cluster: shared memory");
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "iterated cluster: its size");
  cudaLaunchAttribute attribute = {};
  const cudaLaunchConfig_t config = configuration(v, attribute);
  int clusters = 0;
  const cudaError_t status = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  return status == cudaSuccess && clusters > 0;
}

void cluster(int device, const ClusterView& v) {
  if (v.rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  cudaLaunchAttribute attribute = {};
  const cudaLaunchConfig_t config = configuration(v, attribute);
  check_cuda(cudaLaunchKernelEx(&config, cluster_kernel(v), v), "iterated cluster");
}

}  // namespace

const IterationLaunches* iteration_launches() {
  static const IterationLaunches table{sweep, copy, cluster, can_cluster};
  return &table;
}

}  // namespace echelon
