// SPDX-License-Identifier: BSD-3-Clause
// Checks, look-up and the product of a block CSR matrix. Rows are shared out to threads by stored blocks, not by count;
// each row is computed whole by one thread, so the bits do not depend on the sharing.
#include "echelon/matrix/rows/block_csr.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/matrix/rows/row_shares.hpp"
#include "echelon/matrix/rows_gpu/device_csr.hpp"
#include "echelon/matrix/spmv.hpp"
#include "echelon/matrix/vector_checks.hpp"

namespace echelon {
namespace {

constexpr std::int64_t largest_index = std::numeric_limits<std::int32_t>::max();

void check_counts(std::int64_t block_rows, std::int64_t block_columns, int block) {
  if (block < 1) throw Error(ErrorCode::bad_argument, fmt::format("block size {}: at least 1 is needed", block));
  if (block_rows < 0 || block_columns < 0) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("a matrix of {} by {} blocks: sides cannot be negative", block_rows, block_columns));
  }
  if (block_rows > largest_index || block_columns > largest_index) {
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("a matrix of {} by {} blocks: block indices are 32-bit, so at most {} block rows and columns fit",
                    block_rows, block_columns, largest_index));
  }
  if (block > largest_index / block) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("block size {}: a block would hold more than {} values", block, largest_index));
  }
}

bool row_is_fine(const std::int64_t* row_start, const std::int32_t* column, std::int64_t i, std::int64_t block_columns) {
  for (std::int64_t e = row_start[i]; e < row_start[i + 1]; ++e) {
    if (column[e] < 0 || column[e] >= block_columns) return false;
    if (e > row_start[i] && column[e] <= column[e - 1]) return false;
  }
  return true;
}

[[noreturn]] void throw_first_offender(const std::int64_t* row_start, const std::int32_t* column, std::int64_t i,
                                       std::int64_t block_columns) {
  const std::string where = fmt::format("block row {}", Ordinal{i});
  for (std::int64_t e = row_start[i]; e < row_start[i + 1]; ++e) {
    if (column[e] < 0 || column[e] >= block_columns) {
      throw Error(ErrorCode::index_range,
                  fmt::format("block column {} is outside the matrix: legal are {} to {}", Ordinal{column[e]}, Ordinal{0},
                              Ordinal{block_columns - 1}),
                  where);
    }
    if (e > row_start[i] && column[e] == column[e - 1]) {
      throw Error(ErrorCode::duplicate_entry, fmt::format("block column {} is stored twice", Ordinal{column[e]}), where);
    }
    if (e > row_start[i] && column[e] < column[e - 1]) {
      throw Error(ErrorCode::structure,
                  fmt::format("block column {} follows {}: columns must ascend", Ordinal{column[e]}, Ordinal{column[e - 1]}),
                  where);
    }
  }
  throw Error(ErrorCode::internal, "a row was found wrong and right", where);
}

void check_pattern(std::int64_t block_rows, std::int64_t block_columns, const Array<std::int64_t>& row_start,
                   const Array<std::int32_t>& column) {
  if (row_start[0] != 0) {
    throw Error(ErrorCode::structure, fmt::format("row_start begins with {}, expected 0", row_start[0]));
  }
  for (std::int64_t i = 0; i < block_rows; ++i) {
    if (row_start[i + 1] < row_start[i]) {
      throw Error(ErrorCode::structure, fmt::format("row_start falls from {} to {}", row_start[i], row_start[i + 1]),
                  fmt::format("block row {}", Ordinal{i}));
    }
  }
  if (row_start[block_rows] != column.size()) {
    throw Error(ErrorCode::size_mismatch, fmt::format("column: got {} elements, expected {} (the end of row_start)",
                                                      column.size(), row_start[block_rows]));
  }
  std::int64_t first_bad = block_rows;
#pragma omp parallel for num_threads(threads_for(column.size())) reduction(min : first_bad) schedule(static)
  for (std::int64_t i = 0; i < block_rows; ++i) {
    if (!row_is_fine(row_start.data(), column.data(), i, block_columns)) first_bad = std::min(first_bad, i);
  }
  if (first_bad < block_rows) throw_first_offender(row_start.data(), column.data(), first_bad, block_columns);
}

template <class T>
void run_rows(const BlockCsr<T>& A, const SpmvVectors<T>& v) {
  const auto kernel = spmv_kernels<T>().rows[shapes::specialised(A.block()) ? A.block() : 0];
  const auto view = A.view();
#pragma omp parallel num_threads(threads_for(A.nonzeros() + A.rows()))
  {
    const auto [begin, end] = row_share(view.row_start, view.block_rows, omp_get_thread_num(), omp_get_num_threads());
    if (begin < end) kernel(view, v, begin, end);
  }
}

void run_on_device(const BlockCsr<double>& A, const Vector<double>& x, Vector<double>& y) {
  csr_product_kernels()->product(A.device().index, device_view(A, x, nullptr, y));
}

[[noreturn]] void run_on_device(const BlockCsr<float>& A, const Vector<float>&, Vector<float>&) {
  throw Error(ErrorCode::device, fmt::format("the product on {} exists in double precision only", A.device().name()));
}

double largest_row_sum(const BlockCsr<double>& A) {
  Vector<double> sums(A.rows(), A.device());
  csr_product_kernels()->row_sums(A.device().index, device_view(A, sums, nullptr, sums));
  return cuda_backend()->largest(A.device().index, sums.data(), sums.size());
}

void subtract_on_device(const Vector<double>& b, Vector<double>& r) {
  const auto product = r.clone();
  r.copy_from(b);
  cuda_backend()->axpy(r.device().index, -1.0, product.data(), r.data(), r.size());
}

void subtract_on_device(const Vector<float>&, Vector<float>&) {}

}  // namespace

template <class T>
BlockCsr<T>::BlockCsr(std::int64_t block_rows, std::int64_t block_columns, int block, Array<std::int64_t> row_start,
                      Array<std::int32_t> column, Array<T> values)
    : BlockCsr(Unchecked{}, block_rows, block_columns, block, std::move(row_start), std::move(column), std::move(values)) {
  check_counts(block_rows, block_columns, block);
  if (row_start_.size() != block_rows + 1) throw_size_mismatch("row_start", row_start_.size(), block_rows + 1);
  // Division instead of the product, which a hostile count could overflow.
  const std::int64_t a_block = std::int64_t{block} * block;
  if (values_.size() % a_block != 0 || values_.size() / a_block != column_.size()) {
    throw Error(ErrorCode::size_mismatch, fmt::format("values: got {} elements, expected {} blocks of {}×{}", values_.size(),
                                                      column_.size(), block, block));
  }
  if (!(row_start_.device() == values_.device()) || !(column_.device() == values_.device())) {
    throw Error(ErrorCode::device,
                fmt::format("mixing places: row_start is on {}, column on {}, values on {}", row_start_.device().name(),
                            column_.device().name(), values_.device().name()));
  }
  if (device().is_host()) {
    check_pattern(block_rows, block_columns, row_start_, column_);
  } else {
    check_pattern(block_rows, block_columns, row_start_.to(Device::host()), column_.to(Device::host()));
  }
}

template <class T>
BlockCsr<T>::BlockCsr(Unchecked, std::int64_t block_rows, std::int64_t block_columns, int block,
                      Array<std::int64_t> row_start, Array<std::int32_t> column, Array<T> values)
    : block_rows_(block_rows),
      block_columns_(block_columns),
      block_(block),
      row_start_(std::move(row_start)),
      column_(std::move(column)),
      values_(std::move(values)) {}

template <class T>
T BlockCsr<T>::at(std::int64_t row, std::int64_t column) const {
  if (!device().is_host())
    throw Error(ErrorCode::device, fmt::format("elements of a matrix on {} were asked for", device().name()));
  if (row < 0 || row >= rows() || column < 0 || column >= columns()) {
    throw Error(ErrorCode::index_range,
                fmt::format("element ({}, {}) of a matrix of {} by {}", Ordinal{row}, Ordinal{column}, rows(), columns()));
  }
  const std::int64_t i = row / block_;
  const auto wanted = static_cast<std::int32_t>(column / block_);
  const auto* begin = column_.data() + row_start_[i];
  const auto* end = column_.data() + row_start_[i + 1];
  const auto* found = std::lower_bound(begin, end, wanted);
  if (found == end || *found != wanted) return T(0);
  return values_[((found - column_.data()) * block_ + column % block_) * block_ + row % block_];
}

template <class T>
BlockCsr<T> BlockCsr<T>::to(Device device) const {
  return BlockCsr(Unchecked{}, block_rows_, block_columns_, block_, row_start_.to(device), column_.to(device),
                  values_.to(device));
}

template <class T>
void BlockCsr<T>::apply(const Vector<T>& x, Vector<T>& y) const {
  check_product({rows(), columns(), device()}, x, y);
  if (!device().is_host()) return run_on_device(*this, x, y);
  run_rows(*this, {x.data(), y.data(), nullptr});
}

template <class T>
void BlockCsr<T>::residual(const Vector<T>& b, const Vector<T>& x, Vector<T>& r) const {
  check_product({rows(), columns(), device()}, x, r);
  check_right_side(b, r);
  if (!device().is_host()) {
    run_on_device(*this, x, r);
    return subtract_on_device(b, r);
  }
  run_rows(*this, {x.data(), r.data(), b.data()});
}

template <class T>
double BlockCsr<T>::norm_inf() const {
  if (!device().is_host()) {
    if constexpr (std::is_same_v<T, double>) {
      return largest_row_sum(*this);
    } else {
      return to(Device::host()).norm_inf();
    }
  }
  double largest = 0;
  bool has_nan = false;
#pragma omp parallel for num_threads(threads_for(nonzeros())) reduction(max                     \
                                                                        : largest) reduction(|| \
                                                                                             : has_nan) schedule(static)
  for (std::int64_t i = 0; i < block_rows_; ++i) {
    for (int r = 0; r < block_; ++r) {
      double sum = 0;
      for (std::int64_t s = row_start_[i] * block_; s < row_start_[i + 1] * block_; ++s) {
        sum += std::abs(static_cast<double>(values_[s * block_ + r]));
      }
      largest = std::max(largest, sum);
      has_nan = has_nan || std::isnan(sum);
    }
  }
  return has_nan ? std::numeric_limits<double>::quiet_NaN() : largest;
}

template class BlockCsr<double>;
template class BlockCsr<float>;

}  // namespace echelon
