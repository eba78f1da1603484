// SPDX-License-Identifier: BSD-3-Clause
// What the memory gives on a set as large as the case's own: triad a = b + s·c with ordinary stores (24 bytes counted a
// number, as STREAM counts them), and copy by memcpy (16 bytes).
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"

namespace echelon::bench {

struct Bandwidth {
  double triad = 0, copy = 0;  // bytes a second, median of the passes
};

class BandwidthProbe {
 public:
  /// All arrays together have about `bytes` bytes.
  explicit BandwidthProbe(std::int64_t bytes);
  /// With threads() threads.
  Bandwidth measure();

 private:
  Array<double> numbers_;
};

/// a[i] = b[i] + s·c[i], i < n, in the best SIMD width of this CPU; one thread.
void triad_range(double* a, const double* b, const double* c, double s, std::int64_t n);

}  // namespace echelon::bench
