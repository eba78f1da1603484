// SPDX-License-Identifier: BSD-3-Clause
#include "bench/cusparse/block_rows.hpp"

#include <algorithm>
#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::bench {
namespace {

DeviceRows uploaded(int rows, int block, const Array<int>& start, const Array<int>& column, const Array<double>& values) {
  const Device gpu = Device::cuda();
  DeviceRows there;
  there.rows = rows;
  there.nonzeros = static_cast<int>(column.size());
  there.block = block;
  there.row_start = start.to(gpu);
  there.column = column.to(gpu);
  there.values = values.to(gpu);
  return there;
}

}  // namespace

DeviceRows device_rows(const BlockCsr<double>& A, bool as_scalars) {
  if (A.nonzeros() > std::numeric_limits<int>::max()) {
    throw Error(ErrorCode::will_not_fit, "cuSPARSE counts the values of its triangular solves in 32 bits");
  }
  const std::int64_t b = A.block(), split = as_scalars ? b : 1, rows = A.block_rows() * split;
  Array<int> start(rows + 1), column(as_scalars ? A.nonzeros() : A.blocks());
  Array<double> values(A.nonzeros());
  const auto begin_of = A.row_start();
  start[rows] = static_cast<int>(column.size());
#pragma omp parallel for num_threads(threads_for(values.bytes())) schedule(static)
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    const std::int64_t begin = begin_of[i], count = begin_of[i + 1] - begin;
    if (!as_scalars) {
      start[i] = static_cast<int>(begin);
      std::copy_n(A.column().data() + begin, count, column.data() + begin);
      std::copy_n(A.values().data() + begin * b * b, count * b * b, values.data() + begin * b * b);
      continue;
    }
    std::int64_t at = begin * b * b;
    for (std::int64_t r = 0; r < b; ++r) {
      start[i * b + r] = static_cast<int>(at);
      for (std::int64_t n = begin; n < begin + count; ++n) {
        for (std::int64_t c = 0; c < b; ++c, ++at) {
          column[at] = static_cast<int>(A.column()[n] * b + c);
          values[at] = A.values()[(n * b + c) * b + r];
        }
      }
    }
  }
  return uploaded(static_cast<int>(rows), as_scalars ? 1 : A.block(), start, column, values);
}

DeviceRows triangle_of(const DeviceRows& factors, Triangle triangle) {
  const Device host = Device::host();
  const auto start = factors.row_start.to(host), column = factors.column.to(host);
  const auto values = factors.values.to(host);
  const std::int64_t rows = factors.rows, bb = std::int64_t{factors.block} * factors.block;
  const bool lower = triangle == Triangle::lower, with_diagonal = !lower || factors.block > 1;
  const auto range = [&](std::int64_t i) {
    const int *begin = column.data() + start[i], *end = column.data() + start[i + 1], row = static_cast<int>(i);
    if (lower)
      return std::pair{begin, with_diagonal ? std::upper_bound(begin, end, row) : std::lower_bound(begin, end, row)};
    return std::pair{std::lower_bound(begin, end, row), end};
  };
  Array<int> of_start(rows + 1);
  of_start[0] = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto part = range(i);
    of_start[i + 1] = of_start[i] + static_cast<int>(part.second - part.first);
  }
  Array<int> of_column(of_start[rows]);
  Array<double> of_values(of_start[rows] * bb);
#pragma omp parallel for num_threads(threads_for(values.bytes())) schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto part = range(i);
    const std::int64_t from = part.first - column.data(), count = part.second - part.first, to = of_start[i];
    std::copy_n(part.first, count, of_column.data() + to);
    std::copy_n(values.data() + from * bb, count * bb, of_values.data() + to * bb);
  }
  return uploaded(factors.rows, factors.block, of_start, of_column, of_values);
}

}  // namespace echelon::bench
