// SPDX-License-Identifier: BSD-3-Clause
// Exact ILU of scalar CSR on a GPU where it is known how rows meet (row_meets.hpp): G lanes a row, E entries a lane, the
// operations of factor/ilu_row.inl in their order. With w the row of A, for k ascending over its lower part:
//   L_ik = w_k D_k⁻¹,   w_j ← w_j − L_ik U_kj for j in U(k) ∩ pattern(i);   then D_i⁻¹, U_i = upper part of w.
// One place more has y_i = 1 − Σ L_ik y_k, the lower half of the growth's estimate. D⁻¹, y and U go from row to row in
// records of words that hold a NaN which no row writes until they are there, so nothing is fenced. The words of C steps are
// under way at once. Where rows wait for none that is near they are dealt out to warps in turn, and while a row waits the
// structure of the next one, the records of the one after it and a head after that are under way, too; elsewhere a warp
// draws a ticket when it is done, or rows that it holds would keep others waiting. Rows of a warp advance side by side, so
// one may wait for another. Bytes a row: 8 an entry of A, 8 of the factors and of the records, what row_meets.hpp keeps, and
// the words of each U(k) that are met, from the second level.
#pragma once

#include "echelon/base/cuda_async.cuh"
#include "echelon/factor/row_factor_judge.cuh"

namespace echelon {

constexpr int met_row_threads = 128;
/// Blocks of threads that a processor holds. With fewer registers, what they cannot hold goes to memory.
constexpr int met_row_blocks(int entries_a_lane, int steps_at_once) {
  return entries_a_lane > 2 ? 3 : entries_a_lane * steps_at_once > 4 ? 4 : 5;
}

template <int G, int E, int C>
class MetRowLane {
 public:
  static constexpr int rows_a_warp = 32 / G, stride = G * E;
  static constexpr int words_of_steps = C / RowMeetsView::steps_a_word, heads_a_lane = (RowHead::words + G - 1) / G;

  __device__ explicit MetRowLane(const RowFactorView& view)
      : v_(view),
        f_(view.rows),
        last_(static_cast<unsigned>(view.rows.A.block_rows - 1)),
        words_(reinterpret_cast<double*>(view.words)),
        first_(threadIdx.x % 32 / G * G),
        q_(threadIdx.x % G),
        ticket_(v_.first_ticket + (blockIdx.x * met_row_threads + threadIdx.x) / G) {}

  /// The next ticket of all. Without it, rows are dealt out to the warps in turn.
  __device__ void draw_ticket() {
    unsigned drawn = 0;
    if (threadIdx.x % 32 == 0) drawn = atomicAdd(&v_.status->ticket, 1u);
    ticket_ = __shfl_sync(~0u, drawn, 0) * rows_a_warp + first_ / G + v_.first_ticket;
  }

  // What is asked for ahead of time, one after the other; all lanes.
  /// Rows beyond the last have a head of zeros.
  __device__ void ask_head() {
    const unsigned ticket = ticket_;
    const bool any = ticket <= last_;
    ticket_ += gridDim.x * (met_row_threads / 32) * rows_a_warp;
#pragma unroll
    for (int h = 0; h < heads_a_lane; ++h) {
      const int word = q_ + G * h;
      head_.word[h] =
          any && word < RowHead::words ? __ldg(v_.meets.heads + std::int64_t{ticket} * RowHead::words + word) : 0;
    }
  }
  __device__ void ask_records() {
    soon_.head = head_;
    const unsigned lower = field(head_, RowHead::lower);
    const RowHead head = RowHead::unpacked(field(head_, RowHead::counts));
#pragma unroll
    for (int x = 0; x < E; ++x) {
      soon_.record[x] = nowhere;
      if (entry(x) < head.below) soon_.record[x] = __ldg(v_.meets.records + lower + entry(x));
    }
  }
  __device__ void ask_row() {
    next_.head = soon_.head;
    const unsigned user = field(next_.head, RowHead::user), of_A = field(next_.head, RowHead::of_A);
    const unsigned i = field(next_.head, RowHead::row), lower = field(next_.head, RowHead::lower);
    const RowHead head = RowHead::unpacked(field(next_.head, RowHead::counts));
    const unsigned* places = places_of(i, lower);
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const int e = entry(x);
      next_.record[x] = soon_.record[x];
#pragma unroll
      for (int p = 0; p < words_of_steps; ++p) next_.places[x][p] = places_from(places, p, x, head);
      next_.w[x] = 0;
      unsigned source = e;
      if (v_.meets.sources)
        source = e < head.count ? v_.meets.sources[std::int64_t{i} * stride + e] : RowMeetsView::no_place;
      if (source < static_cast<unsigned>(head.entries)) next_.w[x] = __ldg(f_.A.values + of_A + source);
    }
    next_.scale = 0;
    next_.nonfinite = 0;
    if (head.count > 0 && q_ == head.below % G) {
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
#pragma unroll
    for (int x = 0; x < E; ++x) {
      w_[x] = entry(x) == count_ ? 1 : next_.w[x];
      record_[x] = next_.record[x];
#pragma unroll
      for (int p = 0; p < words_of_steps; ++p) places_[x][p] = next_.places[x][p];
      if (open_ && entry(x) == below_) open_scalar_diagonal(v_, pivot(), w_[x], change_);
    }
#pragma unroll
    for (int s = 0; s < C; ++s) ask_step(s, s, true);
#pragma unroll
    for (int p = 0; p < words_of_steps; ++p) load_places(p, words_of_steps + p);
    return __any_sync(~0u, open_);
  }

  __device__ bool is_open() const { return open_; }

  /// As many steps as there are words for. All lanes; true when a row of the warp has gone on.
  __device__ bool advance() {
    const int before = at_;
    const bool was_open = open_;
    unsigned late = 0;
#pragma unroll
    for (int s = 0; s < C; ++s) late |= step(s);
    if (open_ && at_ >= below_) finish();
    if (late != 0) ask_again();
    return __any_sync(~0u, at_ != before || was_open != open_);
  }

  /// The row that a lane's row waits for; −1 when it waits for none.
  __device__ std::int32_t waits_for() const {
    if (!open_ || at_ >= below_) return -1;
    return i_ - static_cast<const std::int32_t*>(f_.lower_distance)[lower_ + at_];
  }
  __device__ std::int32_t row() const { return i_; }
  __device__ void report() const { raise_by_warp(&v_.status->change, change_); }

 private:
  static constexpr unsigned nowhere = ~0u;
  /// The upper half of words that are not there yet. Of NaN alone; a row writes another one.
  static constexpr unsigned not_there = ~0u, some_nan = 0xfff80000u;

  /// Its words are dealt out to the lanes.
  struct Head {
    unsigned word[heads_a_lane] = {};
  };
  struct Soon {
    Head head;
    unsigned record[E];
  };
  struct Next {
    Head head;
    double w[E], scale = 0;
    unsigned record[E], places[E][words_of_steps], nonfinite = 0;
  };

  __device__ int entry(int x) const { return q_ + G * x; }
  __device__ unsigned field(const Head& head, RowHead::Word which) const {
    return __shfl_sync(~0u, head.word[which / G], first_ + which % G);
  }

  __device__ const unsigned* places_of(unsigned row, unsigned lower) const {
    return v_.meets.places + RowMeetsView::first_word(row, lower) * stride + q_;
  }
  __device__ static unsigned places_from(const unsigned* first, int word, int x, const RowHead& head) {
    const bool any =
        word * RowMeetsView::steps_a_word < head.below && static_cast<int>(threadIdx.x % G) + G * x <= head.count;
    return any ? __ldg(first + word * stride + G * x) : ~0u;
  }
  /// Of the word with that number into the p-th of those at hand.
  __device__ void load_places(int p, int word) {
    const RowHead head{below_, count_, 0};
#pragma unroll
    for (int x = 0; x < E; ++x) places_[x][p] = places_from(first_places_, word, x, head);
  }

  __device__ double load(unsigned where) const {
    double x;
    asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(x) : "l"(words_ + where) : "memory");
    return x;
  }
  __device__ void store(std::int64_t where, double x) const {
    if (static_cast<unsigned>(__double2hiint(x)) == not_there) x = __hiloint2double(static_cast<int>(some_nan), 0);
    asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(words_ + where), "d"(x) : "memory");
  }
  __device__ bool misses(int x, int s) const {
    return where_[x][s] != nowhere && static_cast<unsigned>(__double2hiint(u_[x][s])) == not_there;
  }

  template <class S>
  __device__ S of_step(const S (&each)[E], int step) const {
    S own = __shfl_sync(~0u, each[0], first_ + step % G);
    // A choice between elements before the shuffle would put them into memory.
#pragma unroll
    for (int x = 1; x < E; ++x) {
      const S other = __shfl_sync(~0u, each[x], first_ + step % G);
      own = step / G == x ? other : own;
    }
    return own;
  }

  /// Asks for the words of a step, to be kept as the s-th; only rows that `go_on` change. All lanes.
  __device__ void ask_step(int s, int step, bool go_on) {
    const unsigned record = of_step(record_, step);
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const unsigned place = places_[x][s / RowMeetsView::steps_a_word] >> 8 * (s % RowMeetsView::steps_a_word) & 255;
      const bool any = go_on && step < below_ && place != RowMeetsView::no_place;
      if (go_on) where_[x][s] = any ? record + place : nowhere;
      if (any) u_[x][s] = load(record + place);
    }
  }

  /// The step that is kept as the s-th, if it is the row's next and its words are there. All lanes; the lanes that miss one.
  __device__ unsigned step(int s) {
    const bool next = at_ < below_ && at_ % C == s;
    bool misses_one = false;
#pragma unroll
    for (int x = 0; x < E; ++x) misses_one = misses_one || misses(x, s);
    const unsigned late = __ballot_sync(~0u, next && misses_one);
    const bool go_on = next && (late & of_row()) == 0;
    if (!__any_sync(~0u, go_on)) return late;
#pragma unroll
    for (int x = 0; x < E; ++x) {
      if (go_on && entry(x) == at_) w_[x] = w_[x] * u_[x][s];
    }
    const double l = of_step(w_, at_);
#pragma unroll
    for (int x = 0; x < E; ++x) {
      if (go_on && entry(x) != at_ && where_[x][s] != nowhere) w_[x] = fma(-l, u_[x][s], w_[x]);
    }
    ask_step(s, at_ + C, go_on);
    if (go_on) {
      ++at_;
      if (s % RowMeetsView::steps_a_word == RowMeetsView::steps_a_word - 1) {
        load_places(s / RowMeetsView::steps_a_word, at_ / RowMeetsView::steps_a_word - 1 + 2 * words_of_steps);
      }
    }
    return late;
  }

  __device__ unsigned of_row() const { return G == 32 ? ~0u : ((1u << G % 32) - 1) << first_; }

  __device__ void ask_again() {
#pragma unroll
    for (int s = 0; s < C; ++s) {
#pragma unroll
      for (int x = 0; x < E; ++x) {
        if (misses(x, s)) u_[x][s] = load(where_[x][s]);
      }
    }
  }

  /// What others wait for first, D⁻¹ after its division.
  __device__ void finish() {
    const std::int64_t record = RowMeetsView::record(last_, i_, upper_);
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const int e = entry(x), after = e - below_ - 1;
      if (e > below_ && e < count_) store(record + RowMeetsView::place_of_upper + after, w_[x]);
      if (e == count_) store(record + RowMeetsView::place_of_estimate, w_[x]);
    }
#pragma unroll
    for (int x = 0; x < E; ++x) {
      if (entry(x) == below_) invert(w_[x], record);
    }
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const int e = entry(x);
      if (e < below_) f_.lower_values[lower_ + e] = w_[x];
      if (e > below_ && e < count_) f_.upper_values[upper_ + e - below_ - 1] = w_[x];
      if (e == count_) v_.estimate[user_] = w_[x];
    }
    open_ = false;
  }

  __device__ void invert(double w, std::int64_t record) {
    const double inverse = 1.0 / usable_pivot(v_, pivot(), w, change_);
    store(record + RowMeetsView::place_of_inverse, inverse);
    f_.inverse_diagonal[i_] = inverse;
  }

  __device__ RowPivot pivot() const { return {{i_, user_}, scale_, nonfinite_}; }

  const RowFactorView& v_;
  const FactorView<double>& f_;
  const unsigned last_;
  double* words_;
  const int first_, q_;  // lane of the row's first entry; the own lane of the row
  unsigned ticket_;      // of the next head
  Head head_;
  Soon soon_;
  Next next_;
  bool open_ = false, nonfinite_ = false;
  int below_ = 0, count_ = 0, at_ = 0;  // the step that is next
  std::int32_t i_ = 0, user_ = 0;
  unsigned lower_ = 0, upper_ = 0;
  const unsigned* first_places_ = nullptr;
  unsigned record_[E], places_[E][words_of_steps], where_[E][C];
  double u_[E][C] = {}, w_[E], scale_ = 0, change_ = 0;
};

template <int G, int E, int C>
__global__ void __launch_bounds__(met_row_threads, met_row_blocks(E, C))
    met_row_factor_kernel(const __grid_constant__ RowFactorView v) {
  MetRowLane<G, E, C> lane(v);
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
      if (begun == 0) begun = device::nanoseconds();
      const bool late = device::nanoseconds() - begun > static_cast<unsigned long long>(v.patience);
      const std::int32_t other = lane.waits_for();
      if (late && other >= 0 && atomicCAS(&v.status->stuck_tile, 0, lane.row() + 1) == 0) v.status->stuck_level = other;
      stopped = __any_sync(~0u, late || *static_cast<volatile int*>(&v.status->stuck_tile) != 0);
    }
  }
  lane.report();
}

}  // namespace echelon
