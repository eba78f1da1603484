// SPDX-License-Identifier: BSD-3-Clause
// Exact ILU of scalar CSR on a GPU for rows that fit into a warp: G lanes a row, a lane an entry, the operations of
// factor/ilu_row.inl in their order. With w the row of A, for k ascending over its lower part:
//   L_ik = w_k D_k⁻¹,   w_j ← w_j − L_ik U_kj for j in U(k) ∩ pattern(i);   then D_i⁻¹, U_i = upper part of w.
// One lane more has y_i = 1 − Σ L_ik y_k, the lower half of the growth's estimate. U, D⁻¹ and y go from row to row as words
// of value and tag, so nothing is fenced: lanes find out where their U_kj are (structure alone), ask for those of C rows at
// once and take what has come. Rows of a warp advance side by side, so one may wait for another.
// Bytes a row: 12 an entry of A, 12 an entry of the factors, 16 an entry of U once more, and the U_kj from the second level.
#pragma once

#include "echelon/base/cuda_async.cuh"
#include "echelon/factor/row_factor_judge.cuh"

namespace echelon {

constexpr int scalar_row_threads = 128;
/// Blocks of threads that a processor holds: registers for 20 and 16 warps. With fewer, what they
/// cannot hold goes to memory, whose first-level cache every acquire empties.
constexpr int scalar_row_blocks(int entries_at_once) { return entries_at_once <= 4 ? 5 : 4; }

template <int G, int C>
class ScalarRowLane {
 public:
  static constexpr int rows_a_warp = 32 / G;

  /// `found` has C·32 bytes for each warp.
  __device__ ScalarRowLane(const RowFactorView& view, unsigned char* found)
      : v_(view),
        f_(view.rows),
        last_(view.rows.A.block_rows - 1),
        first_(threadIdx.x % 32 / G * G),
        e_(threadIdx.x % G),
        found_(found + threadIdx.x / 32 * (C * 32) + threadIdx.x % 32) {}

  __device__ bool is_open() const { return open_; }
  __device__ int group() const { return first_ / G; }

  /// All lanes, those beyond the last row too.
  __device__ void take(std::int64_t ticket) {
    open_ = ticket <= last_;
    below_ = count_ = base_ = 0;
    int entries_of_A = 0;
    std::int64_t begin_of_A = 0;
    kind_ = nothing;
    w_ = 0;
    if (open_) {
      i_ = v_.tickets ? v_.tickets[ticket] : static_cast<std::int32_t>(ticket);
      user_ = f_.order ? f_.order[i_] : i_;
      lower_ = f_.lower_start[i_];
      upper_ = f_.upper_start[last_ - i_];
      below_ = static_cast<int>(f_.lower_start[i_ + 1] - lower_);
      count_ = below_ + 1 + static_cast<int>(f_.upper_start[last_ - i_ + 1] - upper_);
      begin_of_A = f_.A.row_start[user_];
      entries_of_A = static_cast<int>(f_.A.row_start[user_ + 1] - begin_of_A);
      kind_ = e_ < below_ ? lower : e_ == below_ ? diagonal : e_ < count_ ? upper : e_ == count_ ? estimate : nothing;
    }
    if (kind_ == diagonal) {
      scale_ = v_.known.scale[user_];
      nonfinite_ = v_.known.nonfinite[user_] != 0;
    }
    column_ = i_;
    if (kind_ == lower) column_ = i_ - static_cast<const std::int32_t*>(f_.lower_distance)[lower_ + e_];
    if (kind_ == upper) column_ = i_ + above()[upper_ + e_ - below_ - 1];
    if (kind_ == lower) {
      begin_k_ = f_.upper_start[last_ - column_];
      entries_k_ = static_cast<int>(f_.upper_start[last_ - column_ + 1] - begin_k_);
    }
    load_row(begin_of_A, entries_of_A);
    look_up();
    if (kind_ == estimate) w_ = 1;
    if (kind_ == diagonal) open_scalar_diagonal(v_, pivot(), w_, change_);
  }

  /// Asks once for what is missing. All lanes; true when one of the warp's rows has gone on.
  __device__ bool advance() {
    ask();
    const unsigned of_group = G == 32 ? ~0u : ((1u << G) - 1) << first_;
    const unsigned incomplete = __ballot_sync(~0u, missing_ != 0) & of_group;
    const bool whole = open_ && incomplete == 0;
    if (!__any_sync(~0u, whole)) return false;
    eliminate(whole);
    if (whole) base_ += C;
    if (whole && base_ >= below_) finish();
    if (__any_sync(~0u, whole && open_)) look_up(whole);
    return true;
  }

  /// A row whose D⁻¹ this lane misses; −1 without one.
  __device__ std::int32_t waits_for() const {
    std::int32_t found = -1;
#pragma unroll
    for (int t = 0; t < C; ++t) {
      if ((missing_ >> t & 1) && where_[t] <= last_) found = static_cast<std::int32_t>(where_[t]);
    }
    return found;
  }
  __device__ std::int32_t row() const { return i_; }
  __device__ void report() const { raise_by_warp(&v_.status->change, change_); }

 private:
  enum Kind { lower, diagonal, upper, estimate, nothing };
  static constexpr unsigned char no_entry = 255;

  __device__ const std::int32_t* above() const { return static_cast<const std::int32_t*>(f_.upper_distance); }
  __device__ device::TaggedWord* word(std::int64_t at) const { return reinterpret_cast<device::TaggedWord*>(v_.words) + at; }

  /// The row of A: as it stands when its pattern is the factors', otherwise by the columns' new numbers.
  __device__ void load_row(std::int64_t begin, int entries) {
    const bool same = !f_.grown && !f_.order;
    if (same) {
      if (e_ < entries) w_ = f_.A.values[begin + e_];
      return;
    }
    std::int32_t from = -1;
    double a = 0;
    if (e_ < entries) {
      from = f_.A.column[begin + e_];
      a = f_.A.values[begin + e_];
      if (f_.position) from = f_.position[from];
    }
    for (int n = 0; __any_sync(~0u, n < entries); ++n) {
      const std::int32_t its_column = __shfl_sync(~0u, from, first_ + n);
      const double its_value = __shfl_sync(~0u, a, first_ + n);
      if (n < entries && its_column == column_ && kind_ <= upper) w_ = its_value;
    }
  }

  /// Where the words of the next C rows k are that this lane needs. All lanes; only rows that `go_on` change. The entries of
  /// all U(k) are dealt out to the lanes; who has one finds its column among the row's and tells that lane through shared
  /// memory.
  __device__ void look_up(bool go_on = true) {
    int ends[C];  // of the entries of the U(k), one after the other
    __syncwarp();
#pragma unroll
    for (int t = 0; t < C; ++t) {
      const int entries = __shfl_sync(~0u, entries_k_, (first_ + base_ + t) % 32);
      ends[t] = (t > 0 ? ends[t - 1] : 0) + (go_on && open_ && base_ + t < below_ ? entries : 0);
      found_[t * 32] = no_entry;
    }
    __syncwarp();
    for (int n = e_; __any_sync(~0u, n - e_ < ends[C - 1]); n += G) {
      int t = 0, start = 0;
#pragma unroll
      for (int before = 0; before + 1 < C; ++before) {
        if (n >= ends[before]) t = before + 1, start = ends[before];
      }
      const int from = (first_ + base_ + t) % 32;
      const std::int32_t k = __shfl_sync(~0u, column_, from);
      const std::int64_t begin = __shfl_sync(~0u, begin_k_, from);
      std::int32_t wanted = -1;
      if (n < ends[C - 1]) wanted = k + above()[begin + n - start];
      const int place = find(wanted);
      if (place >= 0) found_[t * 32 + place - e_] = static_cast<unsigned char>(n - start);
    }
    __syncwarp();
    unsigned needed = 0;
#pragma unroll
    for (int t = 0; t < C; ++t) {
      const int at = base_ + t, from = (first_ + at) % 32;
      const std::int32_t k = __shfl_sync(~0u, column_, from);
      const std::int64_t begin = __shfl_sync(~0u, begin_k_, from);
      const unsigned char entry = found_[t * 32];
      if (!go_on || !open_ || at >= below_) continue;
      const bool has = kind_ <= upper && e_ > at && entry != no_entry;
      if (has) where_[t] = static_cast<unsigned>(v_.first_upper + begin + entry);
      if (e_ == at) where_[t] = static_cast<unsigned>(k);
      if (kind_ == estimate) where_[t] = static_cast<unsigned>(v_.first_estimate + k);
      if (has || e_ == at || kind_ == estimate) needed |= 1u << t;
    }
    if (go_on) needed_ = missing_ = needed;
  }

  /// The lane of the row that has this column, counted from the row's first; −1 without one. All lanes.
  __device__ int find(std::int32_t wanted) const {
    int low = 0, high = count_;
#pragma unroll
    for (int size = G; size > 1; size /= 2) {
      const int middle = (low + high) / 2;
      const std::int32_t there = __shfl_sync(~0u, column_, (first_ + middle) % 32);
      if (low >= high) continue;
      if (there < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const std::int32_t there = __shfl_sync(~0u, column_, (first_ + low) % 32);
    return wanted >= 0 && low < count_ && there == wanted ? low : -1;
  }

  __device__ void ask() {
    unsigned __int128 came[C];
#pragma unroll
    for (int t = 0; t < C; ++t) {
      if (missing_ >> t & 1) came[t] = device::load_word(word(where_[t]));
    }
#pragma unroll
    for (int t = 0; t < C; ++t) {
      if ((missing_ >> t & 1) && device::tag_of(came[t]) == v_.epoch) {
        device::from_bits(device::value_of(came[t]), u_[t]);
        missing_ &= ~(1u << t);
      }
    }
  }

  __device__ void eliminate(bool whole) {
#pragma unroll
    for (int t = 0; t < C; ++t) {
      const int at = base_ + t;
      if (!__any_sync(~0u, whole && at < below_)) break;
      const bool own = whole && e_ == at && at < below_;
      if (own) w_ = w_ * u_[t];
      const double l = __shfl_sync(~0u, w_, (first_ + at) % 32);
      if (whole && !own && (needed_ >> t & 1)) w_ = fma(-l, u_[t], w_);
    }
  }

  __device__ void finish() {
    if (kind_ == diagonal) {
      const double inverse = 1.0 / usable_pivot(v_, pivot(), w_, change_);
      device::store_word(word(i_), device::bits_of(inverse), v_.epoch);
      f_.inverse_diagonal[i_] = inverse;
    }
    if (kind_ == upper) {
      const std::int64_t at = upper_ + e_ - below_ - 1;
      device::store_word(word(v_.first_upper + at), device::bits_of(w_), v_.epoch);
      f_.upper_values[at] = w_;
    }
    if (kind_ == estimate) {
      device::store_word(word(v_.first_estimate + i_), device::bits_of(w_), v_.epoch);
      v_.estimate[user_] = w_;
    }
    if (kind_ == lower) f_.lower_values[lower_ + e_] = w_;
    open_ = false;
  }

  __device__ RowPivot pivot() const { return {{i_, user_}, scale_, nonfinite_}; }

  const RowFactorView& v_;
  const FactorView<double>& f_;
  const std::int64_t last_;
  const int first_, e_;   // lane of the row's first entry; the own entry
  unsigned char* found_;  // where the own column is in U(k), for each of C rows
  bool open_ = false, nonfinite_ = false;
  Kind kind_ = nothing;
  int below_ = 0, count_ = 0, base_ = 0, entries_k_ = 0;
  std::int32_t i_ = 0, user_ = 0, column_ = 0;
  std::int64_t lower_ = 0, upper_ = 0, begin_k_ = 0;
  unsigned needed_ = 0, missing_ = 0;
  unsigned where_[C];
  double u_[C], w_ = 0, scale_ = 0, change_ = 0;
};

template <int G, int C>
__global__ void __launch_bounds__(scalar_row_threads, scalar_row_blocks(C))
    scalar_row_factor_kernel(const __grid_constant__ RowFactorView v) {
  using Lane = ScalarRowLane<G, C>;
  __shared__ unsigned char found[scalar_row_threads * C];
  Lane lane(v, found);
  for (bool stopped = false; !stopped;) {
    unsigned ticket = 0;
    if (threadIdx.x % 32 == 0) ticket = atomicAdd(&v.status->ticket, 1u);
    const std::int64_t begin = std::int64_t{__shfl_sync(~0u, ticket, 0)} * Lane::rows_a_warp + v.first_ticket;
    if (begin >= v.rows.A.block_rows) break;
    lane.take(begin + lane.group());
    unsigned long long begun = 0;
    for (unsigned looks = 1; !stopped && __any_sync(~0u, lane.is_open()); ++looks) {
      if (lane.advance()) begun = 0;
      if (looks % spins_between_looks != 0) continue;
      if (begun == 0) begun = device::nanoseconds();
      const bool late = device::nanoseconds() - begun > static_cast<unsigned long long>(v.patience);
      if (late && lane.waits_for() >= 0 && atomicCAS(&v.status->stuck_tile, 0, lane.row() + 1) == 0) {
        v.status->stuck_level = lane.waits_for();
      }
      stopped = __any_sync(~0u, late || *static_cast<volatile int*>(&v.status->stuck_tile) != 0);
    }
  }
  lane.report();
}

}  // namespace echelon
