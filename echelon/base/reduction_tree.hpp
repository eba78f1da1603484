// SPDX-License-Identifier: BSD-3-Clause
// The fixed shape of every reduction, so that sums are the same bits for every thread count, SIMD width and place:
// the vector is cut into chunks; inside a chunk lane l sums elements l, l+lanes, l+2·lanes, … by fma; the lanes are added
// by halves (l and l + lanes/2, then lanes/4, …); the chunk sums are added pairwise, neighbours first.
#pragma once

#include <cstdint>

namespace echelon::reduction {

inline constexpr int lanes = 32;
inline constexpr std::int64_t chunk = 4096;

inline constexpr std::int64_t chunks(std::int64_t n) { return (n + chunk - 1) / chunk; }

/// Pairwise sum of `count` partial sums, in place: neighbours, then neighbours of those, …
inline double tree_sum(double* partial, std::int64_t count) {
  if (count == 0) return 0;
  for (std::int64_t width = count; width > 1; width = (width + 1) / 2) {
    for (std::int64_t i = 0; i < width / 2; ++i) partial[i] = partial[2 * i] + partial[2 * i + 1];
    if (width % 2) partial[width / 2] = partial[width - 1];
  }
  return partial[0];
}

}  // namespace echelon::reduction
