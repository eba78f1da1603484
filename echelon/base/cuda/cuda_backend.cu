// SPDX-License-Identifier: BSD-3-Clause
// The GPU's side of cuda_backend.hpp: memory, transfers and the vector operations.
// dot: one block of threads a chunk of `dot_chunk` elements; lane sums, the tree inside a chunk and the tree over chunks
// are those of krylov/vectors/vector_ops, so the bits are the host's.
#include <cuda_runtime.h>

#include <algorithm>
#include <string>
#include <vector>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/cuda/device_numbers.hpp"
#include "echelon/base/cuda/device_pool.cuh"
#include "echelon/base/cuda/device_scratch.cuh"
#include "echelon/base/cuda/small_upload.cuh"
#include "echelon/base/cuda/staged_upload.cuh"
#include "echelon/base/error.hpp"
#include "echelon/base/fma.hpp"
#include "echelon/base/reduction_tree.hpp"

namespace echelon {
namespace {

constexpr int threads_a_block = 256;
constexpr int bandwidth_repeats = 5;
constexpr std::size_t bandwidth_bytes = std::size_t{1} << 30;

constexpr auto check = check_cuda;

void select(int device) { check(cudaSetDevice(device), "cudaSetDevice"); }

int blocks_for(std::int64_t n) { return static_cast<int>((n + threads_a_block - 1) / threads_a_block); }

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string device_name(int device) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return properties.name;
}

int capability(int device) {
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "cudaDeviceGetAttribute");
  return 10 * major + minor;
}

std::int64_t free_bytes(int device) {
  select(device);
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return static_cast<std::int64_t>(free + pool_unused_bytes(device));
}

bool has_free(int device, std::int64_t bytes) {
  return bytes <= static_cast<std::int64_t>(pool_unused_bytes(device)) || bytes <= free_bytes(device);
}

void copy(int device, void* to, const void* from, std::size_t bytes, CopyKind kind) {
  select(device);
  if (kind == CopyKind::host_to_device && bytes >= least_staged_bytes) return staged_upload(device, to, from, bytes);
  if (kind == CopyKind::host_to_device && bytes <= most_small_bytes && small_upload(device, to, from, bytes)) return;
  const auto direction = kind == CopyKind::host_to_device   ? cudaMemcpyHostToDevice
                         : kind == CopyKind::device_to_host ? cudaMemcpyDeviceToHost
                                                            : cudaMemcpyDeviceToDevice;
  check(cudaMemcpy(to, from, bytes, direction), "cudaMemcpy");
}

__global__ void fill_kernel(double* x, std::int64_t n, double value) {
  const std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i < n) x[i] = value;
}

__global__ void axpy_kernel(double a, const double* x, double* y, std::int64_t n) {
  const std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i < n) y[i] = fma(a, x[i], y[i]);
}

/// One chunk a block, one lane a thread: lane l sums elements l, l+lanes, … of its chunk, then the lanes halve.
__global__ void dot_kernel(const double* x, const double* y, std::int64_t n, double* partial) {
  __shared__ double lane_sum[reduction::lanes];
  const int lane = threadIdx.x;
  const std::int64_t begin = blockIdx.x * std::int64_t{reduction::chunk};
  const std::int64_t end = begin + reduction::chunk < n ? begin + reduction::chunk : n;
  double sum = 0;
  for (std::int64_t i = begin + lane; i < end; i += reduction::lanes) sum = fma(x[i], y[i], sum);
  lane_sum[lane] = sum;
  for (int half = reduction::lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half) lane_sum[lane] += lane_sum[lane + half];
  }
  if (lane == 0) partial[blockIdx.x] = lane_sum[0];
}

void clear(int device, void* pointer, std::size_t bytes) {
  if (bytes == 0) return;
  select(device);
  check(cudaMemsetAsync(pointer, 0, bytes), "cudaMemset");
}

void fill(int device, double* x, std::int64_t n, double value) {
  if (n == 0) return;
  select(device);
  fill_kernel<<<blocks_for(n), threads_a_block>>>(x, n, value);
  check(cudaGetLastError(), "fill");
}

double dot(int device, const double* x, const double* y, std::int64_t n) {
  if (n == 0) return 0;
  select(device);
  const std::int64_t chunks = reduction::chunks(n);
  double* partial = static_cast<double*>(pool_allocate(device, static_cast<std::size_t>(chunks) * sizeof(double)));
  if (!partial) throw Error(ErrorCode::out_of_memory, "dot: no device memory for the partial sums");
  dot_kernel<<<static_cast<int>(chunks), reduction::lanes>>>(x, y, n, partial);
  std::vector<double> host(static_cast<std::size_t>(chunks));
  const auto status = cudaMemcpy(host.data(), partial, host.size() * sizeof(double), cudaMemcpyDeviceToHost);
  pool_release(device, partial);
  check(status, "dot");
  return reduction::tree_sum(host.data(), chunks);
}

double largest(int device, const double* x, std::int64_t n) {
  if (n == 0) return 0;
  const DeviceScratch scratch(device, sizeof(unsigned long long));
  auto* const top = scratch.as<unsigned long long>();
  number_kernels()->largest(device, x, n, top);
  double found = 0;
  check(cudaMemcpy(&found, top, sizeof(found), cudaMemcpyDeviceToHost), "largest");
  return found;
}

void axpy(int device, double a, const double* x, double* y, std::int64_t n) {
  if (n == 0) return;
  select(device);
  axpy_kernel<<<blocks_for(n), threads_a_block>>>(a, x, y, n);
  check(cudaGetLastError(), "axpy");
}

__global__ void scaled_gather_kernel(ScaledGather what) {
  const std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i < what.n) what.to[i] = what.scale[i] * what.from[what.index ? what.index[i] : i];
}

void scaled_gather(int device, const ScaledGather& what) {
  if (what.n == 0) return;
  select(device);
  scaled_gather_kernel<<<blocks_for(what.n), threads_a_block>>>(what);
  check(cudaGetLastError(), "scaled_gather");
}

double copy_bandwidth(int device) {
  void* from = pool_allocate(device, bandwidth_bytes);
  void* to = pool_allocate(device, bandwidth_bytes);
  cudaEvent_t start = nullptr, stop = nullptr;
  double best = 0;
  if (from && to && cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&stop) == cudaSuccess) {
    for (int repeat = 0; repeat < bandwidth_repeats; ++repeat) {
      cudaEventRecord(start);
      cudaMemcpyAsync(to, from, bandwidth_bytes, cudaMemcpyDeviceToDevice);
      cudaEventRecord(stop);
      cudaEventSynchronize(stop);
      float milliseconds = 0;
      cudaEventElapsedTime(&milliseconds, start, stop);
      const double rate = 2.0 * bandwidth_bytes / (milliseconds * 1e-3);
      if (rate > best) best = rate;
    }
  }
  if (start) cudaEventDestroy(start);
  if (stop) cudaEventDestroy(stop);
  pool_release(device, from);
  pool_release(device, to);
  check(cudaGetLastError(), "copy_bandwidth");
  return best;
}

double seconds(int device, const std::function<void()>& launches) {
  select(device);
  cudaEvent_t start = nullptr, stop = nullptr;
  check(cudaEventCreate(&start), "cudaEventCreate");
  check(cudaEventCreate(&stop), "cudaEventCreate");
  cudaEventRecord(start);
  launches();
  cudaEventRecord(stop);
  const auto status = cudaEventSynchronize(stop);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, start, stop);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  check(status, "what was timed");
  return milliseconds * 1e-3;
}

}  // namespace

const CudaBackend* cuda_backend() {
  static const CudaBackend table{device_count, device_name,   capability,     free_bytes, has_free, pool_allocate,
                                 pool_release, copy,          clear,          fill,       dot,      largest,
                                 axpy,         scaled_gather, copy_bandwidth, seconds};
  return &table;
}

}  // namespace echelon
