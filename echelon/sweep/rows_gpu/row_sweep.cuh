// SPDX-License-Identifier: BSD-3-Clause
// Exact triangular sweeps of a block CSR factorization, without levels or barriers:
//   L: x_i = r_i − Σ_j L_ij x_j          U: x_i = D_i⁻¹ (r_i − Σ_j U_ij x_j)          the fma chains of sweep/rows/row.inl.
// A group of E·b lanes takes a row: lane (e, r) loads row r of the block of the e-th entry at once and waits for x_j[r]
// alone; the sum goes from entry to entry of the chain as far as its x have come. Rows of a warp advance side by side, so
// one may wait for another. K vectors go together, each with its own chain of sums, so each has the bits of a sweep alone.
// Bytes a row: 8 b² + 4 an entry and 16 b K for its x_j, 24 b K and 16 for the row, 8 b² for D⁻¹ in U.
#pragma once

#include "echelon/base/cuda/cuda_async.cuh"
#include "echelon/base/cuda/row_watch.cuh"
#include "echelon/base/small_block.hpp"
#include "echelon/sweep/rows_gpu/row_sweep_view.hpp"

namespace echelon::device {

constexpr int row_sweep_threads = 128;

__device__ __forceinline__ TaggedWord* word_of(const RowSweepView& v, std::int64_t scalar) {
  return reinterpret_cast<TaggedWord*>(v.words + scalar);
}
__device__ __forceinline__ double value_in(unsigned __int128 word) {
  double x;
  from_bits(value_of(word), x);
  return x;
}

/// Every block has its tickets and the epoch by the time all have come here; the last one turns the state.
__device__ __forceinline__ void finish_row_sweep(RowSweepState* state) {
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&state->finished, 1u) + 1 == gridDim.x) {
    state->ticket = state->finished = 0;
    ++state->epoch;
  }
}

/// One lane's part of a row: entries base + e of the chains.
template <bool lower, int B, int E, int K>
struct RowLane {
  static constexpr int group_lanes = E * B, rows_a_warp = 32 / group_lanes;
  static_assert(rows_a_warp > 0);
  const RowSweepView& v;
  int first, e, r;    // lane of the group's (0, 0), and the own place
  bool open = false;  // the row is not finished
  std::int64_t s = 0, i = 0, begin = 0;
  int entries = 0, base = 0, turn = 0;
  bool has = false, have = false;  // an entry; its x
  std::int64_t j = 0;
  double a[B], d[lower ? 1 : B], x[K] = {}, sum[K] = {};

  __device__ explicit RowLane(const RowSweepView& view) : v(view) {
    const int lane = threadIdx.x % 32, within = lane % group_lanes;
    first = lane - within, e = within / B, r = within % B;
  }

  __device__ void take(std::int64_t ticket) {
    open = first < rows_a_warp * group_lanes && ticket < v.rows;
    base = turn = entries = 0;
    has = have = false;
#pragma unroll
    for (int k = 0; k < K; ++k) sum[k] = x[k] = 0;
    if (!open) return;
    s = v.tickets ? v.tickets[ticket] : ticket;
    i = lower ? s : v.rows - 1 - s;
    begin = v.start[s];
    entries = static_cast<int>(v.start[s + 1] - begin);
    if (e == 0) {
      const std::int64_t from = v.order ? v.order[i] : i;
#pragma unroll
      for (int k = 0; k < K; ++k) {
        sum[k] = v.r[0] ? v.r[k][from * B + r] : value_in(load_word(word_of(v, (i * B + r) * K + k)));
      }
      if constexpr (!lower) {
#pragma unroll
        for (int c = 0; c < B; ++c) d[c] = v.inverse_diagonal[i * (B * B) + c * B + r];
      }
    }
    load_entry();
  }

  __device__ void load_entry() {
    has = open && base + e < entries;
    have = false;
    if (!has) return;
    const std::int64_t p = begin + (lower ? base + e : entries - 1 - base - e);
    const std::int64_t distance = v.distance[p];
    j = lower ? i - distance : i + distance;
#pragma unroll
    for (int c = 0; c < B; ++c) a[c] = v.values[p * (B * B) + c * B + r];
  }

  /// Asks once for the x that are missing. All lanes; true when one of the warp's rows has gone on or is finished.
  __device__ bool advance(unsigned long long epoch) {
    if (has && !have) {
      unsigned __int128 word[K];
#pragma unroll
      for (int k = 0; k < K; ++k) word[k] = load_word(word_of(v, (j * B + r) * K + k));
      have = true;
#pragma unroll
      for (int k = 0; k < K; ++k) have = have && tag_of(word[k]) == epoch;
#pragma unroll
      for (int k = 0; k < K; ++k) x[k] = have ? value_in(word[k]) : x[k];
    }
    constexpr unsigned of_group = group_lanes == 32 ? ~0u : (1u << group_lanes) - 1;
    const unsigned missing = ~(__ballot_sync(~0u, have || !has) >> first) & of_group;
    const int chunk = entries - base < E ? entries - base : E;
    const int there = missing == 0 ? chunk : (__ffs(static_cast<int>(missing)) - 1) / B;
    const bool goes_on = open && (there > turn || there == chunk);
    if (!__any_sync(~0u, goes_on)) return false;
    chain(there);
    turn = there;
    const bool ends = open && base + turn == entries;
    if (__any_sync(~0u, ends)) finish(ends, epoch);
    if (open && turn == chunk) {
      base += chunk;
      turn = 0;
      load_entry();
    }
    return true;
  }

  /// sum ← sum − A x of the entries turn … there − 1, each where it was loaded.
  __device__ void chain(int there) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      double of_entry[B];
#pragma unroll
      for (int c = 0; c < B; ++c) of_entry[c] = __shfl_sync(~0u, x[k], first + e * B + c);
#pragma unroll
      for (int t = 0; t < E; ++t) {
        double here = sum[k];
#pragma unroll
        for (int c = 0; c < B; ++c) here = fma(-a[c], of_entry[c], here);
        here = __shfl_sync(~0u, here, first + t * B + r);
        if (t >= turn && t < there) sum[k] = here;
      }
    }
  }

  __device__ void finish(bool ends, unsigned long long epoch) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      double result = sum[k];
      if constexpr (!lower) {
        result = d[0] * __shfl_sync(~0u, sum[k], first);
#pragma unroll
        for (int c = 1; c < B; ++c) result = fma(d[c], __shfl_sync(~0u, sum[k], first + c), result);
      }
      if (!ends || e > 0) continue;
      store_word(word_of(v, (i * B + r) * K + k), bits_of(result), epoch);
      if (v.x[0]) v.x[k][(v.order ? v.order[i] : i) * B + r] = result;
    }
    if (ends) open = false;
  }
};

template <bool lower, int B, int E, int K>
__global__ void __launch_bounds__(row_sweep_threads) row_sweep_kernel(const __grid_constant__ RowSweepView v) {
  using Lane = RowLane<lower, B, E, K>;
  const unsigned long long epoch = *const_cast<volatile unsigned long long*>(&v.state->epoch);
  Lane lane(v);
  bool stopped = false;
  while (!stopped) {
    const std::int64_t begin = std::int64_t{next_ticket(v.state)} * Lane::rows_a_warp;
    if (begin >= v.rows) break;
    lane.take(begin + lane.first / Lane::group_lanes);
#pragma unroll
    for (int k = 0; k < K; ++k) lane.sum[k] = __shfl_sync(~0u, lane.sum[k], lane.first + lane.r);
    Patience patience;
    while (__any_sync(~0u, lane.open) && !stopped) {
      if (lane.advance(epoch)) continue;
      stopped = __any_sync(~0u, patience.is_over(v.state));
      if (stopped && lane.has && !lane.have) give_up_row(v.state, lower ? lane.j : v.rows - 1 - lane.j, lane.s);
    }
  }
  finish_row_sweep(v.state);
}

/// Any block size: a warp a row, a lane a scalar row of it, entries and columns in turn. Slow and plain.
template <bool lower>
__global__ void __launch_bounds__(32) row_sweep_generic(const __grid_constant__ RowSweepView v) {
  extern __shared__ double sums[];
  const unsigned long long epoch = *const_cast<volatile unsigned long long*>(&v.state->epoch);
  const int b = v.block;
  for (bool stopped = false; !stopped;) {
    const std::int64_t ticket = next_ticket(v.state);
    if (ticket >= v.rows) break;
    const std::int64_t s = v.tickets ? v.tickets[ticket] : ticket, i = lower ? s : v.rows - 1 - s;
    const std::int64_t begin = v.start[s], end = v.start[s + 1], place = v.order ? v.order[i] : i;
    Patience patience;
    for (int r = threadIdx.x; r < b && !stopped; r += 32) {
      double sum = v.r[0] ? v.r[0][place * b + r] : value_in(load_word(word_of(v, i * b + r)));
      for (std::int64_t n = begin; n < end && !stopped; ++n) {
        const std::int64_t p = lower ? n : begin + end - 1 - n;
        const std::int64_t j = lower ? i - v.distance[p] : i + v.distance[p];
        for (int c = 0; c < b && !stopped; ++c) {
          unsigned __int128 word = load_word(word_of(v, j * b + c));
          while (tag_of(word) != epoch && !stopped) {
            stopped = patience.is_over(v.state);
            word = load_word(word_of(v, j * b + c));
          }
          if (stopped) give_up_row(v.state, lower ? j : v.rows - 1 - j, s);
          sum = fma(-v.values[(p * b + c) * b + r], value_in(word), sum);
        }
      }
      sums[r] = sum;
    }
    stopped = __any_sync(~0u, stopped);
    if (stopped) break;
    __syncwarp();
    for (int r = threadIdx.x; r < b; r += 32) {
      double result = sums[r];
      if constexpr (!lower) {
        const double* D = v.inverse_diagonal + i * b * b;
        result = D[r] * sums[0];
        for (int c = 1; c < b; ++c) result = fma(D[c * b + r], sums[c], result);
      }
      store_word(word_of(v, i * b + r), bits_of(result), epoch);
      if (v.x[0]) v.x[0][place * b + r] = result;
    }
    __syncwarp();
  }
  finish_row_sweep(v.state);
}

}  // namespace echelon::device
