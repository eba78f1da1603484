// SPDX-License-Identifier: BSD-3-Clause
// Fills what row_meets.hpp describes: a row to G lanes, E places a lane. Its columns go into shared memory; the columns of
// its rows of U are dealt out to the lanes, `lanes_a_k` for each, and looked for there. Bytes a row: 4 an entry and 4 an
// entry of each U(k) read, 24 and about `stride` for each lower entry written.
#pragma once

#include <climits>

#include "echelon/factor/rows/ilu_numeric.hpp"
#include "echelon/factor/rows_gpu/row_meets.hpp"

namespace echelon {

constexpr int row_meets_threads = 128;

template <int G, int E>
class RowMeetsLane {
 public:
  static constexpr int stride = G * E, steps = RowMeetsView::steps_a_word;
  static constexpr int lanes_a_k = G / 2, at_once = G / lanes_a_k;
  static constexpr int words = stride / steps < 8 ? stride / steps : 8;  // of a place that are made at a time
  static constexpr int room = stride * (1 + words);                      // of a row, in words

  /// `memory` has `room` words for each row of the block.
  __device__ RowMeetsLane(const FactorView<double>& factors, const RowMeetsView& to, unsigned* memory)
      : f_(factors),
        to_(to),
        last_(factors.A.block_rows - 1),
        first_(threadIdx.x % 32 / G * G),
        q_(threadIdx.x % G),
        columns_(reinterpret_cast<std::int32_t*>(memory + threadIdx.x / G * room)),
        places_(memory + threadIdx.x / G * room + stride) {}

  /// All lanes, those beyond the last ticket too.
  __device__ void find(const std::int32_t* tickets, std::int64_t ticket) {
    if (ticket <= last_) open_row(tickets, ticket);
#pragma unroll
    for (int x = 0; x < E; ++x) columns_[entry(x)] = entry(x) < count_ ? column_[x] : INT_MAX;
    for (int base = 0; __any_sync(~0u, base < below_); base += words * steps) {
      begin_places(base);
      __syncwarp();
      const int most = __reduce_max_sync(~0u, below_) - base;
      for (int t = 0; t < words * steps && t < most; t += 2 * at_once) {
        const Above one = load(base, t), other = load(base, t + at_once);
        look_for(one);
        look_for(other);
      }
      __syncwarp();
      write_places(base);
      __syncwarp();
    }
  }

 private:
  /// A lane's part of a row k of U: the m-th entry, and every lanes_a_k-th after it.
  struct Above {
    int step = 0, entries = 0, m = 0;  // the step counts from those that are made at a time
    std::int32_t k = 0, column = 0;
    unsigned begin = 0;
  };

  __device__ int entry(int x) const { return q_ + G * x; }

  __device__ void open_row(const std::int32_t* tickets, std::int64_t ticket) {
    i_ = tickets ? tickets[ticket] : ticket;
    const std::int64_t user = f_.order ? f_.order[i_] : i_;
    const std::int64_t upper = f_.upper_start[last_ - i_], of_A = f_.A.row_start[user];
    lower_ = f_.lower_start[i_];
    below_ = static_cast<int>(f_.lower_start[i_ + 1] - lower_);
    count_ = below_ + 1 + static_cast<int>(f_.upper_start[last_ - i_ + 1] - upper);
    const RowHead head{below_, count_, static_cast<int>(f_.A.row_start[user + 1] - of_A)};
    if (q_ == 0) {
      unsigned* to = to_.heads + ticket * RowHead::words;
      to[RowHead::row] = static_cast<unsigned>(i_);
      to[RowHead::user] = static_cast<unsigned>(user);
      to[RowHead::lower] = static_cast<unsigned>(lower_);
      to[RowHead::upper] = static_cast<unsigned>(upper);
      to[RowHead::of_A] = static_cast<unsigned>(of_A);
      to[RowHead::counts] = head.packed();
    }
    const auto* below = static_cast<const std::int32_t*>(f_.lower_distance);
    const auto i = static_cast<std::int32_t>(i_);
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const int e = entry(x);
      column_[x] = i;
      if (e < below_) column_[x] = i - below[lower_ + e];
      if (e > below_ && e < count_) column_[x] = i + above()[upper + e - below_ - 1];
      if (e < below_) {
        const std::int64_t begin = f_.upper_start[last_ - column_[x]];
        begin_k_[x] = static_cast<unsigned>(begin);
        entries_k_[x] = static_cast<int>(f_.upper_start[last_ - column_[x] + 1] - begin);
        to_.records[lower_ + e] = static_cast<unsigned>(RowMeetsView::record(last_, column_[x], begin));
      }
    }
    if (to_.sources) find_sources(of_A, head.entries);
  }

  __device__ void find_sources(std::int64_t of_A, int entries) {
    unsigned source[E];
#pragma unroll
    for (int x = 0; x < E; ++x) source[x] = RowMeetsView::no_place;
    for (int n = 0; n < entries; ++n) {
      const std::int32_t user = f_.A.column[of_A + n], column = f_.position ? f_.position[user] : user;
#pragma unroll
      for (int x = 0; x < E; ++x) source[x] = entry(x) < count_ && column_[x] == column ? n : source[x];
    }
#pragma unroll
    for (int x = 0; x < E; ++x) to_.sources[i_ * stride + entry(x)] = static_cast<std::uint8_t>(source[x]);
  }

  /// The places that do not depend on U.
  __device__ void begin_places(int base) {
    for (int g = 0; g < words && base + g * steps < below_; ++g) {
#pragma unroll
      for (int x = 0; x < E; ++x) {
        const int e = entry(x), step = base + g * steps;
        unsigned word = ~0u;
#pragma unroll
        for (int t = 0; t < steps; ++t) {
          const bool estimate = e == count_ && step + t < below_, inverse = e == step + t && e < below_;
          const unsigned place = estimate ? RowMeetsView::place_of_estimate : RowMeetsView::place_of_inverse;
          if (estimate || inverse) word = word & ~(255u << 8 * t) | place << 8 * t;
        }
        places_[g * stride + e] = word;
      }
    }
  }

  __device__ Above load(int base, int t) const {
    Above it;
    it.step = t + q_ / lanes_a_k;
    it.m = q_ % lanes_a_k;
    const int step = base + it.step, from = first_ + step % G;
    int entries = 0;
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const std::int32_t k = __shfl_sync(~0u, column_[x], from);
      const unsigned begin = __shfl_sync(~0u, begin_k_[x], from);
      const int its_entries = __shfl_sync(~0u, entries_k_[x], from);
      if (step / G == x) it.k = k, it.begin = begin, entries = its_entries;
    }
    it.entries = step < below_ ? entries : 0;
    if (it.m < it.entries) it.column = it.k + above()[std::int64_t{it.begin} + it.m];
    return it;
  }

  __device__ void look_for(Above it) {
    while (it.m < it.entries) {
      const int e = place_of(it.column);
      if (e >= 0) {
        reinterpret_cast<std::uint8_t*>(places_ + it.step / steps * stride + e)[it.step % steps] =
            static_cast<std::uint8_t>(RowMeetsView::place_of_upper + it.m);
      }
      it.m += lanes_a_k;
      if (it.m < it.entries) it.column = it.k + above()[std::int64_t{it.begin} + it.m];
    }
  }

  /// Of a column in the row, −1 when it has none: halving without branches, since behind the row stand larger columns.
  __device__ int place_of(std::int32_t wanted) const {
    int low = 0;
#pragma unroll
    for (int half = least_power(stride) / 2; half > 0; half /= 2) {
      if (low + half <= stride && columns_[low + half - 1] < wanted) low += half;
    }
    return columns_[low] == wanted ? low : -1;
  }
  __host__ __device__ static constexpr int least_power(int n) { return n <= 1 ? 1 : 2 * least_power((n + 1) / 2); }

  __device__ void write_places(int base) {
    unsigned* to = to_.places + (RowMeetsView::first_word(i_, lower_) + base / steps) * stride;
    for (int g = 0; g < words && base + g * steps < below_; ++g) {
#pragma unroll
      for (int x = 0; x < E; ++x) to[g * stride + entry(x)] = places_[g * stride + entry(x)];
    }
  }

  __device__ const std::int32_t* above() const { return static_cast<const std::int32_t*>(f_.upper_distance); }

  const FactorView<double>& f_;
  const RowMeetsView& to_;
  const std::int64_t last_;
  const int first_, q_;
  std::int32_t* columns_;  // of the row, ascending
  unsigned* places_;       // of up to `words` times four steps
  std::int64_t i_ = 0, lower_ = 0;
  int below_ = 0, count_ = -1;
  std::int32_t column_[E] = {};
  unsigned begin_k_[E] = {};
  int entries_k_[E] = {};
};

template <int G, int E>
__global__ void __launch_bounds__(row_meets_threads, E == 1 ? 12 : 8)
    row_meets_kernel(const __grid_constant__ FactorView<double> f, const std::int32_t* tickets,
                     const __grid_constant__ RowMeetsView to) {
  __shared__ unsigned memory[row_meets_threads / G * RowMeetsLane<G, E>::room];
  RowMeetsLane<G, E> lane(f, to, memory);
  const std::int64_t thread = blockIdx.x * std::int64_t{row_meets_threads} + threadIdx.x;
  lane.find(tickets, thread / G);
}

}  // namespace echelon
