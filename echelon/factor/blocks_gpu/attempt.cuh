// SPDX-License-Identifier: BSD-3-Clause
// What the factorizations' kernels share, on grids and by rows: words between blocks of threads, the largest of sizes, and
// the log of bad pivots.
#pragma once

#include "echelon/base/cuda/cuda_async.cuh"
#include "echelon/factor/blocks_gpu/factor_status.hpp"
#include "echelon/factor/pivots/pivot_repair.hpp"

namespace echelon {

constexpr int spins_between_looks = 1024;

__device__ __forceinline__ unsigned load_acquire(const unsigned* p) {
  unsigned x;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ unsigned load_relaxed(const unsigned* p) {
  unsigned x;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ void store_release(unsigned* p, unsigned x) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}

/// Largest of sizes ≥ 0.
__device__ __forceinline__ void raise(unsigned long long* largest, double size) {
  atomicMax(largest, static_cast<unsigned long long>(__double_as_longlong(size)));
}

/// The largest of the warp's sizes ≥ 0.
__device__ __forceinline__ void raise_by_warp(unsigned long long* to, double size) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
    const double other = __shfl_xor_sync(~0u, size, half);
    size = other > size ? other : size;
  }
  if (threadIdx.x % 32 == 0 && size > 0) raise(to, size);
}

/// Bad pivots of all blocks of threads; few are kept, so most find out without the lock that they are not among the first.
struct DevicePivotLog {
  FactorStatus* status;
  __device__ void add(std::int64_t position, const PivotNote& note) const {
    PivotNotes& notes = status->notes;
    atomicAdd(reinterpret_cast<unsigned long long*>(&notes.count), 1ull);
    const volatile PivotNotes& seen = notes;
    const bool new_kind = (note.kind == PivotNote::Kind::nonfinite_input && !seen.nonfinite_input) ||
                          (note.kind == PivotNote::Kind::overflow && !seen.nonfinite);
    // Zero until as many are kept; then it only becomes less. `used` is raised before the place is written.
    const std::int64_t last = seen.positions[PivotNotes::kept - 1];
    if (!new_kind && last > 0 && position > last) return;
    for (bool done = false; !done;) {
      if (atomicCAS(&status->lock, 0u, 1u) != 0) continue;
      __threadfence();
      notes.note_kind(note.kind);
      notes.keep(position, note);
      __threadfence();
      atomicExch(&status->lock, 0u);
      done = true;
    }
  }
};

/// What is used instead of a bad scalar pivot, and the change that is. By value: an address would keep the caller's
/// whole state in memory.
template <class T>
struct JudgedPivot {
  T used;
  double change;
};

}  // namespace echelon
