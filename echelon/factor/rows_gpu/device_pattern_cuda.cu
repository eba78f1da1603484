// SPDX-License-Identifier: BSD-3-Clause
// The table of device_pattern_view.hpp. With l_i entries of row i before its diagonal and S the start of A,
//   L.start(i) = Σ_{k<i} l_k,   U.start(n−1−i) = Σ_{k>i} (entries of k after its diagonal)
//              = (entries − n − L.start(n)) − (S(i+1) − (i+1) − L.start(i+1)),
// so one prefix sum places both triangles. Bytes: 4 an entry and 8 a row read twice, 4 an entry and 16 a row written.
#include <algorithm>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/cuda/device_scratch.cuh"
#include "echelon/base/cuda/prefix_sums.cuh"
#include "echelon/factor/rows_gpu/device_pattern_view.hpp"

namespace echelon {
namespace {

constexpr int threads_a_block = 256;
/// Of kernels that end in sums of all threads.
constexpr std::int64_t most_blocks = 1056;
constexpr int lanes_a_row = 8;

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + threads_a_block - 1) / threads_a_block);
}
unsigned few_blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(std::min<std::int64_t>(blocks_for(threads), most_blocks));
}

/// A row a thread; columns ascend, so the diagonal is found by halving.
__global__ void count_kernel(CutView v, PatternFacts* facts) {
  const std::int64_t step = gridDim.x * std::int64_t{blockDim.x};
  int missing = 0, longest = 0, chained = 0, scattered = 0;
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < v.A.rows; i += step) {
    const std::int64_t begin = v.A.start[i], end = v.A.start[i + 1];
    std::int64_t low = begin, high = end;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (v.A.column[middle] < i) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    missing += low == end || v.A.column[low] != i;
    const std::int64_t before = low > begin ? i - v.A.column[low - 1] : 0;
    chained += before == 1;
    scattered += before * PatternFacts::far_part > v.A.rows;
    longest = max(longest, static_cast<int>(end - begin));
    v.lower_start[i + 1] = low - begin;
    if (i == 0) v.lower_start[0] = 0;
  }
  longest = __reduce_max_sync(~0u, longest);
  missing = __reduce_add_sync(~0u, missing);
  chained = __reduce_add_sync(~0u, chained);
  scattered = __reduce_add_sync(~0u, scattered);
  if (threadIdx.x % 32 != 0) return;
  atomicMax(&facts->longest, longest);
  if (missing > 0) atomicAdd(&facts->missing, missing);
  if (chained > 0) atomicAdd(&facts->chained, chained);
  if (scattered > 0) atomicAdd(&facts->scattered, scattered);
}

/// A row a group of lanes.
__global__ void cut_kernel(CutView v) {
  const std::int64_t thread = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x, i = thread / lanes_a_row;
  const int lane = static_cast<int>(thread % lanes_a_row);
  const std::int64_t n = v.A.rows;
  if (i >= n) return;
  const std::int64_t begin = v.A.start[i], end = v.A.start[i + 1], down = v.lower_start[i], next = v.lower_start[i + 1];
  const std::int64_t below = next - down, above = end - begin - 1 - below, s = n - 1 - i;
  const std::int64_t up = v.entries - n - v.lower_start[n] - (end - (i + 1) - next);
  if (lane == 0) {
    v.upper_start[s + 1] = up + above;
    if (s == 0) v.upper_start[0] = 0;
  }
  for (std::int64_t at = lane; at < end - begin; at += lanes_a_row) {
    const std::int32_t column = v.A.column[begin + at];
    if (at < below) {
      v.lower_distance[down + at] = static_cast<std::int32_t>(i) - column;
    } else if (at > below) {
      v.upper_distance[up + at - below - 1] = column - static_cast<std::int32_t>(i);
    }
  }
}

__global__ void permuted_length_kernel(PermutedView v) {
  const std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i >= v.A.rows) return;
  const std::int64_t from = v.order[i];
  v.start[i + 1] = v.A.start[from + 1] - v.A.start[from];
  if (i == 0) v.start[0] = 0;
}

/// The place of a column is how many of its row are smaller.
__global__ void permuted_column_kernel(PermutedView v) {
  const std::int64_t thread = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x, i = thread / lanes_a_row;
  if (i >= v.A.rows) return;
  const std::int64_t begin = v.A.start[v.order[i]], end = v.A.start[v.order[i] + 1], to = v.start[i];
  for (std::int64_t p = begin + thread % lanes_a_row; p < end; p += lanes_a_row) {
    const std::int32_t own = v.position[v.A.column[p]];
    int smaller = 0;
    for (std::int64_t q = begin; q < end; ++q) smaller += v.position[v.A.column[q]] < own;
    v.column[to + smaller] = own;
  }
}

PatternFacts count(int device, const CutView& v) {
  PatternFacts found;
  if (v.A.rows == 0) return found;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const DeviceScratch scratch(device, sizeof(PatternFacts));
  auto* facts = scratch.as<PatternFacts>();
  check_cuda(cudaMemsetAsync(facts, 0, sizeof(PatternFacts)), "facts of a pattern");
  count_kernel<<<few_blocks_for(v.A.rows), threads_a_block>>>(v, facts);
  check_cuda(cudaGetLastError(), "rows of a pattern");
  sum_prefixes(device, v.lower_start + 1, v.A.rows);
  check_cuda(cudaMemcpyAsync(&facts->below, v.lower_start + v.A.rows, sizeof(found.below), cudaMemcpyDeviceToDevice),
             "entries of a triangle");
  check_cuda(cudaMemcpy(&found, facts, sizeof(found), cudaMemcpyDeviceToHost), "facts of a pattern");
  return found;
}

void cut(int device, const CutView& v) {
  if (v.A.rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  cut_kernel<<<blocks_for(v.A.rows * lanes_a_row), threads_a_block>>>(v);
  check_cuda(cudaGetLastError(), "triangles of a pattern");
}

void permute(int device, const PermutedView& v) {
  if (v.A.rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  permuted_length_kernel<<<blocks_for(v.A.rows), threads_a_block>>>(v);
  sum_prefixes(device, v.start + 1, v.A.rows);
  permuted_column_kernel<<<blocks_for(v.A.rows * lanes_a_row), threads_a_block>>>(v);
  check_cuda(cudaGetLastError(), "permuted pattern");
}

}  // namespace

const PatternKernels* pattern_kernels() {
  static const PatternKernels table{count, cut, permute};
  return &table;
}

}  // namespace echelon
