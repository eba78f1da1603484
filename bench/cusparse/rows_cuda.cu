// SPDX-License-Identifier: BSD-3-Clause
// One thread a row of scalars writes its part of the rows; the starts come from a prefix sum over the points.
#include <cuda_runtime.h>

#include <cub/device/device_scan.cuh>
#include <limits>
#include <string>

#include "bench/cusparse/rows.hpp"
#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/error.hpp"

namespace echelon::bench {
namespace {

constexpr int threads_a_block = 256;

constexpr auto check = check_cuda;

unsigned blocks_for(std::int64_t n) { return static_cast<unsigned>((n + threads_a_block - 1) / threads_a_block); }

__device__ std::int64_t thread_index() { return blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; }

struct RowsView {
  EntryRange entries;
  bool as_scalars;
  int below;         // scalars below the diagonal of a diagonal block that are left out: all of them, or none
  const int* first;  // of each point: its first block
  int *row_start, *column;
  double* values;
  GivenValues given;

  __device__ double value(const ValueShape& shape, Ijk p, int e, int r, int c) const {
    if (!given.values) return shape.value(p, e, r, c);
    const std::int64_t entry = given.source[e], b = shape.dof;
    return entry < 0 ? 0.0 : given.values[((entry * shape.points() + shape.index(p)) * b + c) * b + r];
  }
};

__global__ void count_kernel(ValueShape shape, EntryRange entries, int* count) {
  const std::int64_t point = thread_index();
  if (point > shape.points()) return;
  int sum = 0;
  if (point < shape.points()) {
    for (int e = entries.begin; e < entries.end; ++e) sum += shape.inside(shape.at(point), e);
  }
  count[point] = sum;
}

__global__ void rows_kernel(const __grid_constant__ ValueShape shape, const __grid_constant__ RowsView rows) {
  const std::int64_t row = thread_index(), all = shape.points() * shape.dof;
  if (row >= all) return;
  const int b = shape.dof;
  const std::int64_t point = row / b;
  const int r = static_cast<int>(row - point * b);
  const int first = rows.first[point], count = rows.first[point + 1] - first;
  const Ijk p = shape.at(point);
  // Scalars: the point's rows one after the other, each with all its blocks' columns.
  const int skipped = rows.below > 0 ? r : 0;
  std::int64_t at = std::int64_t{first} * b * b + r;
  if (rows.as_scalars) at += std::int64_t{r} * count * b - r - point * rows.below - skipped * (skipped - 1) / 2;
  if (rows.as_scalars) {
    rows.row_start[row] = static_cast<int>(at);
    if (row == all - 1)
      rows.row_start[all] = static_cast<int>(std::int64_t{first + count} * b * b - shape.points() * rows.below);
  } else if (r == 0) {
    rows.row_start[point] = first;
    if (point == shape.points() - 1) rows.row_start[point + 1] = first + count;
  }
  int place = first;
  for (int e = rows.entries.begin; e < rows.entries.end; ++e) {
    if (!shape.inside(p, e)) continue;
    const auto neighbour = static_cast<int>(shape.neighbour(p, e));
    if (!rows.as_scalars && r == 0) rows.column[place] = neighbour;
    ++place;
    for (int c = e == shape.center ? skipped : 0; c < b; ++c, at += rows.as_scalars ? 1 : b) {
      rows.values[at] = rows.value(shape, p, e, r, c);
      if (rows.as_scalars) rows.column[at] = neighbour * b + c;
    }
  }
}

}  // namespace

DeviceRows device_rows(const ValueShape& shape, EntryRange entries, bool as_scalars, const GivenValues& given) {
  const Device gpu = Device::cuda();
  const std::int64_t points = shape.points(), block = std::int64_t{shape.dof} * shape.dof;
  if (points * entries.count() * block > std::numeric_limits<int>::max()) {
    throw Error(ErrorCode::will_not_fit, "cuSPARSE counts the values of its triangular solves in 32 bits");
  }
  Array<int> count(points + 1, gpu), first(points + 1, gpu);
  count_kernel<<<blocks_for(points + 1), threads_a_block>>>(shape, entries, count.data());
  const int items = static_cast<int>(points + 1);
  std::size_t bytes = 0;
  check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, count.data(), first.data(), items), "prefix sum");
  Array<std::byte> scratch(static_cast<std::int64_t>(bytes), gpu);
  check(cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, count.data(), first.data(), items), "prefix sum");
  int blocks = 0;
  check(cudaMemcpy(&blocks, first.data() + points, sizeof blocks, cudaMemcpyDeviceToHost), "prefix sum");

  DeviceRows rows;
  rows.block = as_scalars ? 1 : shape.dof;
  rows.rows = static_cast<int>(as_scalars ? points * shape.dof : points);
  // An upper triangle of scalars begins at the diagonal.
  const int below = as_scalars && entries.begin == shape.center ? shape.dof * (shape.dof - 1) / 2 : 0;
  rows.nonzeros = static_cast<int>(as_scalars ? blocks * block - points * below : blocks);
  rows.row_start = Array<int>(rows.rows + 1, gpu);
  rows.column = Array<int>(rows.nonzeros, gpu);
  rows.values = Array<double>(blocks * block - points * below, gpu);
  const RowsView view{
      entries, as_scalars, below, first.data(), rows.row_start.data(), rows.column.data(), rows.values.data(), given};
  rows_kernel<<<blocks_for(points * shape.dof), threads_a_block>>>(shape, view);
  check(cudaDeviceSynchronize(), "rows of the case");
  return rows;
}

}  // namespace echelon::bench
