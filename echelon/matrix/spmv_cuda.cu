// SPDX-License-Identifier: BSD-3-Clause
// The kernel of device_product.hpp: a thread a scalar row, rows of a plane side by side, so that the values of an entry are
// read in one stream, and a few planes a thread. Entries go in batches whose loads are all under way before the first fma; a
// neighbour outside is neither read nor multiplied. Bytes a scalar row: 8 b an entry, and 16.
#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/error.hpp"
#include "echelon/base/fma.hpp"
#include "echelon/matrix/grid_gpu/device_product.hpp"

namespace echelon {
namespace {

constexpr int threads_a_block = 256;
constexpr int most_planes = 65535;
constexpr int planes_a_thread = 8;
constexpr int most_offsets = 1024;

/// Entries whose loads are under way together.
template <int B>
constexpr int batch = B == 1   ? 9
                      : B <= 4 ? 4
                               : 2;

constexpr auto check = check_cuda;

/// Of one point: which entries lie inside, and where.
struct Neighbours {
  int i, j, k, nx, ny, nz;
  bool whole;           // nowhere near a face
  const int4* offsets;  // and the distance in points

  __device__ bool inside(int e) const {
    if (whole) return true;
    const int4 o = offsets[e];
    return i + o.x >= 0 && i + o.x < nx && j + o.y >= 0 && j + o.y < ny && k + o.z >= 0 && k + o.z < nz;
  }
};

template <int B, class T>
__device__ __forceinline__ T row_of(const DeviceProductView<T>& v, const Neighbours& at, std::int64_t point, int row) {
  const std::int64_t bb = std::int64_t{B} * B, plane = std::int64_t{v.nx} * v.ny * v.nz * bb;
  const T* a = v.values + point * bb + row;
  const T* x = v.x + point * B;
  T sum = 0;
  for (int e = 0; e < v.entries; e += batch<B>) {
    T A[batch<B>][B], X[batch<B>][B];
    bool has[batch<B>];
#pragma unroll
    for (int n = 0; n < batch<B>; ++n) {
      has[n] = e + n < v.entries && at.inside(e + n);
      if (!has[n]) continue;
      const T* from = x + std::int64_t{at.offsets[e + n].w} * B;
#pragma unroll
      for (int c = 0; c < B; ++c) {
        A[n][c] = a[(e + n) * plane + c * B];
        X[n][c] = __ldg(from + c);
      }
    }
#pragma unroll
    for (int n = 0; n < batch<B>; ++n) {
#pragma unroll
      for (int c = 0; c < B; ++c) sum = has[n] ? fma(A[n][c], X[n][c], sum) : sum;
    }
  }
  return sum;
}

/// Any block size.
template <class T>
__device__ T row_of_any(const DeviceProductView<T>& v, const Neighbours& at, std::int64_t point, int row) {
  const int b = v.block;
  const std::int64_t bb = std::int64_t{b} * b, plane = std::int64_t{v.nx} * v.ny * v.nz * bb;
  T sum = 0;
  for (int e = 0; e < v.entries; ++e) {
    if (!at.inside(e)) continue;
    const T* a = v.values + e * plane + point * bb + row;
    const T* x = v.x + (point + at.offsets[e].w) * b;
    for (int c = 0; c < b; ++c) sum = fma(a[c * b], x[c], sum);
  }
  return sum;
}

/// B = 0 takes the block size at run time.
template <int B, class T>
__global__ void __launch_bounds__(threads_a_block) product_kernel(const __grid_constant__ DeviceProductView<T> v) {
  __shared__ int4 offsets[most_offsets];
  __shared__ int reach[6];
  if (threadIdx.x < 6) reach[threadIdx.x] = 0;
  __syncthreads();
  for (int e = threadIdx.x; e < v.entries; e += threads_a_block) {
    const Offset o = v.offsets[e];
    offsets[e] = make_int4(o.x, o.y, o.z, static_cast<int>((std::int64_t{o.z} * v.ny + o.y) * v.nx + o.x));
    atomicMax(reach, -o.x), atomicMax(reach + 1, o.x);
    atomicMax(reach + 2, -o.y), atomicMax(reach + 3, o.y);
    atomicMax(reach + 4, -o.z), atomicMax(reach + 5, o.z);
  }
  __syncthreads();
  const int b = B > 0 ? B : v.block;
  const int n = static_cast<int>(blockIdx.x) * threads_a_block + threadIdx.x;
  if (n >= v.nx * v.ny * b) return;
  const int in_plane = n / b, row = n - in_plane * b, j = in_plane / v.nx, i = in_plane - j * v.nx;
  const bool whole = i >= reach[0] && i + reach[1] < v.nx && j >= reach[2] && j + reach[3] < v.ny;
  const int planes = (v.nz + static_cast<int>(gridDim.y) - 1) / static_cast<int>(gridDim.y);
  for (int k = static_cast<int>(blockIdx.y) * planes; k < min(v.nz, static_cast<int>(blockIdx.y + 1) * planes); ++k) {
    const Neighbours at{i, j, k, v.nx, v.ny, v.nz, whole && k >= reach[4] && k + reach[5] < v.nz, offsets};
    const std::int64_t point = std::int64_t{k} * v.nx * v.ny + in_plane;
    v.y[point * b + row] = B > 0 ? row_of<(B > 0 ? B : 1)>(v, at, point, row) : row_of_any(v, at, point, row);
  }
}

template <class T, int B>
void launch(const DeviceProductView<T>& v) {
  const std::int64_t rows = std::int64_t{v.nx} * v.ny * v.block;
  const dim3 blocks(static_cast<unsigned>((rows + threads_a_block - 1) / threads_a_block),
                    static_cast<unsigned>(std::min((v.nz + planes_a_thread - 1) / planes_a_thread, most_planes)));
  product_kernel<B><<<blocks, threads_a_block>>>(v);
}

template <class T>
void product(int device, const DeviceProductView<T>& v) {
  check(cudaSetDevice(device), "cudaSetDevice");
  switch (v.block) {
    case 1: launch<T, 1>(v); break;
    case 2: launch<T, 2>(v); break;
    case 3: launch<T, 3>(v); break;
    case 4: launch<T, 4>(v); break;
    case 5: launch<T, 5>(v); break;
    case 6: launch<T, 6>(v); break;
    case 7: launch<T, 7>(v); break;
    case 8: launch<T, 8>(v); break;
    default: launch<T, 0>(v);
  }
  check(cudaGetLastError(), "the product");
}

}  // namespace

template <>
DeviceProductKernel<double> device_product_kernel<double>() {
  return &product<double>;
}
template <>
DeviceProductKernel<float> device_product_kernel<float>() {
  return &product<float>;
}

}  // namespace echelon
