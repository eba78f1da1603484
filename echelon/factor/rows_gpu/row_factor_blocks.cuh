// SPDX-License-Identifier: BSD-3-Clause
// The elimination of one row of small blocks by a warp: blocks in the form that mma.m8n8k4 has, padded with products −0·0
// that change no bit. Which blocks of U(k) meet the row is found out for several k before any of them is waited for; then
// for each k: L_ik = w_k D_k⁻¹, w_j ← w_j − L_ik U_kj and y ← y − L_ik y_k, the values of the next k asked for before this
// one's are waited for. Operations and their order are those of factor/rows/ilu_row.inl and sweep/rows/row.inl; the values
// themselves say whether they are there (row_factor_published.cuh).
#pragma once

#include "echelon/factor/blocks_gpu/tensor_step.cuh"
#include "echelon/factor/rows_gpu/row_factor_judge.cuh"
#include "echelon/factor/rows_gpu/row_factor_published.cuh"

namespace echelon {

/// Blocks of U(k) that meet the row, found at a time; 32 at least. Behind them 32 counts.
constexpr int most_pairs = 256;
constexpr int pair_bytes = (most_pairs + 32) * 4;

template <int B>
class BlockElimination {
 public:
  static constexpr int halves = B > 4 ? 2 : 1;
  static constexpr int together = halves == 2 ? 6 : 8;  // blocks of U that are asked for at once

  __device__ BlockElimination(const RowFactorView& view, const RowInHand& row, std::uint32_t* pairs)
      : v_(view),
        f_(view.rows),
        row_(row),
        pairs_(pairs),
        lane_(threadIdx.x % 32),
        g_(lane_ / 4),
        q_(lane_ % 4),
        counts_(reinterpret_cast<int*>(pairs + most_pairs)) {}

  /// False when everything stops. Lane r has y_r.
  __device__ bool run(double& y) {
    y_ = 1;
    for (int base = 0; base < row_.below; base += 32) {
      if (!eliminate(base)) return false;
    }
    y = y_;
    return true;
  }

 private:
  /// What is under way of a row k.
  struct Flight {
    double d[halves], u[together][halves], y;
  };

  __device__ bool eliminate(int base) {
    const int chunk = row_.below - base < 32 ? row_.below - base : 32;
    const RowsBefore before(v_, row_, base);
    // Entries of the U(k) one after the other: lane t has the end of its own.
    int ends = before.entries;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(~0u, ends, step);
      if (lane_ >= step) ends += other;
    }
    const int total = __shfl_sync(~0u, ends, 31);
    for (int first = 0, done = 0; first < chunk;) {
      const int begun = first;
      done = find_pairs(before, base, ends, done);
      const int last = done < total ? holder(ends, done) : chunk - 1;
      if (!subtract(before, base, {begun, last + 1})) return false;
      first = done < total ? last : chunk;
    }
    return true;
  }

  /// The t whose U(k) has entry n of all. All lanes, each with its own n.
  __device__ static int holder(int ends, int n) {
    int low = 0;
#pragma unroll
    for (int size = 16; size > 0; size /= 2) {
      if (__shfl_sync(~0u, ends, low + size - 1) <= n) low += size;
    }
    return low;
  }

  /// From entry `done` of all on, as many as there is room for; returns the next one.
  __device__ int find_pairs(const RowsBefore& before, int base, int ends, int done) {
    const int total = __shfl_sync(~0u, ends, 31);
    int used = 0;
    begin_ = end_ = 0;
    counts_[lane_] = 0;
    __syncwarp();
    for (; done < total && used + 32 <= most_pairs; done += 32) {
      const int n = done + lane_, t = holder(ends, n) & 31;
      const std::int32_t k = __shfl_sync(~0u, before.k, t);
      const std::int64_t begin = __shfl_sync(~0u, before.begin, t);
      const int entry = n - (__shfl_sync(~0u, ends, t) - __shfl_sync(~0u, before.entries, t));
      int to = -1;
      if (n < total) {
        const std::int32_t distance = static_cast<const std::int32_t*>(f_.upper_distance)[begin + entry];
        to = row_.find(k + distance, base + t + 1);
      }
      const unsigned found = __ballot_sync(~0u, to >= 0);
      const int place = used + __popc(found & ((1u << lane_) - 1));
      if (to >= 0) {
        pairs_[place] = static_cast<std::uint32_t>(entry) << 16 | static_cast<std::uint32_t>(to);
        atomicAdd(counts_ + t, 1);
      }
      used += __popc(found);
    }
    __syncwarp();
    end_ = counts_[lane_];
    const int own = end_;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(~0u, end_, step);
      if (lane_ >= step) end_ += other;
    }
    begin_ = end_ - own;
    return done < total ? done : total;
  }

  struct Range {
    int first, end;
  };

  __device__ bool subtract(const RowsBefore& before, int base, Range range) {
    Flight next;
    ask<false>(before, range.first, next);
    for (int t = range.first; t < range.end; ++t) {
      Flight now = next;
      if (t + 1 < range.end) ask<false>(before, t + 1, next);
      const auto has_come = [&] {
        if (!__any_sync(~0u, lacks(now))) return true;
        ask<true>(before, t, now);
        return false;
      };
      if (!before.wait(v_, row_.i, t, has_come)) return false;
      subtract_row(before, base, t, now, base + t < scaled_);
      scaled_ = base + t + 1;
    }
    return true;
  }

  __device__ const double* block_of(std::int64_t begin, std::uint32_t pair) const {
    return f_.upper_values + (begin + (pair >> 16)) * (B * B);
  }

  /// The first time, or `again` for what was not there.
  template <bool again>
  __device__ void ask(const RowsBefore& before, int t, Flight& to) const {
    const std::int64_t k = __shfl_sync(~0u, before.k, t), user = __shfl_sync(~0u, before.user, t);
    const std::int64_t begin = __shfl_sync(~0u, before.begin, t);
    const int from = __shfl_sync(~0u, begin_, t), end = __shfl_sync(~0u, end_, t);
    fetch_second<again>(f_.inverse_diagonal + k * (B * B), true, to.d);
#pragma unroll
    for (int n = 0; n < together; ++n) {
      const bool has = from + n < end;
      fetch_second<again>(block_of(begin, has ? pairs_[from + n] : 0), has, to.u[n]);
    }
    if (!again) to.y = 0;
    fetch(again ? is_absent(to.y) : lane_ < B, v_.estimate + user * B + lane_, to.y);
  }

  __device__ static bool lacks(const Flight& of) {
    bool lacking = is_absent(of.y) || is_absent<halves>(of.d);
#pragma unroll
    for (int n = 0; n < together; ++n) lacking = lacking || is_absent<halves>(of.u[n]);
    return lacking;
  }

  /// A block as the second factor: rows 4h + q, column g; zero in lanes beyond it, and when it is not wanted.
  template <bool again>
  __device__ void fetch_second(const double* block, bool wanted, double (&to)[halves]) const {
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      const int m = 4 * h + q_;
      if (!again) to[h] = 0;
      fetch(again ? is_absent(to[h]) : wanted && m < B && g_ < B, block + g_ * B + m, to[h]);
    }
  }

  /// A block of w as the first factor: row g, columns 4h + q.
  template <bool negated>
  __device__ void load_first(const double* block, double (&to)[halves]) const {
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      const int m = 4 * h + q_;
      to[h] = -0.0;
      if (m < B && g_ < B) to[h] = negated ? -block[m * B + g_] : block[m * B + g_];
    }
  }

  __device__ void subtract_row(const RowsBefore& before, int base, int t, const Flight& now, bool resumed) {
    double* W = row_.w + (base + t) * (B * B);
    double l[halves];
    if (!resumed) scale(W, now);
    load_first<true>(W, l);
    if (!resumed) estimate(W, now.y);
    const std::int64_t begin = __shfl_sync(~0u, before.begin, t);
    const int from = __shfl_sync(~0u, begin_, t), end = __shfl_sync(~0u, end_, t);
#pragma unroll
    for (int n = 0; n < together; ++n) {
      if (from + n < end) subtract_block(pairs_[from + n], l, now.u[n]);
    }
    for (int first = from + together; first < end; first += together) {
      double u[together][halves];
      fetch_more<false>(begin, first, end, u);
      // Their row published them with the others: they are on their way.
      for (;;) {
        bool lacking = false;
#pragma unroll
        for (int n = 0; n < together; ++n) lacking = lacking || is_absent<halves>(u[n]);
        if (!__any_sync(~0u, lacking)) break;
        fetch_more<true>(begin, first, end, u);
      }
#pragma unroll
      for (int n = 0; n < together; ++n) {
        if (first + n < end) subtract_block(pairs_[first + n], l, u[n]);
      }
    }
    __syncwarp();
  }

  template <bool again>
  __device__ void fetch_more(std::int64_t begin, int first, int end, double (&u)[together][halves]) const {
#pragma unroll
    for (int n = 0; n < together; ++n) {
      const bool has = first + n < end;
      fetch_second<again>(block_of(begin, has ? pairs_[first + n] : 0), has, u[n]);
    }
  }

  /// W ← W D_k⁻¹
  __device__ void scale(double* W, const Flight& now) const {
    double w[halves], result[2] = {-0.0, -0.0};
    load_first<false>(W, w);
#pragma unroll
    for (int h = 0; h < halves; ++h) multiply(w[h], now.d[h], result);
    __syncwarp();
    store(W, result);
    __syncwarp();
  }

  __device__ void subtract_block(std::uint32_t pair, const double (&l)[halves], const double (&u)[halves]) const {
    double* to = row_.w + (pair & 0xffff) * (B * B);
    double w[2] = {0, 0};
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      if (g_ < B && 2 * q_ + c < B) w[c] = to[(2 * q_ + c) * B + g_];
    }
#pragma unroll
    for (int h = 0; h < halves; ++h) multiply(l[h], u[h], w);
    store(to, w);
  }

  __device__ void store(double* to, const double (&w)[2]) const {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      if (g_ < B && 2 * q_ + c < B) to[(2 * q_ + c) * B + g_] = w[c];
    }
  }

  __device__ void estimate(const double* L, double y_k) {
#pragma unroll
    for (int c = 0; c < B; ++c) {
      const double y = __shfl_sync(~0u, y_k, c);
      if (lane_ < B) y_ = fma(-L[c * B + lane_], y, y_);
    }
  }

  const RowFactorView& v_;
  const FactorView<double>& f_;
  const RowInHand& row_;
  std::uint32_t* pairs_;
  const int lane_, g_, q_;
  int* counts_;              // 32
  int begin_ = 0, end_ = 0;  // the pairs of the lane's row k
  int scaled_ = 0;           // entries of L that are there
  double y_ = 1;
};

}  // namespace echelon
