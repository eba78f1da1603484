// SPDX-License-Identifier: BSD-3-Clause
// What a row of blocks does, step after step, on a stencil known at compile time: for each lower entry its product with the
// neighbour's D⁻¹, then all products with the neighbour's U; and how values come and go.
#pragma once

#include "echelon/factor/blocks_gpu/tensor_step.cuh"
#include "echelon/factor/grid_gpu/wavefront_factor_block.cuh"
#include "echelon/stencil/static_plan.hpp"

namespace echelon {

constexpr unsigned whole_warp = ~0u;

/// Which neighbour's block is the right factor, and what it is for: an entry of the row, or −1: the lower entry itself.
struct TeamStep {
  int lower, entry, target;
};

template <int N>
struct TeamSteps {
  static constexpr int count = N;
  TeamStep step[N];
};

template <class Static>
constexpr int count_team_steps() {
  int count = Static::plan.center;
  for (int m = 0; m < Static::plan.center; ++m) {
    for (int t = 0; t < Static::plan.entries; ++t) count += Static::plan.upper[m][t] >= 0;
  }
  return count;
}

template <class Static>
constexpr auto make_team_steps() {
  TeamSteps<count_team_steps<Static>()> steps{};
  int n = 0;
  for (int m = 0; m < Static::plan.center; ++m) {
    steps.step[n++] = {m, Static::plan.center, -1};
    for (int t = 0; t < Static::plan.entries; ++t) {
      if (Static::plan.upper[m][t] >= 0) steps.step[n++] = {m, Static::plan.upper[m][t], t};
    }
  }
  return steps;
}

template <class Static>
__device__ constexpr auto team_steps = make_team_steps<Static>();

/// n columns further on: one instruction.
template <class T>
__device__ __forceinline__ T* column_of(T* first, int run, int n) {
  return first + static_cast<std::int64_t>(run) * n;
}

/// Other processors may have written it: not from the first-level cache.
__device__ __forceinline__ double load_shared_by_all(const double* from) {
  double x;
  asm volatile("ld.global.cg.f64 %0, [%1];" : "=d"(x) : "l"(from));
  return x;
}

/// Zero when it is not wanted. Without a branch, so that many are under way together.
__device__ __forceinline__ double load_shared_by_all(bool wanted, const double* from) {
  double x;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.f64 %0, 0d0000000000000000; @p ld.global.cg.f64 %0, [%1]; }"
               : "=d"(x)
               : "l"(from), "r"(static_cast<unsigned>(wanted)));
  return x;
}
/// Two neighbours, the first at a multiple of 16 bytes.
__device__ __forceinline__ void load_two_shared_by_all(const double* from, double& x, double& y) {
  asm volatile("ld.global.cg.v2.f64 {%0, %1}, [%2];" : "=d"(x), "=d"(y) : "l"(from));
}

/// What the second-level cache may be told: values of A that are read once are the first to leave it, rows of U that others
/// read soon the last.
struct CachePolicies {
  std::uint64_t leaves, stays;
  __device__ CachePolicies() {
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(leaves));
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(stays));
  }
};
__device__ __forceinline__ double load_once(const double* from, std::uint64_t policy) {
  double x;
  asm volatile("ld.global.cg.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(x) : "l"(from), "l"(policy));
  return x;
}
__device__ __forceinline__ void store_to_stay(double* to, double x, std::uint64_t policy) {
  asm volatile("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(to), "d"(x), "l"(policy) : "memory");
}

}  // namespace echelon
