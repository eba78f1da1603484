// SPDX-License-Identifier: BSD-3-Clause
// The work on the columns of a basis on a GPU: vectors are read once, columns once. Coefficients travel with the launch.
// Every sum is that of lane_sums.inl on the host: same bits. Bytes an element: 8 (fp32: 4) a column, and besides multi_dot 8
// a group of columns (mostly from the L2 cache), subtract 16, subtract_and_store 24 (fp32: 20), pair_dot 16,
// pair_subtract 40.
#include <algorithm>
#include <type_traits>

#include "echelon/krylov/vectors/reduction_cuda.cuh"

namespace echelon {
namespace {

using device::ChunkOfWarp;
using device::reduce_threads;
using device::warp_lanes;

/// Columns that share one read of w (of w₁ and w₂).
constexpr int dot_columns = 16, pair_dot_columns = 12;
/// Elements of a lane and columns whose loads are under way together in the dots: 1 KiB of a column at a time, and
/// loads enough where there are few columns.
constexpr int dot_rows = 4, dot_batch = 4;
/// Blocks of the dots that an SM has at once: with 16 loads a thread 64 KiB are under way.
constexpr int resident = 2;
/// Elements of a lane and columns whose loads are under way together in the updates.
constexpr int rows_together = 4, columns_together = 8;
constexpr int store_threads = 256;
/// What travels with one launch.
constexpr int most_coefficients = 384;

struct Coefficients {
  double h[most_coefficients];
};

/// How columns are dealt out to groups, which are neighbouring blocks, so that they share w: whole batches, evenly.
struct ColumnGroups {
  int all, count, each;
  __host__ __device__ ColumnGroups(int columns, int most) : all(columns), count((columns + most - 1) / most) {
    each = ((columns + count - 1) / count + dot_batch - 1) / dot_batch * dot_batch;
  }
};

/// The group of this block of threads.
struct ColumnGroup {
  unsigned block;  // of those that have the same group
  int first, own;  // columns
  __device__ explicit ColumnGroup(const ColumnGroups& groups) {
    const auto count = static_cast<unsigned>(groups.count);
    block = blockIdx.x / count;
    first = static_cast<int>(blockIdx.x % count) * groups.each;
    own = min(groups.each, groups.all - first);
  }
};

/// use(c, Rows elements of column c) for c < own ≤ C; those behind the last of V are zero.
template <int Rows, int C, class T, class Use>
__device__ __forceinline__ void over_columns(ColumnsView<T> V, int own, const Use& use) {
#pragma unroll
  for (int batch = 0; batch < C; batch += dot_batch) {
    if (batch >= own) break;
    T v[dot_batch][Rows];
#pragma unroll
    for (int c = 0; c < dot_batch; ++c) {
#pragma unroll
      for (int k = 0; k < Rows; ++k) {
        v[c][k] = batch + c < V.count ? V.data[(batch + c) * V.stride + k * warp_lanes] : T{0};
      }
    }
#pragma unroll
    for (int c = 0; c < dot_batch; ++c) {
      if (batch + c < own) use(batch + c, v[c]);
    }
  }
}

/// step(rows, i) for the elements of a lane, several rows at a time, then one.
template <class Step>
__device__ __forceinline__ void over_rows(const ChunkOfWarp& chunk, const Step& step) {
  std::int64_t i = chunk.begin + threadIdx.x % warp_lanes;
  for (; i + (dot_rows - 1) * warp_lanes < chunk.end; i += dot_rows * warp_lanes) {
    step(std::integral_constant<int, dot_rows>(), i);
  }
  for (; i < chunk.end; i += warp_lanes) step(std::integral_constant<int, 1>(), i);
}

/// sums[j] = column j · w; behind the last column w·w.
template <class T>
__global__ void __launch_bounds__(reduce_threads, resident)
    multi_dot_kernel(ColumnsView<T> V, const double* w, std::int64_t n, unsigned blocks, double* partial) {
  constexpr int C = dot_columns;
  const ColumnGroup group(ColumnGroups(V.count + 1, C));
  const int stored = V.count - group.first;
  double sum[C] = {};
  over_rows(ChunkOfWarp(n, group.block), [&](auto rows, std::int64_t i) {
    constexpr int R = decltype(rows)::value;
    double in[R];
#pragma unroll
    for (int k = 0; k < R; ++k) in[k] = w[i + k * warp_lanes];
    over_columns<R, C, T>({V.data + group.first * V.stride + i, V.stride, stored, nullptr}, group.own,
                          [&](int c, const T(&v)[R]) {
#pragma unroll
                            for (int k = 0; k < R; ++k) {
                              sum[c] = fma(c < stored ? static_cast<double>(v[k]) : in[k], in[k], sum[c]);
                            }
                          });
  });
  device::fold(sum, n, group.block, blocks, partial + std::int64_t{group.first} * blocks, group.own);
}

/// sums[2j], sums[2j + 1] = column j · w₁, · w₂; behind them w₁·w₁, w₁·w₂, w₂·w₂, as columns w₁ (twice) and w₂ (once).
__global__ void __launch_bounds__(reduce_threads) pair_dot_kernel(ColumnsView<double> V, const double* w1, const double* w2,
                                                                  std::int64_t n, unsigned blocks, double* partial) {
  constexpr int C = pair_dot_columns;
  const ColumnGroup group(ColumnGroups(V.count + 2, C));
  const int stored = V.count - group.first;
  double sum[2 * C] = {};
  over_rows(ChunkOfWarp(n, group.block), [&](auto rows, std::int64_t i) {
    constexpr int R = decltype(rows)::value;
    double in1[R], in2[R];
#pragma unroll
    for (int k = 0; k < R; ++k) in1[k] = w1[i + k * warp_lanes], in2[k] = w2[i + k * warp_lanes];
    over_columns<R, C, double>({V.data + group.first * V.stride + i, V.stride, stored, nullptr}, group.own,
                               [&](int c, const double(&v)[R]) {
                                 // Of w₂ as a column only w₂·w₂ is asked for; it stands where w₂·w₁ would.
                                 const bool last = c == stored + 1;
#pragma unroll
                                 for (int k = 0; k < R; ++k) {
                                   const double by = c < stored ? v[k] : last ? in2[k] : in1[k];
                                   sum[2 * c] = fma(by, last ? in2[k] : in1[k], sum[2 * c]);
                                   if (!last) sum[2 * c + 1] = fma(by, in2[k], sum[2 * c + 1]);
                                 }
                               });
  });
  // One sum less behind the last column.
  const int sums = min(2 * group.own, 2 * V.count + 3 - 2 * group.first);
  device::fold(sum, n, group.block, blocks, partial + std::int64_t{2 * group.first} * blocks, sums);
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
      if (!last) w1[at] = left1;
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
  const auto groups = static_cast<unsigned>(ColumnGroups(V.count + 1, dot_columns).count);
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
  const auto groups = static_cast<unsigned>(ColumnGroups(V.count + 2, pair_dot_columns).count);
  pair_dot_kernel<<<blocks * groups, reduce_threads>>>(V, w1, w2, at.n, blocks, at.partial);
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
