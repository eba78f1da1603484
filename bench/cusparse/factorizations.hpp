// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's two ILU(0) in place: csrilu02 on scalars, without or with level information, and bsrilu02 on blocks with it.
// The rows must outlive these.
#pragma once

#include "bench/cusparse/rows.hpp"
#include "bench/cusparse/session.hpp"

namespace echelon::bench {

class Csrilu02 {
 public:
  Csrilu02(const CusparseSession& session, DeviceRows& rows, cusparseSolvePolicy_t policy);
  ~Csrilu02();
  Csrilu02(const Csrilu02&) = delete;
  Csrilu02& operator=(const Csrilu02&) = delete;
  void analyse();
  void factor();
  /// Waits for the factorization and throws when it met a pivot of zero.
  void check_pivots();

 private:
  cusparseHandle_t handle_;
  DeviceRows& rows_;
  cusparseSolvePolicy_t policy_;
  CusparseDescription description_;
  csrilu02Info_t plan_ = nullptr;
  Array<char> scratch_;
};

class Bsrilu02 {
 public:
  Bsrilu02(const CusparseSession& session, DeviceRows& rows);
  ~Bsrilu02();
  Bsrilu02(const Bsrilu02&) = delete;
  Bsrilu02& operator=(const Bsrilu02&) = delete;
  void analyse();
  void factor();
  /// Waits for the factorization and throws when it met a pivot of zero.
  void check_pivots();

 private:
  cusparseHandle_t handle_;
  DeviceRows& rows_;
  CusparseDescription description_;
  bsrilu02Info_t plan_ = nullptr;
  Array<char> scratch_;
};

}  // namespace echelon::bench
