// SPDX-License-Identifier: BSD-3-Clause
// Exact ILU of scalar CSR on a GPU where it is known how rows meet (row_meets.hpp) and short rows are many: G lanes a row, a
// lane an entry, the operations of factor/rows/ilu_row.inl in their order. With w the row of A, for k ascending over its
// lower part:
//   L_ik = w_k D_k⁻¹,   w_j ← w_j − L_ik U_kj for j in U(k) ∩ pattern(i);   then D_i⁻¹, U_i = upper part of w.
// One place more has y_i = 1 − Σ L_ik y_k, the lower half of the growth's estimate. D⁻¹, y and U go from row to row in
// records of words that hold a NaN which no row writes until they are there, so nothing is fenced. The words of four steps
// are under way at once. Where rows wait for none that is near they are dealt out to warps in turn, and while a row waits
// the structure of the next one, the records of the one after it and a head after that are under way, too; elsewhere a warp
// draws a ticket when it is done, or rows that it holds would keep others waiting. Rows of a warp advance side by side, so
// one may wait for another. Bytes a row: 8 an entry of A, 8 of the factors and of the records, what row_meets.hpp keeps, and
// the words of each U(k) that are met, from the second level.
#pragma once

#include "echelon/base/cuda/cuda_async.cuh"
#include "echelon/base/cuda/launch_behind.cuh"
#include "echelon/factor/rows_gpu/row_factor_judge.cuh"
#include "echelon/factor/rows_gpu/row_factor_published.cuh"

namespace echelon {

constexpr int met_row_threads = 128;
/// Blocks of threads that a processor holds. With fewer registers, what they cannot hold goes to memory.
constexpr int met_row_blocks = 6;

template <int G>
class MetRowLane {
 public:
  static constexpr int rows_a_warp = 32 / G;

  __device__ explicit MetRowLane(const RowFactorView& view)
      : v_(view),
        f_(view.rows),
        last_(static_cast<unsigned>(view.rows.A.block_rows - 1)),
        words_(reinterpret_cast<double*>(view.words)),
        first_(threadIdx.x % 32 / G * G),
        q_(threadIdx.x % G),
        ticket_(v_.first_ticket + (blockIdx.x * met_row_threads + threadIdx.x) / G) {
    // In registers: from the constants it would come late, again and again.
    asm("" : "+l"(words_));
  }

  /// The next ticket of all. Without it, rows are dealt out to the warps in turn.
  __device__ void draw_ticket() {
    unsigned drawn = 0;
    if (threadIdx.x % 32 == 0) drawn = atomicAdd(&v_.status->ticket, 1u);
    ticket_ = __shfl_sync(~0u, drawn, 0) * rows_a_warp + first_ / G + v_.first_ticket;
  }

  // What is asked for ahead of time, one after the other; all lanes.
  /// Its words are dealt out to the lanes. Rows beyond the last have a head of zeros.
  __device__ void ask_head() {
    const unsigned ticket = ticket_;
    ticket_ += gridDim.x * (met_row_threads / 32) * rows_a_warp;
    head_ = 0;
    if (ticket <= last_ && q_ < RowHead::words) head_ = __ldg(v_.meets.heads + std::int64_t{ticket} * RowHead::words + q_);
  }
  __device__ void ask_records() {
    soon_.head = head_;
    const unsigned lower = field(head_, RowHead::lower);
    const RowHead head = RowHead::unpacked(field(head_, RowHead::counts));
    soon_.record = 0;
    if (q_ < head.below) soon_.record = __ldg(v_.meets.records + lower + q_);
  }
  __device__ void ask_row() {
    next_.head = soon_.head;
    next_.record = soon_.record;
    const unsigned user = field(next_.head, RowHead::user), of_A = field(next_.head, RowHead::of_A);
    const unsigned i = field(next_.head, RowHead::row), lower = field(next_.head, RowHead::lower);
    const RowHead head = RowHead::unpacked(field(next_.head, RowHead::counts));
    next_.places = places_from(places_of(i, lower), 0, head);
    next_.w = 0;
    unsigned source = q_;
    if (v_.meets.sources) source = q_ < head.count ? v_.meets.sources[std::int64_t{i} * G + q_] : RowMeetsView::no_place;
    if (source < static_cast<unsigned>(head.entries)) next_.w = __ldg(f_.A.values + of_A + source);
    next_.scale = 0;
    next_.nonfinite = 0;
    if (head.count > 0 && q_ == head.below) {
      next_.scale = v_.known.scale[user];
      next_.nonfinite = v_.known.nonfinite[user];
    }
  }

  /// Begins with the row that was asked for. All lanes; false when there is none.
  __device__ bool take() {
    i_ = static_cast<std::int32_t>(field(next_.head, RowHead::row));
    user_ = static_cast<std::int32_t>(field(next_.head, RowHead::user));
    lower_ = field(next_.head, RowHead::lower);
    upper_ = field(next_.head, RowHead::upper);
    const RowHead head = RowHead::unpacked(field(next_.head, RowHead::counts));
    below_ = head.below;
    count_ = head.count;
    at_ = 0;
    first_places_ = places_of(i_, lower_);
    scale_ = next_.scale;
    nonfinite_ = next_.nonfinite != 0;
    open_ = count_ > 0;
    w_ = q_ == count_ ? 1 : next_.w;
    record_ = next_.record;
    places_ = next_.places;
    if (open_ && q_ == below_) open_scalar_diagonal(v_, pivot(), w_, change_);
    const int most = __reduce_max_sync(~0u, below_);
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      if (s < most) ask_step(s, s, true);
    }
    if (most > steps) places_ = places_from(first_places_, 1, {below_, count_, 0});
    return __any_sync(~0u, open_);
  }

  __device__ bool is_open() const { return open_; }

  /// As many steps as there are words for. All lanes; true when a row of the warp has gone on.
  __device__ bool advance() {
    const int before = at_;
    const bool was_open = open_;
    bool late = false;
#pragma unroll
    for (int s = 0; s < steps; ++s) late |= step(s);
    if (open_ && at_ >= below_) finish();
    if (late) ask_again();
    return __any_sync(~0u, at_ != before || was_open != open_);
  }

  /// The row that a lane's row waits for; −1 when it waits for none.
  __device__ std::int32_t waits_for() const {
    if (!open_ || at_ >= below_) return -1;
    return i_ - static_cast<const std::int32_t*>(f_.lower_distance)[lower_ + at_];
  }
  __device__ std::int32_t number() const { return i_; }
  __device__ void report() const { raise_by_warp(&v_.status->change, change_); }

 private:
  static constexpr int steps = RowMeetsView::steps_a_word;
  static constexpr unsigned nowhere = ~0u;

  struct Soon {
    unsigned head = 0, record = 0;
  };
  struct Next {
    unsigned head = 0, record = 0, places = 0, nonfinite = 0;
    double w = 0, scale = 0;
  };

  __device__ unsigned field(unsigned head, RowHead::Word which) const { return __shfl_sync(~0u, head, first_ + which); }

  __device__ const unsigned* places_of(unsigned row, unsigned lower) const {
    return v_.meets.places + RowMeetsView::first_word(row, lower) * G + q_;
  }
  __device__ static unsigned places_from(const unsigned* first, int word, const RowHead& head) {
    const bool any = word * steps < head.below && static_cast<int>(threadIdx.x % G) <= head.count;
    return any ? __ldg(first + word * G) : ~0u;
  }

  // What a row does where `wanted`, else nothing. Not as branches: the compiler would copy the code for each way through
  // them and run out of registers.
  __device__ void load(double& x, unsigned where, bool wanted) const {
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.relaxed.gpu.global.f64 %0, [%1]; }"
                 : "+d"(x)
                 : "l"(words_ + where), "r"(static_cast<int>(wanted))
                 : "memory");
  }
  __device__ static void multiply(double& w, double by, bool wanted) {
    asm("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p mul.rn.f64 %0, %0, %1; }"
        : "+d"(w)
        : "d"(by), "r"(static_cast<int>(wanted)));
  }
  __device__ static void subtract(double& w, double l, double u, bool wanted) {
    asm("{ .reg .pred p; setp.ne.s32 p, %3, 0; @p fma.rn.f64 %0, %1, %2, %0; }"
        : "+d"(w)
        : "d"(-l), "d"(u), "r"(static_cast<int>(wanted)));
  }

  /// Asks for the words of a step, to be kept as the s-th; only rows that `go_on` change. All lanes.
  __device__ void ask_step(int s, int step, bool go_on) {
    // Of steps beyond the row some lane's: a shuffle takes the number modulo 32.
    const unsigned record = __shfl_sync(~0u, record_, first_ + step), place = places_ >> 8 * s & 255;
    const bool any = go_on & (step < below_) & (place != RowMeetsView::no_place);
    where_[s] = any ? record + place : go_on ? nowhere : where_[s];
    u_[s] = go_on ? 0 : u_[s];
    load(u_[s], record + place, any);
  }

  /// The step that is kept as the s-th, if it is the row's next and its words are there. All lanes; whether a row misses
  /// one.
  __device__ bool step(int s) {
    const bool next = (at_ < below_) & (static_cast<unsigned>(at_) % steps == static_cast<unsigned>(s));
    const unsigned late = __ballot_sync(~0u, next & is_absent(u_[s]));
    const bool go_on = next & ((late & ((1u << G) - 1) << first_) == 0);
    if (!__any_sync(~0u, go_on)) return late != 0;
    multiply(w_, u_[s], go_on & (q_ == at_));
    const double l = __shfl_sync(~0u, w_, first_ + at_);
    subtract(w_, l, u_[s], go_on & (q_ != at_) & (where_[s] != nowhere));
    if (__any_sync(~0u, go_on & (at_ + steps < below_))) {
      ask_step(s, at_ + steps, go_on);
      if (s == steps - 1 && go_on) places_ = places_from(first_places_, at_ / steps + 2, {below_, count_, 0});
    }
    at_ += go_on ? 1 : 0;
    return late != 0;
  }

  __device__ void ask_again() {
#pragma unroll
    for (int s = 0; s < steps; ++s) load(u_[s], where_[s], is_absent(u_[s]));
  }

  /// Everything that others wait for at once, then what is kept.
  __device__ void finish() {
    const bool has_diagonal = q_ == below_;
    const double diagonal = has_diagonal ? w_ : 1;
    const bool bad = has_diagonal && !pivot_is_good(f_.rules, diagonal, scale_);
    double inverse = 1.0 / diagonal;
    if (bad) {
      const JudgedPivot<double> judged = judge_inverse(v_, pivot(), diagonal);
      inverse = judged.used;
      change_ = judged.change > change_ ? judged.change : change_;
    }
    w_ = has_diagonal ? inverse : w_;
    const int after = q_ - below_ - 1;
    const unsigned place = has_diagonal   ? RowMeetsView::place_of_inverse
                           : q_ == count_ ? RowMeetsView::place_of_estimate
                                          : RowMeetsView::place_of_upper + after;
    if (q_ >= below_ && q_ <= count_) publish(words_ + RowMeetsView::record(last_, i_, upper_) + place, w_);
    double* to = q_ < below_    ? f_.lower_values + lower_ + q_
                 : has_diagonal ? f_.inverse_diagonal + i_
                 : q_ < count_  ? f_.upper_values + upper_ + after
                                : v_.estimate + user_;
    if (q_ <= count_) *to = w_;
    open_ = false;
  }

  __device__ RowPivot pivot() const { return {{i_, user_}, scale_, nonfinite_}; }

  const RowFactorView& v_;
  const FactorView<double>& f_;
  const unsigned last_;
  double* words_;
  const int first_, q_;  // lane of the row's first entry; the own lane of the row
  unsigned ticket_;      // of the next head
  unsigned head_ = 0;
  Soon soon_;
  Next next_;
  bool open_ = false, nonfinite_ = false;
  int below_ = 0, count_ = 0, at_ = 0;  // the step that is next
  std::int32_t i_ = 0, user_ = 0;
  unsigned lower_ = 0, upper_ = 0;
  const unsigned* first_places_ = nullptr;
  unsigned record_ = 0, places_ = 0, where_[steps] = {};
  double u_[steps] = {}, w_ = 0, scale_ = 0, change_ = 0;
};

template <int G>
__global__ void __launch_bounds__(met_row_threads, met_row_blocks)
    met_row_factor_kernel(const __grid_constant__ RowFactorView v) {
  device::wait_for_previous();
  device::let_next_begin();
  // Of a pattern that is refused, no ticket is left.
  if (v.dealt && v.status->ticket != 0) return;
  MetRowLane<G> lane(v);
  if (v.dealt) {
    lane.ask_head();
    lane.ask_records();
    lane.ask_head();
    lane.ask_row();
    lane.ask_records();
    lane.ask_head();
  }
  for (bool stopped = false; !stopped;) {
    if (!v.dealt) {
      lane.draw_ticket();
      lane.ask_head();
      lane.ask_records();
      lane.ask_row();
    }
    if (!lane.take()) break;
    if (v.dealt) {
      lane.ask_row();
      lane.ask_records();
      lane.ask_head();
    }
    unsigned long long begun = 0;
    for (unsigned looks = 1; !stopped && __any_sync(~0u, lane.is_open()); ++looks) {
      if (lane.advance()) begun = 0;
      if (looks % spins_between_looks != 0) continue;
      stopped = waits_in_vain(v, lane, begun);
    }
  }
  lane.report();
}

}  // namespace echelon
