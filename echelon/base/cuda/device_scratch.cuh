// SPDX-License-Identifier: BSD-3-Clause
// Memory of the pool for the length of a function.
#pragma once

#include <string>

#include "echelon/base/cuda/device_pool.cuh"
#include "echelon/base/error.hpp"

namespace echelon {

class DeviceScratch {
 public:
  DeviceScratch(int device, std::size_t bytes) : device_(device), pointer_(pool_allocate(device, bytes > 0 ? bytes : 1)) {
    if (!pointer_) {
      throw Error(ErrorCode::out_of_memory, "no device memory for " + std::to_string(bytes) + " bytes of scratch");
    }
  }
  ~DeviceScratch() { pool_release(device_, pointer_); }
  DeviceScratch(const DeviceScratch&) = delete;
  DeviceScratch& operator=(const DeviceScratch&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(pointer_);
  }

 private:
  int device_;
  void* pointer_;
};

}  // namespace echelon
