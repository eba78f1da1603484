// SPDX-License-Identifier: BSD-3-Clause
// How much dynamic shared memory launches of a kernel may have. The limit is the kernel's on a device, not one launch's or
// one object's: who asks for less than another did must not lower it.
#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "echelon/base/cuda/cuda_check.cuh"

namespace echelon {

/// At least so many bytes on the current device from now on.
inline void raise_shared_limit(const void* kernel, int bytes, const char* what) {
  static std::mutex one_at_a_time;
  static std::map<std::pair<int, const void*>, int> largest;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  const std::lock_guard lock(one_at_a_time);
  int& so_far = largest[{device, kernel}];
  if (bytes <= so_far) return;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), what);
  so_far = bytes;
}
template <class... Arguments>
void raise_shared_limit(void (*kernel)(Arguments...), int bytes, const char* what) {
  raise_shared_limit(reinterpret_cast<const void*>(kernel), bytes, what);
}

}  // namespace echelon
