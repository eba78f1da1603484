// SPDX-License-Identifier: BSD-3-Clause
// Bulk copies out of shared memory: one thread asks for a whole stretch, and the copy engine of sm_90 writes it while the
// threads do something else. What threads have stored there is made known to that engine by each of them, then they meet.
#pragma once

#include "echelon/base/cuda/cuda_async.cuh"

namespace echelon::device {

/// By every thread that has stored, before the barrier behind which the copy is asked for.
__device__ __forceinline__ void stage_is_written() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/// Addresses and bytes are multiples of 16.
__device__ __forceinline__ void bulk_store(void* to, Address from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// By the thread that asked: whatever it asked for has left shared memory. The writes themselves are done with the kernel.
__device__ __forceinline__ void stages_are_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

}  // namespace echelon::device
