// SPDX-License-Identifier: BSD-3-Clause
// Bulk copies into shared memory (cuda_async.cuh) of what passes through once, and should leave the second-level cache
// before what is read again.
#pragma once

#include "echelon/base/cuda/cuda_async.cuh"

namespace echelon::device {

__device__ __forceinline__ unsigned long long read_once_policy() {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
/// Addresses and bytes are multiples of 16.
__device__ __forceinline__ void bulk_copy_once(Address to, const void* from, unsigned bytes, Address barrier,
                                               unsigned long long policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
      : "memory");
}
/// To the second-level cache.
__device__ __forceinline__ void bulk_prefetch(const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

}  // namespace echelon::device
