// SPDX-License-Identifier: BSD-3-Clause
// Copies into shared memory that a thread begins and, later, waits for: what is under way takes no registers. Other lanes
// see what a thread has waited for after the next barrier. And loads and stores by address beside those of cuda_async.cuh.
#pragma once

#include "echelon/base/cuda/cuda_async.cuh"

namespace echelon::device {

/// Of 4, 8 or 16 bytes, both addresses multiples of that; there once this thread has waited for its copies.
template <int bytes>
__device__ __forceinline__ void copy_async(Address to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(bytes) : "memory");
}
/// All that the thread has begun.
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

__device__ __forceinline__ void load(Address a, std::uint8_t& x) {
  unsigned byte;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(a) : "memory");
  x = static_cast<std::uint8_t>(byte);
}
__device__ __forceinline__ void load4(Address a, int (&x)[4]) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(a)
               : "memory");
}
__device__ __forceinline__ void store4(Address a, const int (&x)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(a), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]) : "memory");
}

}  // namespace echelon::device
