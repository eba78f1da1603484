// SPDX-License-Identifier: BSD-3-Clause
// The sweeps of row_sweep.cuh where few rows follow one another in chains: one block of threads has all of them and keeps x
// in its shared memory, through which a value takes a third of its way through the second-level cache. A thread has a scalar
// row. A warp takes the next rows by depth, as many as its part of the memory has room for, copies their entries there, and
// then its lanes go on side by side, each as far as the x it waits for have come; rows of a warp may wait for one another.
// Sums are the fma chains of sweep/rows/row.inl. Bytes as in row_sweep.cuh, without those of the x_j.
#pragma once

#include "echelon/base/cuda/absent_value.cuh"
#include "echelon/base/cuda/cuda_copies.cuh"
#include "echelon/sweep/rows_gpu/one_block_plan.hpp"
#include "echelon/sweep/rows_gpu/row_sweep.cuh"

namespace echelon::device {

/// In shared memory, where a value that is not there yet is a NaN of its own.
__device__ __forceinline__ double look(Address a) {
  double x;
  asm volatile("ld.relaxed.cta.shared.f64 %0, [%1];" : "=d"(x) : "r"(a) : "memory");
  return x;
}
__device__ __forceinline__ void tell(Address a, double x) {
  asm volatile("st.relaxed.cta.shared.f64 [%0], %1;" ::"r"(a), "d"(published(x)) : "memory");
}

/// The rows that a warp has in hand. Lane t knows the extent of the t-th; lane t·B + r has scalar row r of it.
template <bool lower, int B>
class RowsInHand {
 public:
  static constexpr int rows_a_warp = OneBlockPlan::rows_a_warp(B), block_bytes = B * B * 8;

  __device__ RowsInHand(const RowSweepView& v, double* memory) : v_(v) {
    const int warp = threadIdx.x / 32;
    x_ = shared_address(memory);
    const Address values = x_ + OneBlockPlan::vector_bytes(v.rows, B);
    values_ = values + warp * v.one_block.staged * block_bytes;
    distances_ = values + blockDim.x / 32 * v.one_block.staged * block_bytes + warp * v.one_block.staged * 4;
  }

  /// Those of `ticket` and the next ones.
  __device__ void take(std::int64_t ticket) {
    rows_ = static_cast<int>(min(std::int64_t{rows_a_warp}, v_.rows - ticket));
    std::int64_t s = 0;
    extent_ = 0;
    begin_ = 0;
    if (lane_ < rows_) {
      s = v_.tickets[ticket + lane_];
      begin_ = v_.start[s];
      extent_ = static_cast<int>(v_.start[s + 1] - begin_);
    }
    s_ = __shfl_sync(~0u, s, row_);
    entries_ = __shfl_sync(~0u, extent_, row_);
    i_ = static_cast<int>(lower ? s_ : v_.rows - 1 - s_);
    if (row_ < rows_) {
      const std::int64_t from = v_.order ? v_.order[i_] : i_;
      user_ = from * B + r_;
      sum_ = v_.r[0] ? v_.r[0][user_] : value_in(load_word(word_of(v_, std::int64_t{i_} * B + r_)));
      if constexpr (!lower) {
#pragma unroll
        for (int c = 0; c < B; ++c) d_[c] = v_.inverse_diagonal[std::int64_t{i_} * (B * B) + c * B + r_];
      }
    }
    // Where a row's entries end when all of them stand one behind the other.
    ends_ = extent_;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(~0u, ends_, step);
      if (lane_ >= step) ends_ += before;
    }
    taken_ = 0;
  }

  /// The entries of the next rows that there is room for; false when none are left.
  __device__ bool stage() {
    if (taken_ >= rows_) return false;
    const int begun = taken_ == 0 ? 0 : __shfl_sync(~0u, ends_, taken_ - 1);
    const unsigned fit = __ballot_sync(~0u, lane_ < rows_ && ends_ - begun <= v_.one_block.staged);
    const int until = 32 - __clz(static_cast<int>(fit)), count = __shfl_sync(~0u, ends_, until - 1) - begun;
    __syncwarp();
    for (int first = 0; first < count; first += 32) {
      const int n = first + lane_;
      // The row of the n-th: the first that ends behind it.
      int q = 0;
#pragma unroll
      for (int half = 16; half > 0; half /= 2) {
        const int end = __shfl_sync(~0u, ends_, q + half - 1);
        if (end - begun <= n) q += half;
      }
      q = min(q, 31);
      const std::int64_t begin = __shfl_sync(~0u, begin_, q);
      const int end = __shfl_sync(~0u, ends_, q) - begun, extent = __shfl_sync(~0u, extent_, q);
      if (n < count) {
        const int t = n - (end - extent);
        const std::int64_t p = begin + (lower ? t : extent - 1 - t);
        copy_async<4>(distances_ + 4 * n, v_.distance + p);
        copy_block(values_ + n * block_bytes, v_.values + p * (B * B));
      }
    }
    wait_for_copies();
    __syncwarp();
    open_ = row_ >= taken_ && row_ < until;
    const int end = __shfl_sync(~0u, ends_, row_) - begun;
    place_ = end - entries_;
    left_ = open_ ? entries_ : 0;
    taken_ = until;
    if (left_ > 0) look_up();
    return true;
  }

  __device__ bool open() const { return open_; }

  /// Looks once for the x that is next. All lanes; true when one of the warp's rows has gone on.
  __device__ bool advance(unsigned long long epoch) {
    double x[B];
    bool there = left_ > 0;
    if (there) {
#pragma unroll
      for (int c = 0; c < B; ++c) x[c] = look(next_ + 8 * c);
#pragma unroll
      for (int c = 0; c < B; ++c) there = there && !is_absent(x[c]);
    }
    if (!__any_sync(~0u, there)) return false;
    if (there) {
#pragma unroll
      for (int c = 0; c < B; ++c) sum_ = fma(-a_[c], x[c], sum_);
      --left_;
      ++place_;
      if (left_ > 0) look_up();
    }
    finish_those_done(epoch);
    return true;
  }

  /// Rows that wait for nothing more.
  __device__ void finish_those_done(unsigned long long epoch) {
    if constexpr (lower || B == 1) {
      if (open_ && left_ == 0) finish(lower ? sum_ : d_[0] * sum_, epoch);
    } else {
      // Lanes of a row may see a word come one look after the other.
      constexpr unsigned of_row = (1u << B) - 1;
      const unsigned done = __ballot_sync(~0u, left_ == 0) >> first_ & of_row;
      const bool ends = open_ && done == of_row;
      if (!__any_sync(~0u, ends)) return;
      double result = d_[0] * __shfl_sync(~0u, sum_, first_);
#pragma unroll
      for (int c = 1; c < B; ++c) result = fma(d_[c], __shfl_sync(~0u, sum_, first_ + c), result);
      if (ends) finish(result, epoch);
    }
  }

  __device__ void give_up() const {
    if (left_ == 0) return;
    const auto j = static_cast<std::int64_t>((next_ - x_) / (8 * B));
    give_up_row(v_.state, lower ? j : v_.rows - 1 - j, s_);
  }

 private:
  __device__ static void copy_block(Address to, const double* from) {
    if constexpr (B % 2 == 0) {
#pragma unroll
      for (int n = 0; n < B * B; n += 2) copy_async<16>(to + 8 * n, from + n);
    } else {
#pragma unroll
      for (int n = 0; n < B * B; ++n) copy_async<8>(to + 8 * n, from + n);
    }
  }

  __device__ void look_up() {
    int distance;
    load(distances_ + 4 * place_, distance);
#pragma unroll
    for (int c = 0; c < B; ++c) load(values_ + place_ * block_bytes + 8 * (c * B + r_), a_[c]);
    next_ = x_ + 8 * B * (lower ? i_ - distance : i_ + distance);
  }

  __device__ void finish(double result, unsigned long long epoch) {
    tell(x_ + 8 * (i_ * B + r_), result);
    if (v_.x[0]) {
      v_.x[0][user_] = result;
    } else {
      store_word(word_of(v_, std::int64_t{i_} * B + r_), bits_of(result), epoch);
    }
    open_ = false;
  }

  const RowSweepView& v_;
  const int lane_ = threadIdx.x % 32, row_ = lane_ / B, r_ = lane_ % B, first_ = lane_ - r_;
  Address x_, values_, distances_, next_ = 0;
  int rows_ = 0, extent_ = 0, ends_ = 0, taken_ = 0;  // of the t-th row, in lane t
  std::int64_t begin_ = 0, s_ = 0, user_ = 0;
  int i_ = 0, entries_ = 0, place_ = 0, left_ = 0;
  bool open_ = false;
  double a_[B], d_[lower ? 1 : B], sum_ = 0;
};

template <bool lower, int B>
__global__ void __launch_bounds__(OneBlockPlan::most_threads, 1)
    one_block_sweep_kernel(const __grid_constant__ RowSweepView v) {
  extern __shared__ __align__(16) double memory[];
  const unsigned long long epoch = *const_cast<volatile unsigned long long*>(&v.state->epoch);
  const unsigned first = *const_cast<volatile unsigned*>(&v.state->ticket);
  for (int n = threadIdx.x; n < v.rows * B; n += blockDim.x) memory[n] = absent_value;
  __syncthreads();
  RowsInHand<lower, B> hand(v, memory);
  const int step = blockDim.x / 32 * hand.rows_a_warp;
  bool stopped = false;
  for (std::int64_t ticket = first + threadIdx.x / 32 * hand.rows_a_warp; ticket < v.rows && !stopped; ticket += step) {
    hand.take(ticket);
    while (!stopped && hand.stage()) {
      Patience patience;
      hand.finish_those_done(epoch);
      while (!stopped) {
        if (hand.advance(epoch)) continue;
        if (!__any_sync(~0u, hand.open())) break;
        stopped = __any_sync(~0u, hand.open() && patience.is_over(v.state));
        if (stopped) hand.give_up();
      }
    }
  }
  finish_row_sweep(v.state);
}

}  // namespace echelon::device
