// SPDX-License-Identifier: BSD-3-Clause
// The Machines of iterated_threads.inl, iterated_cluster.inl and iterated_held_rows.inl on a GPU: the calling thread is the
// worker.
#pragma once

#include "echelon/base/cuda/cuda_async.cuh"
#include "echelon/sweep/iterated/iterated_held_rows.inl"

namespace echelon::device {

extern __shared__ __align__(16) unsigned char iteration_memory[];

struct CtaMachine {
  template <class Work>
  __device__ __forceinline__ void each(const Work& work) const {
    work(Worker{static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x)});
  }
  __device__ __forceinline__ void cta_barrier() const {
    __syncwarp();
    __syncthreads();
  }
  __device__ __forceinline__ unsigned char* memory(int) const { return iteration_memory; }
};

template <class State>
struct OwnState {
  State state;
  __device__ __forceinline__ State& operator[](Worker) { return state; }
};

/// The grid is one cluster.
struct ClusterMachine : CtaMachine {
  __device__ explicit ClusterMachine(int ctas) : base(shared_address(iteration_memory)), alone(ctas == 1) {}

  Address base;

  template <class State>
  __device__ __forceinline__ OwnState<State> states() const {
    return {};
  }
  bool alone;  // a cluster of one CTA

  __device__ __forceinline__ void cluster_barrier() const {
    if (alone) {
      cta_barrier();
    } else {
      __syncwarp();
      asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    }
  }
  /// By address: from a pointer the compiler finds it anew each time, at the cost of asking which CTA this is.
  __device__ __forceinline__ double load(int, int offset) const {
    double x;
    device::load(base + static_cast<unsigned>(offset), x);
    return x;
  }
  __device__ __forceinline__ void store(int, int offset, double x) const {
    device::store(base + static_cast<unsigned>(offset), x);
  }
  __device__ __forceinline__ double get(int cta, int offset) const {
    Address there;
    double x;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(base + static_cast<unsigned>(offset)), "r"(cta));
    asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(x) : "r"(there) : "memory");
    return x;
  }
  /// Volatile, so that it stays between the barriers.
  __device__ __forceinline__ void put(int cta, int offset, double x) const {
    Address there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(base + static_cast<unsigned>(offset)), "r"(cta));
    asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(there), "d"(x) : "memory");
  }
};

}  // namespace echelon::device
