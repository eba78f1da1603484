// SPDX-License-Identifier: BSD-3-Clause
// Exact ILU of block CSR on a GPU, a warp a row, the operations of factor/ilu_row.inl in their order. With w the row of A,
// for k ascending over its lower part, once row k has said that it is there:
//   L_ik = w_k D_k⁻¹,   w_j ← w_j − L_ik U_kj for j in U(k) ∩ pattern(i);   then D_i⁻¹, U_i = upper part of w.
// A lane has row r of every (32/b)-th column of U(k)'s blocks, and row r of L_ik; w is in shared memory, in the scratch for
// rows that are too long. U and D⁻¹ are written before the row says so, L after. Bytes a row: 8 b² + 4 an entry of A and of
// the factors, and for each lower entry D_k⁻¹ and row k of U, from the second-level cache.
#pragma once

#include "echelon/factor/row_factor_view.hpp"
#include "echelon/factor/wavefront_factor_block.cuh"

namespace echelon {

constexpr int row_factor_warps = 4;

/// A warp's memory: a block and two to judge it by, the swaps of rows, then the row's values and columns.
struct RowRoom {
  ECHELON_FN static std::int64_t judge_bytes(int b) { return 24ll * b * b + (b + 1) / 2 * 8; }
  ECHELON_FN static std::int64_t row_bytes(int b, int entries) { return 8ll * entries * b * b + (entries + 1) / 2 * 8; }
};

/// Whose pivot is judged.
struct RowPivot {
  PivotPlace place;
  double scale;
  bool nonfinite;  // the row of A holds NaN or Inf
};

/// Cold, as all that follows up to the row: notes it. By value: an address would keep a warp's whole state in memory.
static __device__ __noinline__ void note_nonfinite_row(FactorStatus* status, PivotPlace place) {
  DevicePivotLog log{status};
  repair::note_nonfinite_row(log, place);
}

/// What is used instead of a bad scalar.
static __device__ __noinline__ JudgedPivot<double> judge_pivot(const RowFactorView& v, RowPivot about, double pivot) {
  PivotWorkspace<double> work;
  work.row_nonfinite = about.nonfinite;
  DevicePivotLog log{v.status};
  const double used = repair::pivot(v.rows.rules, log, about.place, pivot, about.scale, work);
  return {used, work.change};
}

/// One lane judges a block that may be bad: the room holds its inverse, a block to try, itself, and the swaps. Returns the
/// change of the diagonal.
static __device__ __noinline__ double judge_block(const RowFactorView& v, RowPivot about, double* room, double smallest) {
  const int b = v.rows.A.block;
  PivotWorkspace<double> work;
  work.small = room + b * b;
  work.swaps = reinterpret_cast<int*>(room + 3 * b * b);
  work.row_nonfinite = about.nonfinite;
  DevicePivotLog log{v.status};
  repair::block_pivot(v.rows.rules, log, about.place, b, room, smallest, about.scale, work);
  return work.change;
}

template <int B>
class RowFactorWarp {
 public:
  static constexpr int fixed_b = B > 0 ? B : 1;
  static constexpr int columns = 32 / fixed_b;  // at a time
  static constexpr int rounds = (fixed_b + columns - 1) / columns;

  __device__ RowFactorWarp(const RowFactorView& view, unsigned char* shared)
      : v_(view),
        f_(view.rows),
        b_(extent<B>(view.rows.A.block)),
        bb_(b_ * b_),
        lane_(threadIdx.x % 32),
        g_(lane_ / fixed_b),
        r_(lane_ % fixed_b) {
    const int warp = threadIdx.x / 32;
    scratch_ = v_.scratch + (std::int64_t{blockIdx.x} * row_factor_warps + warp) * v_.scratch_bytes;
    if constexpr (B > 0) {
      shared += warp * (RowRoom::judge_bytes(B) + RowRoom::row_bytes(B, v_.entries_in_shared));
      room_ = reinterpret_cast<double*>(shared);
      shared_row_ = shared + RowRoom::judge_bytes(B);
    } else {
      room_ = reinterpret_cast<double*>(scratch_);
      scratch_ += RowRoom::judge_bytes(b_);
    }
  }

  /// False when everything stops.
  __device__ bool factor(std::int64_t row) {
    i_ = row;
    user_ = f_.order ? f_.order[row] : row;
    open_row();
    scatter();
    if (!eliminate()) return false;
    finish();
    return true;
  }

  __device__ void report() const { raise_by_warp(&v_.status->change, change_); }

 private:
  __device__ const std::int32_t* below() const { return static_cast<const std::int32_t*>(f_.lower_distance); }
  __device__ const std::int32_t* above() const { return static_cast<const std::int32_t*>(f_.upper_distance); }
  __device__ std::int64_t upper_place(std::int64_t row) const { return f_.A.block_rows - 1 - row; }

  __device__ void open_row() {
    lower_ = f_.lower_start[i_];
    upper_ = f_.upper_start[upper_place(i_)];
    below_count_ = static_cast<int>(f_.lower_start[i_ + 1] - lower_);
    above_count_ = static_cast<int>(f_.upper_start[upper_place(i_) + 1] - upper_);
    count_ = below_count_ + 1 + above_count_;
    unsigned char* at = count_ <= v_.entries_in_shared ? shared_row_ : scratch_;
    w_ = reinterpret_cast<double*>(at);
    column_ = reinterpret_cast<std::int32_t*>(w_ + count_ * bb_);
    const auto i = static_cast<std::int32_t>(i_);
    for (int n = lane_; n < count_; n += 32) {
      column_[n] = n < below_count_    ? i - below()[lower_ + n]
                   : n == below_count_ ? i
                                       : i + above()[upper_ + n - below_count_ - 1];
    }
    const bool same = !f_.grown && !f_.order;
    for (int n = lane_; n < count_ * bb_ && !same; n += 32) w_[n] = 0;
    __syncwarp();
  }

  /// The entry of a column, among those from `least` on; −1 when the row has none.
  __device__ int find(std::int32_t column, int least) const {
    int low = least, high = count_;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (column_[middle] < column) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < count_ && column_[low] == column ? low : -1;
  }

  __device__ void scatter() {
    const std::int64_t begin = f_.A.row_start[user_];
    const int scalars = static_cast<int>(f_.A.row_start[user_ + 1] - begin) * bb_;
    const bool same = !f_.grown && !f_.order;
    for (int n = lane_; n < scalars; n += 32) {
      const int entry = n / bb_;
      const std::int32_t column = f_.A.column[begin + entry];
      const int to = same ? entry : find(f_.position ? f_.position[column] : column, 0);
      w_[to * bb_ + n - entry * bb_] = f_.A.values[begin * bb_ + n];
    }
    scale_ = v_.known.scale[user_];
    nonfinite_ = v_.known.nonfinite[user_] != 0;
    if (nonfinite_ && lane_ == 0) note_nonfinite_row(v_.status, pivot().place);
    __syncwarp();
    if (f_.rules.shift > 0) {
      PivotWorkspace<double> work;
      work.change = change_;
      for (int c = lane_; c < b_; c += 32) {
        double& a = w_[below_count_ * bb_ + c * b_ + c];
        a = shifted(f_.rules, a, scale_, work);
      }
      change_ = work.change;
      __syncwarp();
    }
  }

  /// The lower part, 32 entries at a time: their rows are looked for together and taken in order.
  __device__ bool eliminate() {
    for (int base = 0; base < below_count_; base += 32) {
      const int chunk = below_count_ - base < 32 ? below_count_ - base : 32;
      bool ready = lane_ >= chunk;
      std::int32_t k = 0;
      std::int64_t begin = 0;
      int entries = 0;
      if (!ready) {
        k = column_[base + lane_];
        ready = load_acquire(v_.finished + k) == v_.epoch;
        begin = f_.upper_start[upper_place(k)];
        entries = static_cast<int>(f_.upper_start[upper_place(k) + 1] - begin);
      }
      for (int t = 0; t < chunk; ++t) {
        if (!wait(ready, k, t)) return false;
        const Above of_k{__shfl_sync(~0u, k, t), __shfl_sync(~0u, begin, t), __shfl_sync(~0u, entries, t)};
        if constexpr (B > 0) {
          subtract_row(base + t, of_k);
        } else {
          subtract_row_of_any_size(base + t, of_k);
        }
      }
    }
    return true;
  }

  /// All lanes: until lane t's row k is there.
  __device__ bool wait(bool& ready, std::int32_t k, int t) const {
    unsigned long long begun = 0;
    for (unsigned looks = 1; (__ballot_sync(~0u, ready) >> t & 1) == 0; ++looks) {
      if (!ready && load_relaxed(v_.finished + k) == v_.epoch) {
        // An acquire empties the first-level cache: once, not at every look.
        ready = load_acquire(v_.finished + k) == v_.epoch;
      }
      if (looks % spins_between_looks != 0) continue;
      if (begun == 0) begun = device::nanoseconds();
      const bool late = device::nanoseconds() - begun > static_cast<unsigned long long>(v_.patience);
      if (late && lane_ == t && atomicCAS(&v_.status->stuck_tile, 0, static_cast<int>(i_) + 1) == 0) {
        v_.status->stuck_level = k;
      }
      const bool stopped = late || *static_cast<volatile int*>(&v_.status->stuck_tile) != 0;
      if (__any_sync(~0u, stopped)) return false;
    }
    __syncwarp();
    return true;
  }

  /// Row k of U.
  struct Above {
    std::int32_t k;
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
    if (g_ < columns && n < of_k.entries * B) {
      const int entry = n / B;
      it.u = __ldcg(f_.upper_values + of_k.begin * bb_ + n * B + r_);
      const int found = find(of_k.k + above()[of_k.begin + entry], p + 1);
      it.to = found < 0 ? -1 : found * bb_ + (n - entry * B) * B + r_;
    }
    return it;
  }

  __device__ void subtract_row(int p, const Above& of_k) {
    Loaded now = load(p, of_k, g_);
    double l[fixed_b];
    scale_lower(p, of_k.k, l);
    for (int n = 0; n < of_k.entries * B; n += columns) {
      const Loaded next = load(p, of_k, n + columns + g_);
      double w = now.to < 0 ? 0 : w_[now.to];
#pragma unroll
      for (int c = 0; c < fixed_b; ++c) w = fma(-l[c], __shfl_sync(~0u, now.u, g_ * fixed_b + c), w);
      if (now.to >= 0) w_[now.to] = w;
      now = next;
    }
    __syncwarp();
  }

  /// w_p ← w_p D_k⁻¹; `l` gets the lane's row of it.
  __device__ void scale_lower(int p, std::int32_t k, double (&l)[fixed_b]) {
    double* W = w_ + p * bb_;
    double own[fixed_b], result[rounds];
#pragma unroll
    for (int c = 0; c < fixed_b; ++c) own[c] = W[c * fixed_b + r_];
#pragma unroll
    for (int n = 0; n < rounds; ++n) {
      const int c = n * columns + g_;
      const bool has = g_ < columns && c < fixed_b;
      const double d = has ? __ldcg(f_.inverse_diagonal + std::int64_t{k} * bb_ + c * fixed_b + r_) : 0;
      result[n] = own[0] * __shfl_sync(~0u, d, g_ * fixed_b);
#pragma unroll
      for (int m = 1; m < fixed_b; ++m) result[n] = fma(own[m], __shfl_sync(~0u, d, g_ * fixed_b + m), result[n]);
    }
    __syncwarp();
#pragma unroll
    for (int n = 0; n < rounds; ++n) {
      const int c = n * columns + g_;
      if (g_ < columns && c < fixed_b) W[c * fixed_b + r_] = result[n];
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c < fixed_b; ++c) l[c] = W[c * fixed_b + r_];
  }

  /// The same with a lane a scalar, everything in memory.
  __device__ void subtract_row_of_any_size(int p, const Above& of_k) {
    double* W = w_ + p * bb_;
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
    for (int q = 0; q < of_k.entries; ++q) {
      const int to = find(of_k.k + above()[of_k.begin + q], p + 1);
      const double* U = f_.upper_values + (of_k.begin + q) * bb_;
      for (int n = lane_; n < bb_ && to >= 0; n += 32) {
        const int c = n / b_, r = n - c * b_;
        double w = w_[to * bb_ + n];
        for (int m = 0; m < b_; ++m) w = fma(-W[m * b_ + r], __ldcg(U + c * b_ + m), w);
        w_[to * bb_ + n] = w;
      }
    }
    __syncwarp();
  }

  __device__ void finish() {
    invert();
    const double* from = w_ + (below_count_ + 1) * bb_;
    double* U = f_.upper_values + upper_ * bb_;
    for (int n = lane_; n < above_count_ * bb_; n += 32) U[n] = from[n];
    __syncwarp();
    if (lane_ == 0) store_release(v_.finished + i_, v_.epoch);
    double* L = f_.lower_values + lower_ * bb_;
    for (int n = lane_; n < below_count_ * bb_; n += 32) L[n] = w_[n];
    __syncwarp();
  }

  /// D_i⁻¹, or the inverse of what takes its place.
  __device__ void invert() {
    const double* D = w_ + below_count_ * bb_;
    double* to = f_.inverse_diagonal + i_ * bb_;
    if constexpr (B == 1) {
      double used = D[0];
      if (lane_ == 0 && !pivot_is_good(f_.rules, used, scale_)) {
        const JudgedPivot<double> judged = judge_pivot(v_, pivot(), used);
        used = judged.used;
        note_change(judged.change);
      }
      if (lane_ == 0) to[0] = 1.0 / used;
    } else if constexpr (B > 1) {
      double a[fixed_b];
#pragma unroll
      for (int c = 0; c < fixed_b; ++c) a[c] = D[c * fixed_b + r_];
      const double smallest = invert_rows<fixed_b>(a, r_, g_ < columns ? g_ * fixed_b : 0);
      // Lanes beyond the last group have another's block, so the warp agrees only by asking.
      if (__shfl_sync(~0u, !pivot_is_good(f_.rules, smallest, scale_) || f_.rules.positive, 0)) {
        if (g_ == 0) {
#pragma unroll
          for (int c = 0; c < fixed_b; ++c)
            room_[c * fixed_b + r_] = a[c], room_[2 * bb_ + c * fixed_b + r_] = D[c * fixed_b + r_];
        }
        __syncwarp();
        if (lane_ == 0) note_change(judge_block(v_, pivot(), room_, smallest));
        __syncwarp();
#pragma unroll
        for (int c = 0; c < fixed_b; ++c) a[c] = room_[c * fixed_b + r_];
      }
      if (g_ == 0) {
#pragma unroll
        for (int c = 0; c < fixed_b; ++c) to[c * fixed_b + r_] = a[c];
      }
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

  __device__ RowPivot pivot() const { return {{i_, user_ * b_}, scale_, nonfinite_}; }
  __device__ void note_change(double change) { change_ = change > change_ ? change : change_; }

  const RowFactorView& v_;
  const FactorView<double>& f_;
  const int b_, bb_, lane_, g_, r_;
  unsigned char *scratch_, *shared_row_ = nullptr;
  double *room_, *w_ = nullptr;
  std::int32_t* column_ = nullptr;
  std::int64_t i_ = 0, user_ = 0, lower_ = 0, upper_ = 0;
  int below_count_ = 0, above_count_ = 0, count_ = 0;
  double scale_ = 0, change_ = 0;
  bool nonfinite_ = false;
};

template <int B>
__global__ void __launch_bounds__(row_factor_warps * 32) row_factor_kernel(const __grid_constant__ RowFactorView v) {
  extern __shared__ __align__(16) unsigned char memory[];
  RowFactorWarp<B> warp(v, memory);
  for (;;) {
    unsigned ticket = 0;
    if (threadIdx.x % 32 == 0) ticket = atomicAdd(&v.status->ticket, 1u);
    ticket = __shfl_sync(~0u, ticket, 0) + v.first_ticket;
    if (ticket >= v.rows.A.block_rows) break;
    if (!warp.factor(v.tickets ? v.tickets[ticket] : ticket)) break;
  }
  warp.report();
}

}  // namespace echelon
