// SPDX-License-Identifier: BSD-3-Clause
// Barriers in shared memory at which warps arrive. One lane speaks for its warp after meeting the others: what they did
// before is done before. compute-sanitizer's racecheck follows only what a thread says for itself, so in a build for it
// (ECHELON_RACECHECK) every lane arrives.
#pragma once

#include "echelon/base/cuda/cuda_async.cuh"

namespace echelon::device {

#ifdef ECHELON_RACECHECK
inline constexpr int arrivals_a_warp = 32;
#else
inline constexpr int arrivals_a_warp = 1;
#endif

__device__ __forceinline__ void warp_barrier_init(Address barrier, int warps) {
  barrier_init(barrier, warps * arrivals_a_warp);
}
/// All lanes.
__device__ __forceinline__ void warp_arrives(Address barrier, int lane) {
  __syncwarp();
  if (lane < arrivals_a_warp) barrier_arrive(barrier);
}

}  // namespace echelon::device
