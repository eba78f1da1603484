// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cub/device/device_scan.cuh>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/cuda/device_scratch.cuh"

namespace echelon {

/// x_i ← Σ_{k≤i} x_k. Queued.
inline void sum_prefixes(int device, std::int64_t* x, std::int64_t n) {
  std::size_t bytes = 0;
  check_cuda(cub::DeviceScan::InclusiveSum(nullptr, bytes, x, x, n), "prefix sums: size");
  const DeviceScratch scratch(device, bytes);
  check_cuda(cub::DeviceScan::InclusiveSum(scratch.as<void>(), bytes, x, x, n), "prefix sums");
}

}  // namespace echelon
