// SPDX-License-Identifier: BSD-3-Clause
// Exact ILU of block CSR on a GPU, a warp a row, the operations of factor/rows/ilu_row.inl in their order. With w the row of
// A, for k ascending over its lower part, once row k is there:
//   L_ik = w_k D_k⁻¹,   w_j ← w_j − L_ik U_kj for j in U(k) ∩ pattern(i);   then D_i⁻¹, U_i = upper part of w,
// and y_i = 1 − Σ L_ik y_k, the lower half of the growth's estimate. Small blocks go through row_factor_blocks.cuh, or,
// where it is kept how rows meet, row_factor_tiles.cuh and row_factor_columns.cuh; here are rows of which row_meets.hpp
// keeps nothing, and blocks of any size. w is in shared memory, in the scratch for rows that are too long. U is written
// before D⁻¹ is computed, L last. Values of small blocks show themselves whether they are there; other rows say so once U
// and D⁻¹ are written. Bytes a row: 8 b² + 4 an entry of A and of the factors, and for each lower entry D_k⁻¹ and row k of
// U, from the second-level cache.
#pragma once

#include "echelon/base/cuda/launch_behind.cuh"
#include "echelon/factor/blocks_gpu/block_inverse.cuh"
#include "echelon/factor/rows_gpu/row_factor_blocks.cuh"

namespace echelon {

constexpr int row_factor_warps = 4;
/// That a processor holds: no fewer, so that registers suffice.
constexpr int row_factor_blocks(int b) { return b >= 5 ? 3 : 4; }

/// A warp's memory: a block and two to judge it by, the swaps of rows, what meets the row, then its values and columns.
struct RowRoom {
  ECHELON_FN static std::int64_t judge_bytes(int b) {
    return 24ll * b * b + (b + 1) / 2 * 8 + (is_small(b) ? pair_bytes : 0);
  }
  /// Blocks that tensor cores multiply.
  ECHELON_FN static bool is_small(int b) { return b > 1 && b <= 8; }
  ECHELON_FN static std::int64_t row_bytes(int b, int entries) { return 8ll * entries * b * b + (entries + 1) / 2 * 8; }
};

template <int B>
class RowFactorWarp {
 public:
  __device__ RowFactorWarp(const RowFactorView& view, unsigned char* shared)
      : v_(view), f_(view.rows), b_(extent<B>(view.rows.A.block)), bb_(b_ * b_), lane_(threadIdx.x % 32) {
    const int warp = threadIdx.x / 32;
    scratch_ = v_.scratch + (std::int64_t{blockIdx.x} * row_factor_warps + warp) * v_.scratch_bytes;
    if constexpr (B > 0) {
      shared += warp * (RowRoom::judge_bytes(B) + RowRoom::row_bytes(B, v_.entries_in_shared));
      room_ = reinterpret_cast<double*>(shared);
      pairs_ = reinterpret_cast<std::uint32_t*>(shared + RowRoom::judge_bytes(B) - pair_bytes);
      shared_row_ = shared + RowRoom::judge_bytes(B);
    } else {
      room_ = reinterpret_cast<double*>(scratch_);
      scratch_ += RowRoom::judge_bytes(b_);
    }
  }

  /// All lanes: asks for the next row, and says which it is.
  __device__ void ask_ticket() {
    if (lane_ == 0) ticket_ = atomicAdd(&v_.status->ticket, 1u);
  }
  __device__ std::int64_t ticket() const { return std::int64_t{__shfl_sync(~0u, ticket_, 0)} + v_.first_ticket; }

  /// False when everything stops. The next row is asked for when this one waits for nothing more.
  __device__ bool factor(std::int64_t ticket) {
    row_.i = v_.tickets ? v_.tickets[ticket] : ticket;
    row_.user = f_.order ? f_.order[row_.i] : row_.i;
    open_row();
    scatter();
    y_ = 1;
    if constexpr (B > 1) {
      BlockElimination<B> elimination(v_, row_, pairs_);
      if (!elimination.run(y_)) return false;
    } else {
      for (int r = lane_; B == 0 && r < b_; r += 32) estimate(row_.user)[r] = 1;
      if (!eliminate()) return false;
    }
    finish();
    return true;
  }

  __device__ void report() const { raise_by_warp(&v_.status->change, change_); }

 private:
  __device__ const std::int32_t* below() const { return static_cast<const std::int32_t*>(f_.lower_distance); }
  __device__ const std::int32_t* above() const { return static_cast<const std::int32_t*>(f_.upper_distance); }
  __device__ std::int64_t upper_place(std::int64_t row) const { return f_.A.block_rows - 1 - row; }

  __device__ void open_row() {
    row_.lower = f_.lower_start[row_.i];
    row_.upper = f_.upper_start[upper_place(row_.i)];
    row_.below = static_cast<int>(f_.lower_start[row_.i + 1] - row_.lower);
    row_.above = static_cast<int>(f_.upper_start[upper_place(row_.i) + 1] - row_.upper);
    row_.count = row_.below + 1 + row_.above;
    begin_ = f_.A.row_start[row_.user];
    entries_ = static_cast<int>(f_.A.row_start[row_.user + 1] - begin_);
    scale_ = v_.known.scale[row_.user];
    nonfinite_ = v_.known.nonfinite[row_.user];
    unsigned char* at = row_.count <= v_.entries_in_shared ? shared_row_ : scratch_;
    row_.w = reinterpret_cast<double*>(at);
    row_.column = reinterpret_cast<std::int32_t*>(row_.w + row_.count * bb_);
    // Asked for before the columns are waited for.
    double first[2] = {0, 0};
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      if (same() && lane_ + 32 * n < entries_ * bb_) first[n] = f_.A.values[begin_ * bb_ + lane_ + 32 * n];
    }
    const auto i = static_cast<std::int32_t>(row_.i);
    for (int n = lane_; n < row_.count; n += 32) {
      row_.column[n] = n < row_.below    ? i - below()[row_.lower + n]
                       : n == row_.below ? i
                                         : i + above()[row_.upper + n - row_.below - 1];
    }
    if (same()) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        if (lane_ + 32 * n < entries_ * bb_) row_.w[lane_ + 32 * n] = first[n];
      }
    } else {
      for (int n = lane_; n < row_.count * bb_; n += 32) row_.w[n] = 0;
    }
    __syncwarp();
  }

  /// The row of A has the factors' pattern.
  __device__ bool same() const { return !f_.grown && !f_.order; }

  /// Where in the row an entry of A belongs.
  __device__ int target(std::int64_t entry) const {
    const std::int32_t column = f_.A.column[entry];
    return row_.find(f_.position ? f_.position[column] : column, 0);
  }

  __device__ void scatter() {
    const double* from = f_.A.values + begin_ * bb_;
    if (same()) {
      for (int n = lane_ + 64; n < entries_ * bb_; n += 32) row_.w[n] = from[n];
    } else if constexpr (B > 1) {
      for (int base = 0; base < entries_; base += most_pairs) {
        const int some = entries_ - base < most_pairs ? entries_ - base : most_pairs;
        for (int n = lane_; n < some; n += 32) pairs_[n] = static_cast<std::uint32_t>(target(begin_ + base + n));
        __syncwarp();
        for (int n = lane_; n < some * bb_; n += 32) row_.w[pairs_[n / bb_] * bb_ + n % bb_] = from[base * bb_ + n];
        __syncwarp();
      }
    } else {
      for (int n = lane_; n < entries_ * bb_; n += 32) row_.w[target(begin_ + n / bb_) * bb_ + n % bb_] = from[n];
    }
    if (nonfinite_ && lane_ == 0) note_nonfinite_row(v_.status, pivot().place);
    __syncwarp();
    if (f_.rules.shift > 0) {
      PivotWorkspace<double> work;
      work.change = change_;
      for (int c = lane_; c < b_; c += 32) {
        double& a = row_.w[row_.below * bb_ + c * b_ + c];
        a = shifted(f_.rules, a, scale_, work);
      }
      change_ = work.change;
      __syncwarp();
    }
  }

  /// The lower part, 32 entries at a time: their rows are looked for together and taken in order.
  __device__ bool eliminate() {
    for (int base = 0; base < row_.below; base += 32) {
      const int chunk = row_.below - base < 32 ? row_.below - base : 32;
      const RowsBefore before(v_, row_, base);
      bool ready = base + lane_ >= row_.below || is_finished(before.k);
      for (int t = 0; t < chunk; ++t) {
        const auto has_come = [&] {
          if (__ballot_sync(~0u, ready) >> t & 1) return true;
          if (!ready) ready = is_finished(before.k);
          return false;
        };
        if (!before.wait(v_, row_.i, t, has_come)) return false;
        const Above of_k{__shfl_sync(~0u, before.k, t), __shfl_sync(~0u, before.user, t), __shfl_sync(~0u, before.begin, t),
                         __shfl_sync(~0u, before.entries, t)};
        if constexpr (B == 1) {
          subtract_row(base + t, of_k);
        } else {
          subtract_row_of_any_size(base + t, of_k);
        }
      }
    }
    return true;
  }

  __device__ bool is_finished(std::int32_t k) const { return load_acquire(v_.finished + k) == v_.epoch; }

  /// Row k of U.
  struct Above {
    std::int32_t k, user;
    std::int64_t begin;
    int entries;
  };
  /// One lane's scalar of a column of it, and where in w it belongs.
  struct Loaded {
    double u = 0;
    int to = -1;
  };

  __device__ Loaded load(int p, const Above& of_k, int n) const {
    Loaded it;
    if (n < of_k.entries) {
      it.u = __ldcg(f_.upper_values + of_k.begin + n);
      it.to = row_.find(of_k.k + above()[of_k.begin + n], p + 1);
    }
    return it;
  }

  __device__ void subtract_row(int p, const Above& of_k) {
    Loaded now = load(p, of_k, lane_);
    const double l = row_.w[p] * __ldcg(f_.inverse_diagonal + of_k.k);
    y_ = fma(-l, __ldcg(v_.estimate + of_k.user), y_);
    for (int n = 0; n < of_k.entries; n += 32) {
      const Loaded next = load(p, of_k, n + 32 + lane_);
      if (now.to >= 0) row_.w[now.to] = fma(-l, now.u, row_.w[now.to]);
      now = next;
    }
    __syncwarp();
    if (lane_ == 0) row_.w[p] = l;
    __syncwarp();
  }

  /// The same with a lane a scalar, everything in memory.
  __device__ void subtract_row_of_any_size(int p, const Above& of_k) {
    double* W = row_.w + p * bb_;
    const double* D = f_.inverse_diagonal + std::int64_t{of_k.k} * bb_;
    for (int n = lane_; n < bb_; n += 32) {
      const int c = n / b_, r = n - c * b_;
      double sum = W[r] * __ldcg(D + c * b_);
      for (int m = 1; m < b_; ++m) sum = fma(W[m * b_ + r], __ldcg(D + c * b_ + m), sum);
      room_[n] = sum;
    }
    __syncwarp();
    for (int n = lane_; n < bb_; n += 32) W[n] = room_[n];
    __syncwarp();
    for (int r = lane_; r < b_; r += 32) {
      double y = estimate(row_.user)[r];
      for (int c = 0; c < b_; ++c) y = fma(-W[c * b_ + r], __ldcg(estimate(of_k.user) + c), y);
      estimate(row_.user)[r] = y;
    }
    for (int q = 0; q < of_k.entries; ++q) {
      const int to = row_.find(of_k.k + above()[of_k.begin + q], p + 1);
      const double* U = f_.upper_values + (of_k.begin + q) * bb_;
      for (int n = lane_; n < bb_ && to >= 0; n += 32) {
        const int c = n / b_, r = n - c * b_;
        double w = row_.w[to * bb_ + n];
        for (int m = 0; m < b_; ++m) w = fma(-W[m * b_ + r], __ldcg(U + c * b_ + m), w);
        row_.w[to * bb_ + n] = w;
      }
    }
    __syncwarp();
  }

  __device__ void finish() {
    ask_ticket();
    const double* from = row_.w + (row_.below + 1) * bb_;
    double* U = f_.upper_values + row_.upper * bb_;
    if constexpr (B > 1) {
      for (int n = lane_; n < row_.above * bb_; n += 32) publish(U + n, from[n]);
      if (lane_ < B) publish(estimate(row_.user) + lane_, y_);
      invert();
    } else {
      for (int n = lane_; n < row_.above * bb_; n += 32) U[n] = from[n];
      if (B == 1 && lane_ == 0) estimate(row_.user)[0] = y_;
      invert();
      __syncwarp();
      if (lane_ == 0) store_release(v_.finished + row_.i, v_.epoch);
    }
    double* L = f_.lower_values + row_.lower * bb_;
    for (int n = lane_; n < row_.below * bb_; n += 32) L[n] = row_.w[n];
    __syncwarp();
  }

  /// D_i⁻¹, or the inverse of what takes its place.
  __device__ void invert() {
    const double* D = row_.w + row_.below * bb_;
    double* to = f_.inverse_diagonal + row_.i * bb_;
    if constexpr (B == 1) {
      double used = D[0];
      if (lane_ == 0 && !pivot_is_good(f_.rules, used, scale_)) {
        const JudgedPivot<double> judged = judge_pivot(v_, pivot(), used);
        used = judged.used;
        note_change(judged.change);
      }
      if (lane_ == 0) to[0] = 1.0 / used;
    } else if constexpr (B > 1) {
      const InvertedBlock<B> inverted(D, lane_);
      if (pivot_is_good(f_.rules, inverted.smallest, scale_) && !f_.rules.positive) {
        inverted.store([&](int at, double x) { publish(to + at, x); });
        return;
      }
      inverted.store([&](int at, double x) { room_[at] = x; });
      for (int n = lane_; n < bb_; n += 32) room_[2 * bb_ + n] = D[n];
      __syncwarp();
      if (lane_ == 0) note_change(judge_block(v_, pivot(), room_, inverted.smallest));
      __syncwarp();
      for (int n = lane_; n < bb_; n += 32) publish(to + n, room_[n]);
    } else {
      for (int n = lane_; n < bb_; n += 32) room_[n] = room_[2 * bb_ + n] = D[n];
      __syncwarp();
      if (lane_ == 0) {
        const double smallest = echelon::invert<0>(b_, room_, reinterpret_cast<int*>(room_ + 3 * bb_));
        if (!pivot_is_good(f_.rules, smallest, scale_) || f_.rules.positive) {
          note_change(judge_block(v_, pivot(), room_, smallest));
        }
      }
      __syncwarp();
      for (int n = lane_; n < bb_; n += 32) to[n] = room_[n];
    }
  }

  __device__ RowPivot pivot() const { return {{row_.i, row_.user * b_}, scale_, nonfinite_ != 0}; }
  __device__ void note_change(double change) { change_ = change > change_ ? change : change_; }
  /// y of a row, by the user's number, as the upper sweep reads it.
  __device__ double* estimate(std::int64_t user) const { return v_.estimate + user * b_; }

  const RowFactorView& v_;
  const FactorView<double>& f_;
  const int b_, bb_, lane_;
  unsigned char *scratch_, *shared_row_ = nullptr;
  double* room_;
  std::uint32_t* pairs_ = nullptr;
  RowInHand row_;
  unsigned ticket_ = 0;
  std::int64_t begin_ = 0;  // of the row of A
  int entries_ = 0;
  double scale_ = 0, change_ = 0, y_ = 1;
  std::uint8_t nonfinite_ = 0;
};

template <int B>
__global__ void __launch_bounds__(row_factor_warps * 32, row_factor_blocks(B))
    row_factor_kernel(const __grid_constant__ RowFactorView v) {
  extern __shared__ __align__(16) unsigned char memory[];
  device::wait_for_previous();
  RowFactorWarp<B> warp(v, memory);
  warp.ask_ticket();
  for (std::int64_t ticket = warp.ticket(); ticket < v.rows.A.block_rows; ticket = warp.ticket()) {
    if (!warp.factor(ticket)) break;
  }
  warp.report();
}

}  // namespace echelon
