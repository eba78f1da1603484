// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "bench/cusparse/session.hpp"
#include "echelon/base/error.hpp"

namespace echelon::bench {

void check(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw Error(ErrorCode::device, fmt::format("cuSPARSE: {} failed: {}", call, cusparseGetErrorString(status)));
}

CusparseSession::CusparseSession() {
  [[maybe_unused]] const Device gpu = Device::cuda();
  check(cusparseCreate(&handle), "cusparseCreate");
  int major = 0, minor = 0, patch = 0;
  check(cusparseGetProperty(MAJOR_VERSION, &major), "cusparseGetProperty");
  check(cusparseGetProperty(MINOR_VERSION, &minor), "cusparseGetProperty");
  check(cusparseGetProperty(PATCH_LEVEL, &patch), "cusparseGetProperty");
  name = fmt::format("cuSPARSE {}.{}.{}", major, minor, patch);
}

CusparseSession::~CusparseSession() { cusparseDestroy(handle); }

Array<char> scratch(std::size_t bytes) {
  return Array<char>(std::max<std::int64_t>(static_cast<std::int64_t>(bytes), 1), Device::cuda());
}

CusparseDescription::CusparseDescription() { check(cusparseCreateMatDescr(&get), "cusparseCreateMatDescr"); }
CusparseDescription::~CusparseDescription() { cusparseDestroyMatDescr(get); }

}  // namespace echelon::bench
