// SPDX-License-Identifier: BSD-3-Clause
#include "bench/cusparse/triangular_solves.hpp"

namespace echelon::bench {
namespace {

constexpr double one = 1;
constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr auto by_columns = CUSPARSE_DIRECTION_COLUMN;
constexpr auto with_levels = CUSPARSE_SOLVE_POLICY_USE_LEVEL;

cusparseFillMode_t fill_mode(Triangle triangle) {
  return triangle == Triangle::lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
}
cusparseDiagType_t diagonal_type(Triangle triangle) {
  return triangle == Triangle::lower ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
}

}  // namespace

SpsvSolve::SpsvSolve(const CusparseSession& session, const DeviceRows& rows, Triangle triangle, SolveVectors vectors)
    : handle_(session.handle) {
  // The generic interface takes pointers to non-const, and reads only.
  const auto writable = [](const auto& array) { return const_cast<void*>(static_cast<const void*>(array.data())); };
  check(
      cusparseCreateCsr(&matrix_, rows.rows, rows.rows, rows.nonzeros, writable(rows.row_start), writable(rows.column),
                        writable(rows.values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
      "cusparseCreateCsr");
  auto fill = fill_mode(triangle);
  auto diagonal = diagonal_type(triangle);
  check(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), "cusparseSpMatSetAttribute");
  check(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal),
        "cusparseSpMatSetAttribute");
  check(cusparseCreateDnVec(&r_, rows.rows, const_cast<double*>(vectors.r), CUDA_R_64F), "cusparseCreateDnVec");
  check(cusparseCreateDnVec(&x_, rows.rows, vectors.x, CUDA_R_64F), "cusparseCreateDnVec");
  check(cusparseSpSV_createDescr(&plan_), "cusparseSpSV_createDescr");
  std::size_t bytes = 0;
  check(cusparseSpSV_bufferSize(handle_, plain, &one, matrix_, r_, x_, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, plan_, &bytes),
        "cusparseSpSV_bufferSize");
  scratch_ = scratch(bytes);
}

SpsvSolve::~SpsvSolve() {
  cusparseSpSV_destroyDescr(plan_);
  cusparseDestroyDnVec(x_);
  cusparseDestroyDnVec(r_);
  cusparseDestroySpMat(matrix_);
}

void SpsvSolve::analyse() {
  check(cusparseSpSV_analysis(handle_, plain, &one, matrix_, r_, x_, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, plan_,
                              scratch_.data()),
        "cusparseSpSV_analysis");
}

void SpsvSolve::solve() {
  check(cusparseSpSV_solve(handle_, plain, &one, matrix_, r_, x_, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, plan_),
        "cusparseSpSV_solve");
}

void SpsvSolve::solve(SolveVectors vectors) {
  check(cusparseDnVecSetValues(r_, const_cast<double*>(vectors.r)), "cusparseDnVecSetValues");
  check(cusparseDnVecSetValues(x_, vectors.x), "cusparseDnVecSetValues");
  solve();
}

Bsrsv2Solve::Bsrsv2Solve(const CusparseSession& session, const DeviceRows& rows, Triangle triangle, SolveVectors vectors)
    : handle_(session.handle), rows_(rows), vectors_(vectors) {
  check(cusparseSetMatFillMode(description_.get, fill_mode(triangle)), "cusparseSetMatFillMode");
  check(cusparseSetMatDiagType(description_.get, diagonal_type(triangle)), "cusparseSetMatDiagType");
  check(cusparseCreateBsrsv2Info(&plan_), "cusparseCreateBsrsv2Info");
  int bytes = 0;
  check(cusparseDbsrsv2_bufferSize(handle_, by_columns, plain, rows_.rows, rows_.nonzeros, description_.get,
                                   const_cast<double*>(rows_.values.data()), rows_.row_start.data(), rows_.column.data(),
                                   rows_.block, plan_, &bytes),
        "cusparseDbsrsv2_bufferSize");
  scratch_ = scratch(static_cast<std::size_t>(bytes));
}

Bsrsv2Solve::~Bsrsv2Solve() { cusparseDestroyBsrsv2Info(plan_); }

void Bsrsv2Solve::analyse() {
  check(cusparseDbsrsv2_analysis(handle_, by_columns, plain, rows_.rows, rows_.nonzeros, description_.get,
                                 rows_.values.data(), rows_.row_start.data(), rows_.column.data(), rows_.block, plan_,
                                 with_levels, scratch_.data()),
        "cusparseDbsrsv2_analysis");
}

void Bsrsv2Solve::solve() {
  check(cusparseDbsrsv2_solve(handle_, by_columns, plain, rows_.rows, rows_.nonzeros, &one, description_.get,
                              rows_.values.data(), rows_.row_start.data(), rows_.column.data(), rows_.block, plan_,
                              vectors_.r, vectors_.x, with_levels, scratch_.data()),
        "cusparseDbsrsv2_solve");
}

void Bsrsv2Solve::solve(SolveVectors vectors) {
  vectors_ = vectors;
  solve();
}

}  // namespace echelon::bench
