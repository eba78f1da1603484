// SPDX-License-Identifier: BSD-3-Clause
// Exact ILU of scalar CSR on a GPU where it is known how rows meet (row_meets.hpp): a warp a row, E entries a lane, the
// operations of factor/rows/ilu_row.inl in their order. With w the row of A, for k ascending over its lower part:
//   L_ik = w_k D_k⁻¹,   w_j ← w_j − L_ik U_kj for j in U(k) ∩ pattern(i);   then D_i⁻¹, U_i = upper part of w.
// One place more has y_i = 1 − Σ L_ik y_k, the lower half of the growth's estimate. Time goes by between a row that is done
// and one that waits for it, so a step takes as little as it can: w_k goes to all lanes before D_k⁻¹ is there, which all of
// them load; the words of four steps are asked for at once and again until they come; a row says everything in one store.
// Words hold a NaN which no row writes until they are there, so nothing is fenced. Bytes a row: as in row_factor_met.cuh.
#pragma once

#include "echelon/base/cuda/cuda_async.cuh"
#include "echelon/base/cuda/launch_behind.cuh"
#include "echelon/factor/rows_gpu/row_bounds.cuh"
#include "echelon/factor/rows_gpu/row_factor_judge.cuh"
#include "echelon/factor/rows_gpu/row_factor_published.cuh"

namespace echelon {

constexpr int warp_row_threads = 128;
/// Blocks of threads that a processor holds. With fewer registers, what they cannot hold goes to memory.
constexpr int warp_row_blocks(int entries_a_lane) {
  return entries_a_lane == 1 ? 7 : entries_a_lane == 2 ? 5 : entries_a_lane == 3 ? 4 : entries_a_lane == 4 ? 3 : 2;
}

/// Cold: since when a row has waited for that entry of L, 0 when everything stops. All lanes.
static __device__ __noinline__ unsigned long long still_waits(const RowFactorView& v, std::int32_t row, unsigned entry,
                                                              unsigned long long begun) {
  const unsigned long long now = device::nanoseconds() | 1;
  if (begun == 0) begun = now;
  const bool late = now - begun > static_cast<unsigned long long>(v.patience);
  if (late && threadIdx.x % 32 == 0 && atomicCAS(&v.status->stuck_tile, 0, row + 1) == 0) {
    v.status->stuck_level = row - static_cast<const std::int32_t*>(v.rows.lower_distance)[entry];
  }
  return __any_sync(~0u, late || *static_cast<volatile int*>(&v.status->stuck_tile) != 0) ? 0 : begun;
}

/// Words that rows all over the GPU pass through memory, and rows that are drawn by whoever is free.
class GlobalWords {
 public:
  using Place = double*;
  static constexpr int threads = warp_row_threads;

  __device__ explicit GlobalWords(const RowFactorView& v) : words_(reinterpret_cast<double*>(v.words)) {
    // In registers: from the constants it would come late, again and again.
    asm("" : "+l"(words_));
  }
  /// All lanes.
  __device__ unsigned next_ticket(const RowFactorView& v, int lane) {
    unsigned drawn = 0;
    if (lane == 0) drawn = atomicAdd(&v.status->ticket, 1u);
    return __shfl_sync(~0u, drawn, 0) + v.first_ticket;
  }
  __device__ double load(unsigned where) const {
    double x;
    asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(x) : "l"(words_ + where) : "memory");
    return x;
  }
  __device__ Place place(std::int64_t record) const { return words_ + record; }
  __device__ static Place place(Place record, unsigned after) {
    record += after;
    asm("" : "+l"(record));
    return record;
  }
  __device__ static void tell(Place to, double x) { publish(to, x); }

 private:
  double* words_;
};

/// `Words` is as the above.
template <int E, class Words>
class WarpRow {
 public:
  __device__ WarpRow(const RowFactorView& view, const Words& words)
      : v_(view),
        f_(view.rows),
        last_(static_cast<unsigned>(view.rows.A.block_rows - 1)),
        words_(words),
        lane_(threadIdx.x % 32) {
    extremes().begin();
  }

  /// Begins with the row of the next ticket. All lanes; false when there is none.
  __device__ bool take() {
    const unsigned ticket = words_.next_ticket(v_, lane_);
    if (ticket > last_) return false;
    unsigned word = 0;
    if (lane_ < RowHead::words) word = __ldg(v_.meets.heads + std::int64_t{ticket} * RowHead::words + lane_);
    i_ = static_cast<std::int32_t>(__shfl_sync(~0u, word, RowHead::row));
    user_ = static_cast<std::int32_t>(__shfl_sync(~0u, word, RowHead::user));
    lower_ = __shfl_sync(~0u, word, RowHead::lower);
    upper_ = __shfl_sync(~0u, word, RowHead::upper);
    const unsigned of_A = __shfl_sync(~0u, word, RowHead::of_A);
    const RowHead head = RowHead::unpacked(__shfl_sync(~0u, word, RowHead::counts));
    below_ = head.below;
    count_ = head.count;
    const typename Words::Place record = words_.place(RowMeetsView::record(last_, i_, upper_));
    next_places_ = v_.meets.places + RowMeetsView::first_word(i_, lower_) * v_.meets.stride + lane_;
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const int e = entry(x);
      record_[x] = 0;
      if (e < below_) record_[x] = __ldg(v_.meets.records + lower_ + e);
      unsigned source = e;
      if (v_.meets.sources) {
        source = e < count_ ? v_.meets.sources[std::int64_t{i_} * v_.meets.stride + e] : RowMeetsView::no_place;
      }
      w_[x] = 0;
      if (source < static_cast<unsigned>(head.entries)) w_[x] = __ldg(f_.A.values + of_A + source);
      if (e == count_) w_[x] = 1;
      own_word_[x] = Words::place(record, e == below_   ? RowMeetsView::place_of_inverse
                                          : e == count_ ? RowMeetsView::place_of_estimate
                                                        : RowMeetsView::place_of_upper + e - below_ - 1);
    }
    load_places(places_, 0);
    load_places(soon_, steps);
    scale_ = 0;
    nonfinite_ = false;
    if (lane_ == below_ % 32) {
      scale_ = v_.known.scale[user_];
      nonfinite_ = v_.known.nonfinite[user_] != 0;
    }
#pragma unroll
    for (int x = 0; x < E; ++x) {
      if (entry(x) == below_) open_scalar_diagonal(v_, pivot(), w_[x], extremes().change);
    }
    return true;
  }

  /// All lanes; false when everything stops.
  __device__ bool eliminate() {
#pragma unroll
    for (int s = 0; s < steps; ++s) ask_step(s, s, record_[0]);
      // The entries of a lane one by one, so that which of them a step is about is known.
#pragma unroll
    for (int x = 0; x < E; ++x) {
      for (int base = 32 * x; base < 32 * (x + 1) && base < below_; base += steps) {
#pragma unroll
        for (int z = 0; z < E; ++z) places_[z] = soon_[z];
        load_places(soon_, base + 2 * steps);
        const unsigned records = base + steps < 32 * (x + 1) ? record_[x] : record_[x + 1 < E ? x + 1 : x];
#pragma unroll
        for (int s = 0; s < steps; ++s) {
          if (base + s >= below_) return true;
          const double w = __shfl_sync(~0u, w_[x], (base + s) % 32);
          if (!wait(s, base + s)) return false;
          step(s, base + s, w);
          if (base + steps < below_) ask_step(s, base + steps + s, records);
        }
      }
    }
    return true;
  }

  /// Everything that others wait for at once, then what is kept.
  __device__ void finish() {
    double diagonal = 1;
    bool has_diagonal = false;
#pragma unroll
    for (int x = 0; x < E; ++x) {
      has_diagonal = has_diagonal || entry(x) == below_;
      diagonal = entry(x) == below_ ? w_[x] : diagonal;
    }
    const bool bad = has_diagonal && !pivot_is_good(f_.rules, diagonal, scale_);
    double inverse = 1.0 / diagonal;
    if (bad) {
      const JudgedPivot<double> judged = judge_inverse(v_, pivot(), diagonal);
      inverse = judged.used;
      extremes().include_change(judged.change);
    }
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const int e = entry(x);
      w_[x] = e == below_ ? inverse : w_[x];
      if (e >= below_ && e <= count_) words_.tell(own_word_[x], w_[x]);
    }
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const int e = entry(x), after = e - below_ - 1;
      double* to = e < below_    ? f_.lower_values + lower_ + e
                   : e == below_ ? f_.inverse_diagonal + i_
                   : e < count_  ? f_.upper_values + upper_ + after
                                 : v_.estimate + user_;
      if (e <= count_) *to = w_[x];
    }
    if (v_.few_scalars()) include_bounds();
  }

  __device__ void report() const { extremes().note(v_.status); }

 private:
  static constexpr int steps = RowMeetsView::steps_a_word;
  static constexpr unsigned nowhere = ~0u;

  /// What a step needs of row k.
  struct Came {
    double inverse, u[E];

    __device__ bool lack() const {
      bool any = is_absent(inverse);
#pragma unroll
      for (int x = 0; x < E; ++x) any = any || is_absent(u[x]);
      return any;
    }
  };
  __device__ int entry(int x) const { return lane_ + 32 * x; }

  /// Of the four steps from `first` on, where the row has them.
  __device__ void load_places(unsigned (&places)[E], int first) {
#pragma unroll
    for (int x = 0; x < E; ++x) {
      places[x] = ~0u;
      if (first < below_ && entry(x) <= count_) places[x] = __ldg(next_places_ + 32 * x);
    }
    next_places_ += v_.meets.stride;
  }

  /// Asks for the words of a step, to be kept as the s-th. All lanes; nothing is asked for beyond the last step.
  __device__ void ask_step(int s, int step, unsigned records) {
    first_[s] = __shfl_sync(~0u, records, step % 32);
    const bool any = step < below_;
    came_[s].inverse = 0;
    if (any) came_[s].inverse = words_.load(first_[s] + RowMeetsView::place_of_inverse);
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const unsigned place = places_[x] >> 8 * s & 255;
      const bool met = any && place != RowMeetsView::no_place && place != RowMeetsView::place_of_inverse;
      where_[x][s] = met ? first_[s] + place : nowhere;
      came_[s].u[x] = 0;
      if (met) came_[s].u[x] = words_.load(where_[x][s]);
    }
  }

  /// For the words that are missing.
  __device__ void ask_again(int s) {
    Came& to = came_[s];
    if (is_absent(to.inverse)) to.inverse = words_.load(first_[s] + RowMeetsView::place_of_inverse);
#pragma unroll
    for (int x = 0; x < E; ++x) {
      if (is_absent(to.u[x])) to.u[x] = words_.load(where_[x][s]);
    }
  }

  /// Until the words of the step that is kept as the s-th are there; those of the next one may come with them. All lanes;
  /// false when everything stops.
  __device__ bool wait(int s, int step) {
    if (!__any_sync(~0u, came_[s].lack())) return true;
    unsigned long long begun = 0;
    for (unsigned looks = 1;; ++looks) {
      ask_again(s);
      ask_again((s + 1) % steps);
      if (!__any_sync(~0u, came_[s].lack())) return true;
      if (looks % spins_between_looks != 0) continue;
      begun = still_waits(v_, i_, lower_ + step, begun);
      if (begun == 0) return false;
    }
  }

  __device__ void step(int s, int step, double w) {
    const double l = w * came_[s].inverse;
#pragma unroll
    for (int x = 0; x < E; ++x) {
      if (where_[x][s] != nowhere) w_[x] = fma(-l, came_[s].u[x], w_[x]);
      if (entry(x) == step) w_[x] = l;
    }
  }

  /// Of a row that is done: its sum of U in the host's order.
  __device__ void include_bounds() {
    double above = 0, inverse = 0, y = 0;
#pragma unroll
    for (int x = 0; x < E; ++x) {
      for (int lane = max(below_ + 1 - 32 * x, 0); lane < min(count_ - 32 * x, 32); ++lane) {
        above += magnitude(__shfl_sync(~0u, w_[x], lane));
      }
      const double diagonal = __shfl_sync(~0u, w_[x], below_ % 32), solved = __shfl_sync(~0u, w_[x], count_ % 32);
      inverse = below_ / 32 == x ? magnitude(diagonal) : inverse;
      y = count_ / 32 == x ? magnitude(solved) : y;
    }
    extremes().include_row(above, inverse, y);
  }

  __device__ static RowExtremes& extremes() {
    __shared__ RowExtremes of_threads[Words::threads];
    return of_threads[threadIdx.x];
  }
  __device__ RowPivot pivot() const { return {{i_, user_}, scale_, nonfinite_}; }

  const RowFactorView& v_;
  const FactorView<double>& f_;
  const unsigned last_;
  Words words_;
  const int lane_;
  bool nonfinite_ = false;
  int below_ = 0, count_ = 0;
  std::int32_t i_ = 0, user_ = 0;
  unsigned lower_ = 0, upper_ = 0;
  const unsigned* next_places_ = nullptr;
  unsigned record_[E], places_[E], soon_[E];  // where the records of all k begin; places of the next steps
  unsigned first_[steps], where_[E][steps];   // of the steps that are under way
  Came came_[steps];
  typename Words::Place own_word_[E];  // where what others need is told
  double w_[E], scale_ = 0;
};

template <int E>
__global__ void __launch_bounds__(warp_row_threads, warp_row_blocks(E))
    warp_row_factor_kernel(const __grid_constant__ RowFactorView v) {
  device::wait_for_previous();
  device::let_next_begin();
  WarpRow<E, GlobalWords> row(v, GlobalWords(v));
  while (row.take() && row.eliminate()) row.finish();
  row.report();
}

}  // namespace echelon
