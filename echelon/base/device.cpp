// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/device.hpp"

#include <fmt/format.h>

#include "echelon/base/cuda_backend.hpp"
#include "echelon/base/error.hpp"

namespace echelon {

int Device::cuda_count() {
  const auto* backend = cuda_backend();
  return backend ? backend->device_count() : 0;
}

Device Device::cuda(int index) {
  if (!cuda_backend())
    throw Error(ErrorCode::device, "this build of echelon has no CUDA (nvcc was not found when it was configured)");
  const int count = cuda_count();
  if (count == 0) throw Error(ErrorCode::device, "no CUDA device: the driver reports none on this machine");
  if (index < 0 || index >= count) {
    throw Error(ErrorCode::device, fmt::format("CUDA device {} does not exist: this machine has {}", index, count));
  }
  return {Kind::cuda, index};
}

std::string Device::name() const { return is_host() ? "host" : fmt::format("cuda:{}", index); }

}  // namespace echelon
