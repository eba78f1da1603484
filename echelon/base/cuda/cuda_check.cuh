// SPDX-License-Identifier: BSD-3-Clause
// A CUDA status that is not success becomes Error(device), naming the call.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "echelon/base/error.hpp"

namespace echelon {

inline void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw Error(ErrorCode::device, std::string("CUDA: ") + call + " failed: " + cudaGetErrorString(status));
}

}  // namespace echelon
