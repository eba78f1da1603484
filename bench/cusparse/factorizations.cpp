// SPDX-License-Identifier: BSD-3-Clause
#include "bench/cusparse/factorizations.hpp"

namespace echelon::bench {
namespace {

constexpr auto by_columns = CUSPARSE_DIRECTION_COLUMN;
constexpr auto with_levels = CUSPARSE_SOLVE_POLICY_USE_LEVEL;

}  // namespace

Csrilu02::Csrilu02(const CusparseSession& session, DeviceRows& rows, cusparseSolvePolicy_t policy)
    : handle_(session.handle), rows_(rows), policy_(policy) {
  check(cusparseCreateCsrilu02Info(&plan_), "cusparseCreateCsrilu02Info");
  int bytes = 0;
  check(cusparseDcsrilu02_bufferSize(handle_, rows_.rows, rows_.nonzeros, description_.get, rows_.values.data(),
                                     rows_.row_start.data(), rows_.column.data(), plan_, &bytes),
        "cusparseDcsrilu02_bufferSize");
  scratch_ = scratch(static_cast<std::size_t>(bytes));
}

Csrilu02::~Csrilu02() { cusparseDestroyCsrilu02Info(plan_); }

void Csrilu02::analyse() {
  check(cusparseDcsrilu02_analysis(handle_, rows_.rows, rows_.nonzeros, description_.get, rows_.values.data(),
                                   rows_.row_start.data(), rows_.column.data(), plan_, policy_, scratch_.data()),
        "cusparseDcsrilu02_analysis");
}

void Csrilu02::factor() {
  check(cusparseDcsrilu02(handle_, rows_.rows, rows_.nonzeros, description_.get, rows_.values.data(), rows_.row_start.data(),
                          rows_.column.data(), plan_, policy_, scratch_.data()),
        "cusparseDcsrilu02");
}

void Csrilu02::check_pivots() {
  int row = -1;
  check(cusparseXcsrilu02_zeroPivot(handle_, plan_, &row), "cusparseXcsrilu02_zeroPivot");
}

Bsrilu02::Bsrilu02(const CusparseSession& session, DeviceRows& rows) : handle_(session.handle), rows_(rows) {
  check(cusparseCreateBsrilu02Info(&plan_), "cusparseCreateBsrilu02Info");
  int bytes = 0;
  check(cusparseDbsrilu02_bufferSize(handle_, by_columns, rows_.rows, rows_.nonzeros, description_.get, rows_.values.data(),
                                     rows_.row_start.data(), rows_.column.data(), rows_.block, plan_, &bytes),
        "cusparseDbsrilu02_bufferSize");
  scratch_ = scratch(static_cast<std::size_t>(bytes));
}

Bsrilu02::~Bsrilu02() { cusparseDestroyBsrilu02Info(plan_); }

void Bsrilu02::analyse() {
  check(cusparseDbsrilu02_analysis(handle_, by_columns, rows_.rows, rows_.nonzeros, description_.get, rows_.values.data(),
                                   rows_.row_start.data(), rows_.column.data(), rows_.block, plan_, with_levels,
                                   scratch_.data()),
        "cusparseDbsrilu02_analysis");
}

void Bsrilu02::factor() {
  check(cusparseDbsrilu02(handle_, by_columns, rows_.rows, rows_.nonzeros, description_.get, rows_.values.data(),
                          rows_.row_start.data(), rows_.column.data(), rows_.block, plan_, with_levels, scratch_.data()),
        "cusparseDbsrilu02");
}

void Bsrilu02::check_pivots() {
  int row = -1;
  check(cusparseXbsrilu02_zeroPivot(handle_, plan_, &row), "cusparseXbsrilu02_zeroPivot");
}

}  // namespace echelon::bench
