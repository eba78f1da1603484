// SPDX-License-Identifier: BSD-3-Clause
#include "bench/cusparse/krylov_parts.hpp"

namespace echelon::bench {
namespace {

constexpr double unit = 1, zero = 0;
constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr auto algorithm = CUSPARSE_SPMV_ALG_DEFAULT;

}  // namespace

CusparseMatrix::CusparseMatrix(const CusparseSession& session, const DeviceRows& rows)
    : handle_(session.handle), rows_(rows), first_(rows.block > 1 ? 0 : rows.rows, Device::cuda()) {
  if (rows.block > 1) return;
  // The generic interface takes pointers to non-const, and reads only.
  const auto writable = [](const auto& array) { return const_cast<void*>(static_cast<const void*>(array.data())); };
  check(
      cusparseCreateCsr(&matrix_, rows.rows, rows.rows, rows.nonzeros, writable(rows.row_start), writable(rows.column),
                        writable(rows.values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
      "cusparseCreateCsr");
  check(cusparseCreateDnVec(&x_, rows.rows, first_.data(), CUDA_R_64F), "cusparseCreateDnVec");
  check(cusparseCreateDnVec(&y_, rows.rows, first_.data(), CUDA_R_64F), "cusparseCreateDnVec");
  std::size_t bytes = 0;
  check(cusparseSpMV_bufferSize(handle_, plain, &unit, matrix_, x_, &zero, y_, CUDA_R_64F, algorithm, &bytes),
        "cusparseSpMV_bufferSize");
  scratch_ = scratch(bytes);
}

CusparseMatrix::~CusparseMatrix() {
  if (y_) cusparseDestroyDnVec(y_);
  if (x_) cusparseDestroyDnVec(x_);
  if (matrix_) cusparseDestroySpMat(matrix_);
}

void CusparseMatrix::analyse() {
  if (!matrix_) return;
  check(cusparseSpMV_preprocess(handle_, plain, &unit, matrix_, x_, &zero, y_, CUDA_R_64F, algorithm, scratch_.data()),
        "cusparseSpMV_preprocess");
}

void CusparseMatrix::multiply(double alpha, const V& x, double beta, V& y) const {
  if (!matrix_) {
    check(cusparseDbsrmv(handle_, CUSPARSE_DIRECTION_COLUMN, plain, rows_.rows, rows_.rows, rows_.nonzeros, &alpha,
                         description_.get, rows_.values.data(), rows_.row_start.data(), rows_.column.data(), rows_.block,
                         x.data(), &beta, y.data()),
          "cusparseDbsrmv");
    return;
  }
  check(cusparseDnVecSetValues(x_, const_cast<double*>(x.data())), "cusparseDnVecSetValues");
  check(cusparseDnVecSetValues(y_, y.data()), "cusparseDnVecSetValues");
  // The buffer is written, the matrix is not changed.
  check(cusparseSpMV(handle_, plain, &alpha, matrix_, x_, &beta, y_, CUDA_R_64F, algorithm,
                     const_cast<char*>(scratch_.data())),
        "cusparseSpMV");
}

void CusparseMatrix::residual(const V& b, const V& x, V& r) const {
  r.copy_from(b);
  multiply(-1, x, 1, r);
}

}  // namespace echelon::bench
