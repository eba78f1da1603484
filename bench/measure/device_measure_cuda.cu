// SPDX-License-Identifier: BSD-3-Clause
// The GPU's side of device_measure.hpp. One thread a block's row when values are made (8·b bytes each), one a grid stride
// of elements for a fingerprint; none of this is timed.
#include <cuda_runtime.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/measure/device_measure.hpp"
#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/error.hpp"

namespace echelon::bench {
namespace {

constexpr int threads_a_block = 256;
constexpr int fingerprint_blocks = 1024;

constexpr auto check = check_cuda;

unsigned blocks_for(std::int64_t n) { return static_cast<unsigned>((n + threads_a_block - 1) / threads_a_block); }

__device__ std::int64_t thread_index() { return blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; }

__global__ void values_kernel(ValueShape shape, double* values) {
  const std::int64_t row = thread_index(), rows = shape.points() * shape.dof;
  if (row >= rows) return;
  const std::int64_t point = row / shape.dof;
  const int r = static_cast<int>(row - point * shape.dof), e = blockIdx.y;
  const Ijk p = shape.at(point);
  const bool inside = shape.inside(p, e);
  double* block = values + (e * shape.points() + point) * shape.dof * shape.dof + r;
  for (int c = 0; c < shape.dof; ++c) block[c * shape.dof] = inside ? shape.value(p, e, r, c) : 0.0;
}

__global__ void right_hand_side_kernel(double* b, std::int64_t n) {
  const std::int64_t i = thread_index();
  if (i < n) b[i] = sin(static_cast<double>(i));
}

/// partial[2·block] = Σ z², partial[2·block + 1] = Σ z cos(0.7 i) of the block's elements.
__global__ void fingerprint_kernel(const double* z, std::int64_t n, double* partial) {
  __shared__ double square_of[threads_a_block], probe_of[threads_a_block];
  double square = 0, probe = 0;
  for (std::int64_t i = thread_index(); i < n; i += std::int64_t{gridDim.x} * blockDim.x) {
    square += z[i] * z[i];
    probe += z[i] * cos(0.7 * static_cast<double>(i));
  }
  square_of[threadIdx.x] = square;
  probe_of[threadIdx.x] = probe;
  for (unsigned half = threads_a_block / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    square_of[threadIdx.x] += square_of[threadIdx.x + half];
    probe_of[threadIdx.x] += probe_of[threadIdx.x + half];
  }
  if (threadIdx.x > 0) return;
  partial[2 * blockIdx.x] = square_of[0];
  partial[2 * blockIdx.x + 1] = probe_of[0];
}

void make_values(const ValueShape& shape, double* values) {
  const dim3 blocks(blocks_for(shape.points() * shape.dof), static_cast<unsigned>(shape.entries));
  values_kernel<<<blocks, threads_a_block>>>(shape, values);
  check(cudaDeviceSynchronize(), "values of the case");
}

void make_right_hand_side(double* b, std::int64_t n) {
  right_hand_side_kernel<<<blocks_for(n), threads_a_block>>>(b, n);
  check(cudaDeviceSynchronize(), "right-hand side of the case");
}

Fingerprint device_fingerprint(const double* z, std::int64_t n) {
  Array<double> partial(2 * fingerprint_blocks, Device::cuda());
  fingerprint_kernel<<<fingerprint_blocks, threads_a_block>>>(z, n, partial.data());
  check(cudaDeviceSynchronize(), "fingerprint");
  const auto sums = partial.to(Device::host());
  Fingerprint result;
  for (int block = 0; block < fingerprint_blocks; ++block) {
    result.norm += sums[2 * block];
    result.probe += sums[2 * block + 1];
  }
  result.norm = std::sqrt(result.norm);
  return result;
}

struct Event {
  cudaEvent_t event = nullptr;
  Event() { check(cudaEventCreate(&event), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event); }
};

double seconds(const std::function<void()>& work) {
  const Event begin, end;
  check(cudaDeviceSynchronize(), "work before the measured");
  check(cudaEventRecord(begin.event), "cudaEventRecord");
  work();
  check(cudaEventRecord(end.event), "cudaEventRecord");
  check(cudaDeviceSynchronize(), "the measured work");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin.event, end.event), "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

void* make_mark() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "cudaEventCreate");
  return event;
}

void set_mark(void* mark) { check(cudaEventRecord(static_cast<cudaEvent_t>(mark)), "cudaEventRecord"); }

double between(void* first, void* second) {
  check(cudaEventSynchronize(static_cast<cudaEvent_t>(second)), "the measured work");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(first), static_cast<cudaEvent_t>(second)),
        "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

void release_mark(void* mark) { cudaEventDestroy(static_cast<cudaEvent_t>(mark)); }

}  // namespace

const DeviceMeasure* device_measure() {
  static const DeviceMeasure table{make_values, make_right_hand_side, device_fingerprint, seconds, make_mark, set_mark,
                                   between,     release_mark};
  return &table;
}

}  // namespace echelon::bench
