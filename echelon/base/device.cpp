// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/device.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>

#include "echelon/base/cuda/cuda_backend.hpp"
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
  // Devices are named again and again: each is looked at once.
  static std::atomic<std::uint64_t> looked_at{0};
  const std::uint64_t own = std::uint64_t{1} << index % 64;
  if (index >= 64 || (looked_at.load(std::memory_order_relaxed) & own) == 0) {
    require_capability(cuda_backend()->capability(index), cuda_backend()->device_name(index));
    looked_at.fetch_or(own, std::memory_order_relaxed);
  }
  return {Kind::cuda, index};
}

void require_capability(int capability, const std::string& name) {
  constexpr int least = 90;
  if (capability >= least) return;
  throw Error(
      ErrorCode::device,
      fmt::format("{} has compute capability {}.{}; echelon's kernels need {}.{} (Hopper) or later; `--backend host` "
                  "runs everywhere",
                  name, capability / 10, capability % 10, least / 10, least % 10));
}

std::string Device::name() const { return is_host() ? "host" : fmt::format("cuda:{}", index); }

}  // namespace echelon
