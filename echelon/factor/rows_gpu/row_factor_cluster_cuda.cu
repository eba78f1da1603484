// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/cuda/shared_limit.cuh"
#include "echelon/factor/rows_gpu/row_factor_cluster.cuh"
#include "echelon/factor/rows_gpu/row_factor_cluster.hpp"

namespace echelon {
namespace {

/// With fewer, too few rows are under way.
constexpr unsigned most_blocks = 16, fewest_blocks = 8;

using Kernel = void (*)(RowFactorView, int);

struct Chosen {
  Kernel kernel;
  int threads;
};

template <int E>
Chosen cluster_rows() {
  return {cluster_row_factor_kernel<E>, cluster_row_threads(E)};
}

Chosen chosen(int stride) {
  switch (stride) {
    case 8:
    case 16:
    case 32: return cluster_rows<1>();
    case 64: return cluster_rows<2>();
    case 96: return cluster_rows<3>();
    case 128: return cluster_rows<4>();
    case 192: return cluster_rows<6>();
    default: return cluster_rows<8>();
  }
}

LaunchShape shape_of(const RowFactorLaunch& launch) {
  return {dim3(launch.blocks), dim3(static_cast<unsigned>(launch.cluster_threads)),
          static_cast<std::size_t>(launch.shared_bytes), launch.blocks};
}

/// The device has room for a cluster of that shape.
bool is_possible(Kernel kernel, const LaunchShape& shape) {
  int clusters = 0;
  const cudaError_t asked = active_clusters(kernel, shape, &clusters);
  if (asked != cudaSuccess) static_cast<void>(cudaGetLastError());
  return asked == cudaSuccess && clusters > 0;
}

}  // namespace

bool plan_cluster(int device, const RowFactorView& v, RowFactorLaunch& launch) {
  // By depth: rows in chains. Others have more rows at once than a cluster has warps.
  if (!v.tickets || !words_may_be_shared) return false;
  const Chosen kernel = chosen(v.meets.stride);
  cudaFuncAttributes of_kernel;
  check_cuda(cudaFuncGetAttributes(&of_kernel, kernel.kernel), "row factorization: attributes");
  int most = 0;
  check_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
  const std::int64_t bytes = std::int64_t{sizeof(RowSweepWord)} * launch.words;
  if (bytes > most - static_cast<std::int64_t>(of_kernel.sharedSizeBytes)) return false;
  raise_shared_limit(kernel.kernel, static_cast<int>(bytes), "row factorization: shared memory");
  check_cuda(cudaFuncSetAttribute(kernel.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
             "row factorization: cluster");
  RowFactorLaunch it;
  it.cluster_words = static_cast<int>(bytes / std::int64_t{sizeof(double)});
  it.shared_bytes = static_cast<int>(bytes);
  it.cluster_threads = kernel.threads;
  for (it.blocks = most_blocks; it.blocks >= fewest_blocks; it.blocks /= 2) {
    if (!is_possible(kernel.kernel, shape_of(it))) continue;
    launch = it;
    return true;
  }
  return false;
}

void start_cluster(const RowFactorView& v, const RowFactorLaunch& launch) {
  launch_behind(chosen(v.meets.stride).kernel, shape_of(launch), "row factorization", v, launch.cluster_words);
}

}  // namespace echelon
