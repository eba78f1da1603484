// SPDX-License-Identifier: BSD-3-Clause
// Factors of the vector kernels (DeviceScalar) as their threads take them.
#pragma once

#include "echelon/krylov/vectors/device_vector_kernels.hpp"

namespace echelon::device {

/// The number a factor stands for.
__device__ __forceinline__ double value_of(const DeviceScalar& a) { return a.over ? *a.over / *a.under : a.value; }

/// A number over a number, both positive and finite; what the host has is taken as it is.
__device__ __forceinline__ bool positive(const DeviceScalar& a) {
  return !a.over || (*a.over > 0 && *a.under > 0 && isfinite(*a.over) && isfinite(*a.under));
}

/// A step length, and whether it may be taken.
struct Step {
  double alpha;
  bool valid;
};
__device__ __forceinline__ Step step_of(const DeviceScalar& a) { return {value_of(a), positive(a)}; }

struct Nothing {};

}  // namespace echelon::device
