// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE as the matrix and the preconditioner of our Krylov methods: products by SpMV on scalars or bsrmv on blocks,
// z = U⁻¹ L⁻¹ r by SpSV or bsrsv2 with factors in one set of rows. Vectors are in natural order on the GPU.
#pragma once

#include "bench/cusparse/triangular_solves.hpp"
#include "echelon/matrix/operator.hpp"
#include "echelon/precond/preconditioner.hpp"

namespace echelon::bench {

/// The rows must outlive it.
class CusparseMatrix final : public Operator<double> {
 public:
  using V = Vector<double>;
  CusparseMatrix(const CusparseSession& session, const DeviceRows& rows);
  ~CusparseMatrix() override;
  CusparseMatrix(const CusparseMatrix&) = delete;
  CusparseMatrix& operator=(const CusparseMatrix&) = delete;

  /// What SpMV wants to know of the pattern first; bsrmv nothing.
  void analyse();
  std::int64_t rows() const override { return std::int64_t{rows_.rows} * rows_.block; }
  void apply(const V& x, V& y) const override { multiply(1, x, 0, y); }
  void residual(const V& b, const V& x, V& r) const override;
  Device device() const override { return Device::cuda(); }

 private:
  /// y = alpha A x + beta y
  void multiply(double alpha, const V& x, double beta, V& y) const;

  cusparseHandle_t handle_;
  const DeviceRows& rows_;
  CusparseDescription description_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  V first_;  // what the descriptions begin with
  Array<char> scratch_;
};

template <class Solve>
class CusparseIlu final : public Preconditioner<double> {
 public:
  /// `factors` hold L without its diagonal of ones, and U.
  CusparseIlu(const CusparseSession& session, const DeviceRows& factors)
      : between_(std::int64_t{factors.rows} * factors.block, Device::cuda()),
        lower_(session, factors, Triangle::lower, {between_.data(), between_.data()}),
        upper_(session, factors, Triangle::upper, {between_.data(), between_.data()}) {
    report_.name = "ilu";
  }
  void analyse() {
    lower_.analyse();
    upper_.analyse();
  }
  void apply(const Vector<double>& r, Vector<double>& z) const override {
    lower_.solve({r.data(), between_.data()});
    upper_.solve({between_.data(), z.data()});
  }
  const FactorReport& report() const override { return report_; }

 private:
  mutable Vector<double> between_;
  mutable Solve lower_, upper_;
  FactorReport report_;
};

}  // namespace echelon::bench
