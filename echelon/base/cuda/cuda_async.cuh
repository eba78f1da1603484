// SPDX-License-Identifier: BSD-3-Clause
// The few instructions of sm_90 that CUDA C++ has no words for: barriers in shared memory with transaction counts, bulk
// copies into shared memory that arrive at them, loads and stores of shared memory by address, and 16-byte words that a
// value and its tag cross in one piece. Waits name the phase by its parity: who waits may be at most one phase behind.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace echelon::device {

/// In the block's shared memory.
using Address = unsigned;

__device__ __forceinline__ Address shared_address(const void* pointer) {
  Address address;
  // Opaque on purpose: the compiler would otherwise recompute addresses from the symbol everywhere.
  asm volatile("mov.u32 %0, %1;" : "=r"(address) : "r"(static_cast<unsigned>(__cvta_generic_to_shared(pointer))));
  return address;
}

__device__ __forceinline__ void barrier_init(Address barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ __forceinline__ void barriers_are_ready() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void barrier_arrive(Address barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Arrives, and lets the phase end only when so many bytes have been copied.
__device__ __forceinline__ void barrier_expect(Address barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_wait(Address barrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra D; bra L; D: }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
/// Both, their looks under way at once.
__device__ __forceinline__ void barrier_wait_both(Address a, unsigned parity_a, Address b, unsigned parity_b) {
  asm volatile(
      "{ .reg .pred p, q; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;"
      " mbarrier.try_wait.parity.shared::cta.b64 q, [%2], %3; and.pred p, p, q; @p bra D; bra L; D: }" ::"r"(a),
      "r"(parity_a), "r"(b), "r"(parity_b)
      : "memory");
}
/// One with a long suspension, for whoever is not on the critical path.
__device__ __forceinline__ void barrier_wait_idle(Address barrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1, 2000; @p bra D; bra L; D: }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Addresses and bytes are multiples of 16.
__device__ __forceinline__ void bulk_copy(Address to, const void* from, unsigned bytes, Address barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}

__device__ __forceinline__ void load(Address a, double& x) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(a) : "memory");
}
__device__ __forceinline__ void load(Address a, float& x) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(a) : "memory");
}
__device__ __forceinline__ void load(Address a, int& x) {
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(a) : "memory");
}
__device__ __forceinline__ void load(Address a, std::int64_t& x) {
  asm volatile("ld.shared.b64 %0, [%1];" : "=l"(x) : "r"(a) : "memory");
}
__device__ __forceinline__ void load(Address a, __half& x) {
  unsigned short bits;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(bits) : "r"(a) : "memory");
  x = __ushort_as_half(bits);
}
__device__ __forceinline__ void load(Address a, __nv_bfloat16& x) {
  unsigned short bits;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(bits) : "r"(a) : "memory");
  x = __ushort_as_bfloat16(bits);
}
__device__ __forceinline__ void load2(Address a, double& x, double& y) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(x), "=d"(y) : "r"(a) : "memory");
}
__device__ __forceinline__ void load2(Address a, float& x, float& y) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(a) : "memory");
}
__device__ __forceinline__ void store(Address a, double x) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(a), "d"(x) : "memory");
}
__device__ __forceinline__ void store(Address a, float x) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(a), "f"(x) : "memory");
}
__device__ __forceinline__ void store(Address a, int x) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(a), "r"(x) : "memory");
}
__device__ __forceinline__ void store(Address a, std::int64_t x) {
  asm volatile("st.shared.b64 [%0], %1;" ::"r"(a), "l"(x) : "memory");
}

/// A value and the tag that says it is there, in one 16-byte word: the data is the flag, no fence is needed.
struct __align__(16) TaggedWord {
  unsigned long long value, tag;
};
__device__ __forceinline__ void store_word(TaggedWord* to, unsigned long long value, unsigned long long tag) {
  asm volatile("{ .reg .b128 t; mov.b128 t, {%1, %2}; st.relaxed.gpu.global.b128 [%0], t; }" ::"l"(to), "l"(value), "l"(tag)
               : "memory");
}
/// Several may be under way at once: nothing waits before the word is looked at.
__device__ __forceinline__ unsigned __int128 load_word(const TaggedWord* from) {
  unsigned __int128 word;
  asm volatile("ld.relaxed.gpu.global.b128 %0, [%1];" : "=q"(word) : "l"(from) : "memory");
  return word;
}
__device__ __forceinline__ unsigned long long value_of(unsigned __int128 word) {
  return static_cast<unsigned long long>(word);
}
__device__ __forceinline__ unsigned long long tag_of(unsigned __int128 word) {
  return static_cast<unsigned long long>(word >> 64);
}

__device__ __forceinline__ unsigned long long bits_of(double x) {
  return static_cast<unsigned long long>(__double_as_longlong(x));
}
__device__ __forceinline__ unsigned long long bits_of(float x) { return __float_as_uint(x); }
__device__ __forceinline__ void from_bits(unsigned long long bits, double& x) {
  x = __longlong_as_double(static_cast<long long>(bits));
}
__device__ __forceinline__ void from_bits(unsigned long long bits, float& x) {
  x = __uint_as_float(static_cast<unsigned>(bits));
}

template <class V, class S>
__device__ __forceinline__ V widened(S x) {
  if constexpr (sizeof(S) == 2) {
    return static_cast<V>(static_cast<float>(x));
  } else {
    return static_cast<V>(x);
  }
}

__device__ __forceinline__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

}  // namespace echelon::device
