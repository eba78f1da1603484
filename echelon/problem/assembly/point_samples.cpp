// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/problem/assembly/point_samples.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"

namespace echelon::problems::sampling {

void require_finite(const char* what, const double (&at)[3], std::span<const double> values) {
  for (const double value : values) {
    if (std::isfinite(value)) continue;
    throw Error(ErrorCode::bad_argument,
                fmt::format("{} at ({}, {}, {}) is {}: it must be finite", what, at[0], at[1], at[2], value));
  }
}

void require_room(const char* what, std::int64_t scalars, Device device) {
  require_memory(scalars * std::int64_t{sizeof(double)}, what, device);
}

void throw_no_cuda() { throw Error(ErrorCode::device, "a problem on a GPU: this build of echelon has no CUDA"); }

}  // namespace echelon::problems::sampling
