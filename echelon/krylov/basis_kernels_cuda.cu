// SPDX-License-Identifier: BSD-3-Clause
// The work on the columns of a basis on a GPU: vectors are read once, columns once. Coefficients travel with the launch.
// Every sum is that of lane_sums.inl on the host: same bits. Bytes an element: 8 (fp32: 4) a column, and besides multi_dot 8
// a group of columns (mostly from the L2 cache), subtract 16, subtract_and_store 24 (fp32: 20), pair_dot 16,
// pair_subtract 48.
#include <algorithm>

#include "echelon/krylov/reduction_cuda.cuh"

namespace echelon {
namespace {

using device::ChunkOfWarp;
using device::reduce_threads;
using device::warp_lanes;

/// Columns that share one read of w (of w₁ and w₂).
constexpr int dot_columns = 16, pair_dot_columns = 8;
/// Elements of a lane and columns whose loads are under way together in the updates.
constexpr int rows_together = 4, columns_together = 8;
constexpr int store_threads = 256;
/// What travels with one launch.
constexpr int most_coefficients = 384;

struct Coefficients {
  double h[most_coefficients];
};

/// sums[j] = column j · w; behind the last column w·w. Groups of columns are neighbouring blocks, so that they share w.
template <class T>
__global__ void __launch_bounds__(reduce_threads)
    multi_dot_kernel(ColumnsView<T> V, const double* w, std::int64_t n, unsigned blocks, double* partial) {
  constexpr int C = dot_columns;
  const int groups = (V.count + C) / C;  // of count columns and w itself
  const auto group = static_cast<int>(blockIdx.x % groups);
  const unsigned block = blockIdx.x / groups;
  const int first = group * C, own = min(C, V.count + 1 - first);
  const ChunkOfWarp chunk(n, block);
  double sum[C] = {};
  const T* column = V.data + first * V.stride;
  for (std::int64_t i = chunk.begin + threadIdx.x % warp_lanes; i < chunk.end; i += warp_lanes) {
    const double in = w[i];
    double v[C];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if (c < own) v[c] = first + c < V.count ? static_cast<double>(column[c * V.stride + i]) : in;
    }
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if (c < own) sum[c] = fma(v[c], in, sum[c]);
    }
  }
  // Sums that no column has are folded too, and go where nobody looks: the last group has room for them.
  device::fold(sum, n, block, blocks, partial + std::int64_t{first} * blocks);
}

/// sums[2j], sums[2j + 1] = column j · w₁, · w₂; behind them w₁·w₁, w₁·w₂, w₂·w₂, as columns w₁ (twice) and w₂ (once).
__global__ void __launch_bounds__(reduce_threads)
    pair_dot_kernel(ColumnsView<double> V, const double* w1, const double* w2, std::int64_t n, double* partial) {
  constexpr int C = pair_dot_columns;
  const int groups = (V.count + 1 + C) / C;  // of count columns, w₁ and w₂
  const auto group = static_cast<int>(blockIdx.x % groups);
  const unsigned block = blockIdx.x / groups, blocks = gridDim.x / groups;
  const int first = group * C, own = min(C, V.count + 2 - first);
  const ChunkOfWarp chunk(n, block);
  double sum[2 * C] = {};
  const double* column = V.data + first * V.stride;
  for (std::int64_t i = chunk.begin + threadIdx.x % warp_lanes; i < chunk.end; i += warp_lanes) {
    const double in1 = w1[i], in2 = w2[i];
    double v[C];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if (c < own) v[c] = first + c < V.count ? column[c * V.stride + i] : first + c == V.count ? in1 : in2;
    }
#pragma unroll
    for (int c = 0; c < C; ++c) {
      // Of w₂ as a column only w₂·w₂ is asked for; it stands where w₂·w₁ would.
      const bool last = first + c == V.count + 1;
      if (c < own) sum[2 * c] = fma(v[c], last ? in2 : in1, sum[2 * c]);
      if (c < own && !last) sum[2 * c + 1] = fma(v[c], in2, sum[2 * c + 1]);
    }
  }
  device::fold(sum, n, block, blocks, partial + std::int64_t{2 * first} * blocks);
}

/// w less the columns, for `rows_together` elements of a lane from i on; those behind the end are zero.
template <int Vectors, class T>
struct Remainders {
  double left[Vectors][rows_together];
  bool has[rows_together];

  __device__ __forceinline__ Remainders(ColumnsView<T> V, const Coefficients& by, const double* const (&w)[Vectors],
                                        std::int64_t i, std::int64_t end) {
#pragma unroll
    for (int k = 0; k < rows_together; ++k) {
      has[k] = i + k * warp_lanes < end;
#pragma unroll
      for (int m = 0; m < Vectors; ++m) left[m][k] = has[k] ? w[m][i + k * warp_lanes] : 0.0;
    }
    for (int j = 0; j < V.count; j += columns_together) {
      T v[columns_together][rows_together];
#pragma unroll
      for (int c = 0; c < columns_together; ++c) {
        const T* column = V.data + (j + c) * V.stride + i;
#pragma unroll
        for (int k = 0; k < rows_together; ++k) {
          if (j + c < V.count && has[k]) v[c][k] = column[k * warp_lanes];
        }
      }
#pragma unroll
      for (int c = 0; c < columns_together; ++c) {
        if (j + c >= V.count) continue;
#pragma unroll
        for (int k = 0; k < rows_together; ++k) {
#pragma unroll
          for (int m = 0; m < Vectors; ++m) {
            if (has[k]) left[m][k] = fma(-by.h[(j + c) * Vectors + m], static_cast<double>(v[c][k]), left[m][k]);
          }
        }
      }
    }
  }
};

/// w ← w − V h, and w·w; with a column to store into also column ← scale w rounded to T, w ← column.
template <class T>
__global__ void __launch_bounds__(reduce_threads)
    subtract_kernel(ColumnsView<T> V, const __grid_constant__ Coefficients by, StoredColumn<T> to, double* w, std::int64_t n,
                    double* partial) {
  const ChunkOfWarp chunk(n, blockIdx.x);
  double sum[1] = {};
  const double* const from[1] = {w};
  for (std::int64_t i = chunk.begin + threadIdx.x % warp_lanes; i < chunk.end; i += rows_together * warp_lanes) {
    const Remainders<1, T> now(V, by, from, i, chunk.end);
#pragma unroll
    for (int k = 0; k < rows_together; ++k) {
      if (!now.has[k]) continue;
      const double left = now.left[0][k];
      const std::int64_t at = i + k * warp_lanes;
      sum[0] = fma(left, left, sum[0]);
      if (to.column) {
        const T rounded = static_cast<T>(to.scale * left);
        to.column[at] = rounded;
        w[at] = static_cast<double>(rounded);
      } else {
        w[at] = left;
      }
    }
  }
  device::fold(sum, n, blockIdx.x, gridDim.x, partial);
}

/// The two steps of PairStep, which holds no coefficients here. `last` false: only the columns are taken off.
__global__ void __launch_bounds__(reduce_threads)
    pair_subtract_kernel(ColumnsView<double> V, const __grid_constant__ Coefficients by, PairStep step, bool last,
                         double* w1, double* w2, std::int64_t n, double* partial) {
  const ChunkOfWarp chunk(n, blockIdx.x);
  double sum[2] = {};
  const double* const from[2] = {w1, w2};
  for (std::int64_t i = chunk.begin + threadIdx.x % warp_lanes; i < chunk.end; i += rows_together * warp_lanes) {
    const Remainders<2, double> now(V, by, from, i, chunk.end);
#pragma unroll
    for (int k = 0; k < rows_together; ++k) {
      if (!now.has[k]) continue;
      const std::int64_t at = i + k * warp_lanes;
      double left1 = now.left[0][k], left2 = now.left[1][k];
      if (last) {
        sum[0] = fma(left1, left1, sum[0]);
        left1 = step.scale1 * left1;
        left2 = fma(-step.along, left1, left2);
        sum[1] = fma(left2, left2, sum[1]);
        left2 = step.scale2 * left2;
        step.column1[at] = left1;
        step.column2[at] = left2;
      }
      w1[at] = left1;
      w2[at] = left2;
    }
  }
  device::fold(sum, n, blockIdx.x, gridDim.x, partial);
}

template <class T>
__global__ void __launch_bounds__(store_threads) store_kernel(double a, double* w, T* v, std::int64_t n) {
  const std::int64_t i = blockIdx.x * std::int64_t{store_threads} + threadIdx.x;
  if (i >= n) return;
  const T rounded = static_cast<T>(a * w[i]);
  v[i] = rounded;
  w[i] = static_cast<double>(rounded);
}

Coefficients coefficients(const double* h, int count) {
  Coefficients by;
  std::copy_n(h, count, by.h);
  return by;
}

template <class T>
void multi_dot(const DeviceSums& at, ColumnsView<T> V, const double* w) {
  if (device::all_zero(at, V.count + 1)) return;
  device::select(at);
  const auto blocks = static_cast<unsigned>(device::blocks_of(at.n));
  const auto groups = static_cast<unsigned>((V.count + dot_columns) / dot_columns);
  multi_dot_kernel<T><<<blocks * groups, reduce_threads>>>(V, w, at.n, blocks, at.partial);
  device::finish(at, V.count + 1);
  check_cuda(cudaGetLastError(), "multi_dot");
}

template <class T>
void subtract_and_store(const DeviceSums& at, ColumnsView<T> V, const double* h, StoredColumn<T> to, double* w) {
  if (device::all_zero(at, 1)) return;
  device::select(at);
  const auto blocks = static_cast<unsigned>(device::blocks_of(at.n));
  do {
    const int some = std::min(V.count, most_coefficients);
    const bool last = some == V.count;
    subtract_kernel<T><<<blocks, reduce_threads>>>({V.data, V.stride, some, nullptr}, coefficients(h, some),
                                                   last ? to : StoredColumn<T>{1, nullptr}, w, at.n, at.partial);
    V.data += some * V.stride;
    V.count -= some;
    h += some;
  } while (V.count > 0);
  device::finish(at, 1);
  check_cuda(cudaGetLastError(), "subtract");
}

template <class T>
void subtract(const DeviceSums& at, ColumnsView<T> V, const double* h, double* w) {
  subtract_and_store<T>(at, V, h, {1, nullptr}, w);
}

template <class T>
void store_scaled(const DeviceSums& at, double a, double* w, T* v) {
  if (at.n == 0) return;
  device::select(at);
  store_kernel<T><<<static_cast<unsigned>((at.n + store_threads - 1) / store_threads), store_threads>>>(a, w, v, at.n);
  check_cuda(cudaGetLastError(), "store");
}

void pair_dot(const DeviceSums& at, ColumnsView<double> V, const double* w1, const double* w2) {
  if (device::all_zero(at, 2 * V.count + 3)) return;
  device::select(at);
  const auto blocks = static_cast<unsigned>(device::blocks_of(at.n));
  const auto groups = static_cast<unsigned>((V.count + 1 + pair_dot_columns) / pair_dot_columns);
  pair_dot_kernel<<<blocks * groups, reduce_threads>>>(V, w1, w2, at.n, at.partial);
  device::finish(at, 2 * V.count + 3);
  check_cuda(cudaGetLastError(), "pair_dot");
}

void pair_subtract(const DeviceSums& at, ColumnsView<double> V, const PairStep& step, double* w1, double* w2) {
  if (device::all_zero(at, 2)) return;
  device::select(at);
  const auto blocks = static_cast<unsigned>(device::blocks_of(at.n));
  const double* h = step.h;
  do {
    const int some = std::min(V.count, most_coefficients / 2);
    pair_subtract_kernel<<<blocks, reduce_threads>>>({V.data, V.stride, some, nullptr}, coefficients(h, 2 * some), step,
                                                     some == V.count, w1, w2, at.n, at.partial);
    V.data += some * V.stride;
    V.count -= some;
    h += 2 * some;
  } while (V.count > 0);
  device::finish(at, 2);
  check_cuda(cudaGetLastError(), "pair_subtract");
}

template <class T>
DeviceBasisKernels<T> kernels_on() {
  return {multi_dot<T>, subtract<T>, subtract_and_store<T>, store_scaled<T>};
}

}  // namespace

DeviceBasisTable device_basis_kernels() { return {kernels_on<double>(), kernels_on<float>(), pair_dot, pair_subtract}; }

}  // namespace echelon
