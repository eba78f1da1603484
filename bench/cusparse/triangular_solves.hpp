// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's two triangular solves, T x = r with the lower (unit diagonal) or the upper triangle of some rows: SpSV on
// scalars, bsrsv2 with level information on blocks. The rows and vectors must outlive these; values may change after the
// analysis in bsrsv2 only.
#pragma once

#include "bench/cusparse/rows.hpp"
#include "bench/cusparse/session.hpp"
#include "echelon/stencil/wavefront.hpp"

namespace echelon::bench {

struct SolveVectors {
  const double* r = nullptr;
  double* x = nullptr;
};

class SpsvSolve {
 public:
  SpsvSolve(const CusparseSession& session, const DeviceRows& rows, Triangle triangle, SolveVectors vectors);
  ~SpsvSolve();
  SpsvSolve(const SpsvSolve&) = delete;
  SpsvSolve& operator=(const SpsvSolve&) = delete;
  void analyse();
  void solve();
  /// With other vectors from now on.
  void solve(SolveVectors vectors);

 private:
  cusparseHandle_t handle_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t r_ = nullptr, x_ = nullptr;
  cusparseSpSVDescr_t plan_ = nullptr;
  Array<char> scratch_;
};

class Bsrsv2Solve {
 public:
  Bsrsv2Solve(const CusparseSession& session, const DeviceRows& rows, Triangle triangle, SolveVectors vectors);
  ~Bsrsv2Solve();
  Bsrsv2Solve(const Bsrsv2Solve&) = delete;
  Bsrsv2Solve& operator=(const Bsrsv2Solve&) = delete;
  void analyse();
  void solve();
  void solve(SolveVectors vectors);

 private:
  cusparseHandle_t handle_;
  const DeviceRows& rows_;
  SolveVectors vectors_;
  CusparseDescription description_;
  bsrsv2Info_t plan_ = nullptr;
  Array<char> scratch_;
};

}  // namespace echelon::bench
