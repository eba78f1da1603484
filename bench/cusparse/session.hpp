// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE from beginning to end of a process; a call that fails leaves as Error(device) with cuSPARSE's words.
#pragma once

// The routines without a successor are what is measured.
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>

#include <string>

#include "echelon/base/array.hpp"

namespace echelon::bench {

void check(cusparseStatus_t status, const char* call);

class CusparseSession {
 public:
  /// Throws Error(device) without a GPU.
  CusparseSession();
  ~CusparseSession();
  CusparseSession(const CusparseSession&) = delete;
  CusparseSession& operator=(const CusparseSession&) = delete;

  cusparseHandle_t handle = nullptr;
  /// "cuSPARSE 12.6.3"
  std::string name;
};

/// Memory that a routine asks for before it works; cuSPARSE wants it even when it is none.
Array<char> scratch(std::size_t bytes);

/// Of the routines before the generic interface.
class CusparseDescription {
 public:
  CusparseDescription();
  ~CusparseDescription();
  CusparseDescription(const CusparseDescription&) = delete;
  CusparseDescription& operator=(const CusparseDescription&) = delete;
  cusparseMatDescr_t get = nullptr;
};

}  // namespace echelon::bench
