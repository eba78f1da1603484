// SPDX-License-Identifier: BSD-3-Clause
// Where data lives, and the only place that asks whether a CUDA compiler is reading.
// ECHELON_FN marks the small functions that hold row mathematics: always inlined, so that each takes on the instruction
// set of the kernel around it, and callable on the device.
#pragma once

#include <string>

#ifdef __CUDACC__
#define ECHELON_FN __host__ __device__ __forceinline__
#else
#define ECHELON_FN inline __attribute__((always_inline))
#endif

namespace echelon {

/// A place for data: the host's memory, or that of one GPU.
struct Device {
  enum class Kind { host, cuda };
  Kind kind = Kind::host;
  int index = 0;

  static Device host() { return {}; }
  /// Throws Error(device) with the reason when there is no such GPU or the build has no CUDA.
  static Device cuda(int index = 0);
  /// Number of GPUs this build can use; 0 without CUDA or without a driver.
  static int cuda_count();

  bool is_host() const { return kind == Kind::host; }
  std::string name() const;
  friend bool operator==(const Device&, const Device&) = default;
};

}  // namespace echelon
