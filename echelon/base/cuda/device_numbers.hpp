// SPDX-License-Identifier: BSD-3-Clause
// A few numbers that a GPU has found, brought to the host in one wait: each wait costs as much as a small factorization.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace echelon {

struct DeviceNumbers {
  const void* from;  // on the device
  void* to;
  std::size_t bytes;
};

struct NumberKernels {
  /// The bits of max |x_i| into `top`; NaN is larger than everything. Queued, not waited for.
  void (*largest)(int device, const double* x, std::int64_t n, unsigned long long* top);
  /// Waits for what was queued before. At most 4 pieces, of whole words of 4 bytes and 4 KB in all.
  void (*fetch)(int device, std::span<const DeviceNumbers> pieces);
};

/// Null when the build has no CUDA.
const NumberKernels* number_kernels();

}  // namespace echelon
