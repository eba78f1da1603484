// SPDX-License-Identifier: BSD-3-Clause
// Exact ILU of scalar CSR on a GPU where few rows follow one another in long chains: the rows of row_factor_warp.cuh, but by
// one cluster of blocks, each of which has the words of all rows in its shared memory. A row tells its words to every block,
// and who waits looks at its own: less than half of the time through the second-level cache. Tickets are dealt out in turn
// to the warps of a block and then to the next block, so that a chain of neighbours stays on one processor for a while. All
// blocks of a cluster are there at once, so rows may wait for one another. Words fit when 8 (2 n + entries of U) bytes do.
#pragma once

#include "echelon/factor/rows_gpu/row_factor_warp.cuh"

namespace echelon {

/// Of a block. More warps were no faster on an H200; beyond four entries a lane registers run out.
constexpr int cluster_row_threads(int entries_a_lane) { return entries_a_lane <= 4 ? 384 : 256; }

/// As GlobalWords of row_factor_warp.cuh.
class ClusterWords {
 public:
  using Place = device::Address;
  static constexpr int threads = cluster_row_threads(1);  // at most

  __device__ ClusterWords(const RowFactorView& v, device::Address words) : words_(words) {
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank_));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks_));
    const unsigned warps = blockDim.x / 32;
    step_ = blocks_ * warps;
    ticket_ = v.first_ticket + rank_ * warps + threadIdx.x / 32;
  }
  __device__ unsigned next_ticket(const RowFactorView&, int) {
    const unsigned ticket = ticket_;
    ticket_ += step_;
    return ticket;
  }
  __device__ double load(unsigned where) const {
    double x;
    asm volatile("ld.relaxed.cluster.shared::cta.f64 %0, [%1];" : "=d"(x) : "r"(words_ + 8 * where) : "memory");
    return x;
  }
  __device__ Place place(std::int64_t record) const { return words_ + 8 * static_cast<unsigned>(record); }
  __device__ static Place place(Place record, unsigned after) { return record + 8 * after; }
  /// The own block first: there the next rows are.
  __device__ void tell(Place to, double x) const {
    x = published(x);
    asm volatile("st.relaxed.cluster.shared::cta.f64 [%0], %1;" ::"r"(to), "d"(x) : "memory");
    for (unsigned n = 1; n < blocks_; ++n) {
      const unsigned other = rank_ + n < blocks_ ? rank_ + n : rank_ + n - blocks_;
      asm volatile(
          "{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; st.relaxed.cluster.shared::cluster.f64 [a], %2; }" ::"r"(to),
          "r"(other), "d"(x)
          : "memory");
    }
  }

 private:
  device::Address words_;
  unsigned rank_, blocks_, ticket_, step_;
};

__device__ __forceinline__ void meet_in_cluster() {
  asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
}

/// v.meets.stride = 32 E; `words` of shared memory, an even number.
template <int E>
__global__ void __launch_bounds__(cluster_row_threads(E), 1)
    cluster_row_factor_kernel(const __grid_constant__ RowFactorView v, int words) {
  extern __shared__ __align__(16) double memory[];
  for (int n = 2 * threadIdx.x; n < words; n += 2 * blockDim.x) {
    *reinterpret_cast<uint4*>(memory + n) = {~0u, ~0u, ~0u, ~0u};
  }
  meet_in_cluster();
  device::wait_for_previous();
  device::let_next_begin();
  WarpRow<E, ClusterWords> row(v, ClusterWords(v, device::shared_address(memory)));
  // Tickets that were given away: another pattern.
  if (*static_cast<volatile unsigned*>(&v.status->ticket) == 0) {
    while (row.take() && row.eliminate()) row.finish();
    row.report();
  }
  // What is told to a block needs it.
  __syncwarp();
  meet_in_cluster();
}

}  // namespace echelon
