// SPDX-License-Identifier: BSD-3-Clause
// Refusal of matrices that are not on the host, for what exists there only.
#pragma once

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {

template <class T>
void require_host(const BlockCsr<T>& A, const char* what) {
  if (A.device().is_host()) return;
  throw Error(ErrorCode::device, fmt::format("{}: the matrix is on {}; copy it to the host first", what, A.device().name()));
}

}  // namespace echelon
