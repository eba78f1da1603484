// SPDX-License-Identifier: BSD-3-Clause
// Values that come with no flag: memory is cleared to a NaN that nobody publishes, so whoever reads one sees whether it is
// there. Eight bytes come whole, through the second-level cache, in shared memory and to the host.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstdint>

#include "echelon/base/device.hpp"

namespace echelon {

/// A value that is not there yet, told by its upper half, and what a NaN that looks like it has there instead.
constexpr double absent_value = std::bit_cast<double>(~std::uint64_t{0});
constexpr int absent_half = -1;
constexpr int present_half = 0x7fffffff;

ECHELON_FN bool is_absent(double x) {
#ifdef __CUDA_ARCH__
  return __double2hiint(x) == absent_half;  // a shift compiles to more
#else
  return static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(x) >> 32) == absent_half;
#endif
}

__device__ __forceinline__ double published(double x) {
  return is_absent(x) ? __hiloint2double(present_half, __double2loint(x)) : x;
}

/// racecheck takes a word in shared memory that is looked at until it is there for a race: its build does without them.
#ifdef ECHELON_RACECHECK
constexpr bool words_may_be_shared = false;
#else
constexpr bool words_may_be_shared = true;
#endif

}  // namespace echelon
