// SPDX-License-Identifier: BSD-3-Clause
// As row_factor_met.cuh, for many rows of 16 to 31 entries that are numbered at random: G lanes a row, E entries a lane.
// What is known of a row and its entries of A are copied into shared memory at once, where they take no registers, so that
// more rows are under way and none waits for its places from one group of steps to the next. Rows are drawn by ticket: dealt
// out beforehand, those that a warp holds back kept others waiting longer than loads ahead of time saved. Bytes a row: as
// there.
#pragma once

#include <cstddef>

#include "echelon/base/cuda/cuda_async.cuh"
#include "echelon/base/cuda/cuda_copies.cuh"
#include "echelon/base/cuda/launch_behind.cuh"
#include "echelon/factor/rows_gpu/row_factor_judge.cuh"
#include "echelon/factor/rows_gpu/row_factor_published.cuh"

namespace echelon {

constexpr int staged_row_threads = 128;
/// Blocks of threads that a processor holds. With fewer registers, what they cannot hold goes to memory.
constexpr int staged_row_blocks = 7;

template <int G, int E>
class StagedRowLane {
 public:
  static constexpr unsigned rows_a_warp = 32 / G, stride = G * E;

  __device__ explicit StagedRowLane(const RowFactorView& view)
      : v_(view),
        f_(view.rows),
        last_(static_cast<unsigned>(view.rows.A.block_rows - 1)),
        words_(reinterpret_cast<double*>(view.words)),
        first_(threadIdx.x % 32 / G * G),
        q_(threadIdx.x % G) {
    change() = 0;
    // In registers: from the constants it would come late, again and again.
    asm("" : "+l"(words_));
  }

  /// Begins with the rows of the next ticket. All lanes; false when there are none.
  __device__ bool take() {
    const unsigned nonfinite = stage(drawn_head());
    device::wait_for_copies();
    __syncwarp();
    const RowHead head = RowHead::unpacked(row().head[RowHead::counts]);
    const auto count = static_cast<unsigned>(head.count);
    below_ = static_cast<unsigned>(head.below);
    at_ = count > 0 ? 0 : done();
#pragma unroll
    for (int x = 0; x < E; ++x) {
      w_[x] = row().w[entry(x)];
      if (entry(x) == count) w_[x] = 1;
      if (count > 0 && entry(x) == below_) {
        row().nonfinite = nonfinite;
        open_scalar_diagonal(v_, pivot(), w_[x], change());
      }
    }
    load_places(0);
    const unsigned most = __reduce_max_sync(~0u, below_);
#pragma unroll
    for (unsigned s = 0; s < steps; ++s) {
      if (s < most) ask_step(s, s, true);
    }
    if (most > steps) load_places(1);
    return __any_sync(~0u, is_open());
  }

  __device__ bool is_open() const { return at_ <= below_; }

  /// As many steps as there are words for. All lanes; true when a row of the warp has gone on.
  __device__ bool advance() {
    const unsigned before = at_;
    bool late = false;
#pragma unroll
    for (unsigned s = 0; s < steps; ++s) late |= step(s);
    if (at_ == below_) finish();
    if (late) ask_again();
    return __any_sync(~0u, at_ != before);
  }

  /// The row that a lane's row waits for; −1 when it waits for none.
  __device__ std::int32_t waits_for() const {
    if (at_ >= below_) return -1;
    return number() - static_cast<const std::int32_t*>(f_.lower_distance)[row().head[RowHead::lower] + at_];
  }
  __device__ std::int32_t number() const { return static_cast<std::int32_t>(row().head[RowHead::row]); }
  __device__ void report() const { raise_by_warp(&v_.status->change, change()); }

 private:
  static constexpr unsigned steps = RowMeetsView::steps_a_word;

  struct alignas(32) Staged {
    unsigned places[stride / steps * stride], records[stride];
    double w[stride], scale;
    unsigned head[RowHead::words];
    unsigned nonfinite;  // the row of A holds NaN or Inf
    unsigned apart[7];
  };
  // What the lanes of two rows read together lies in different banks.
  static_assert(G != 16 || sizeof(Staged) % 128 == 64);

  __device__ static Staged& row() {
    __shared__ Staged rows[staged_row_threads / G];
    return rows[threadIdx.x / G];
  }
  __device__ static double& change() {
    __shared__ double of_threads[staged_row_threads];
    return of_threads[threadIdx.x];
  }

  __device__ unsigned entry(int x) const { return q_ + G * x; }
  __device__ unsigned done() const { return below_ + 1; }
  __device__ static unsigned count() { return static_cast<unsigned>(RowHead::unpacked(row().head[RowHead::counts]).count); }
  __device__ RowPivot pivot() const {
    return {{number(), static_cast<std::int32_t>(row().head[RowHead::user])}, row().scale, row().nonfinite != 0};
  }

  /// Its words are dealt out to the lanes. Rows beyond the last have a head of zeros. All lanes.
  __device__ unsigned drawn_head() const {
    unsigned drawn = 0;
    if (threadIdx.x % 32 == 0) drawn = atomicAdd(&v_.status->ticket, 1u);
    const unsigned ticket = __shfl_sync(~0u, drawn, 0) * rows_a_warp + first_ / G + v_.first_ticket;
    if (ticket > last_ || q_ >= RowHead::words) return 0;
    return __ldg(v_.meets.heads + std::int64_t{ticket} * RowHead::words + q_);
  }

  /// Begins to copy all that is needed of a row. All lanes; the one that has the diagonal: whether A's row is not finite.
  __device__ unsigned stage(unsigned words) const {
    const auto field = [&](RowHead::Word which) { return __shfl_sync(~0u, words, first_ + which); };
    const unsigned number = field(RowHead::row), user = field(RowHead::user), lower = field(RowHead::lower);
    const unsigned of_A = field(RowHead::of_A);
    const RowHead head = RowHead::unpacked(field(RowHead::counts));
    const auto below = static_cast<unsigned>(head.below), count = static_cast<unsigned>(head.count);
    // Nobody reads the row before any more.
    __syncwarp();
    const device::Address to = device::shared_address(&row());
    if (q_ < RowHead::words) row().head[q_] = words;
    constexpr unsigned a_copy = 4, copies_a_word = stride / a_copy;
    const unsigned copies = (below + steps - 1) / steps * copies_a_word;
    const unsigned* places = v_.meets.places + RowMeetsView::first_word(number, lower) * stride;
#pragma unroll
    for (unsigned c = 0; c < stride / steps * copies_a_word; c += G) {
      if (c + q_ < copies) {
        device::copy_async<16>(to + offsetof(Staged, places) + 16 * (c + q_), places + a_copy * (c + q_));
      }
    }
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const unsigned e = entry(x);
      if (e < below) device::copy_async<4>(to + offsetof(Staged, records) + 4 * e, v_.meets.records + lower + e);
      unsigned source = e;
      if (v_.meets.sources) {
        source = e < count ? v_.meets.sources[std::int64_t{number} * stride + e] : RowMeetsView::no_place;
      }
      if (source < static_cast<unsigned>(head.entries)) {
        device::copy_async<8>(to + offsetof(Staged, w) + 8 * e, f_.A.values + of_A + source);
      } else {
        row().w[e] = 0;
      }
    }
    if (count == 0 || q_ != below % G) return 0;
    device::copy_async<8>(to + offsetof(Staged, scale), v_.known.scale + user);
    return v_.known.nonfinite[user];
  }

  /// Of the word-th four steps; what stands behind the row's entries is not its own.
  __device__ void load_places(unsigned word) {
#pragma unroll
    for (int x = 0; x < E; ++x) {
      places_[x] = ~0u;
      if (entry(x) <= count()) places_[x] = row().places[word * stride + entry(x)];
    }
  }

  // What a row does where `wanted`, else nothing. Not as branches: the compiler would copy the code for each way through
  // them and run out of registers.
  __device__ void load(double& x, unsigned where, bool wanted) const {
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.relaxed.gpu.global.f64 %0, [%1]; }"
                 : "+d"(x)
                 : "l"(words_ + where), "r"(static_cast<int>(wanted))
                 : "memory");
  }
  __device__ static void subtract(double& w, double l, double u, bool wanted) {
    asm("{ .reg .pred p; setp.ne.s32 p, %3, 0; @p fma.rn.f64 %0, %1, %2, %0; }"
        : "+d"(w)
        : "d"(-l), "d"(u), "r"(static_cast<int>(wanted)));
  }

  __device__ static constexpr unsigned bit(int x, unsigned s) { return 1u << (x * steps + s); }

  /// Asks for the words of a step, to be kept as the s-th; only rows that `go_on` change.
  __device__ void ask_step(unsigned s, unsigned step, bool go_on) {
    const bool is_there = go_on & (step < below_);
    const unsigned record = row().records[step % stride];
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const unsigned place = places_[x] >> 8 * s & 255;
      const bool any = is_there & (place != RowMeetsView::no_place);
      met_ = any ? met_ | bit(x, s) : go_on ? met_ & ~bit(x, s) : met_;
      u_[x][s] = go_on ? 0 : u_[x][s];
      load(u_[x][s], record + place, any);
    }
  }

  /// The step that is kept as the s-th, if it is the row's next and its words are there. All lanes; whether a row misses
  /// one.
  __device__ bool step(unsigned s) {
    const bool next = (at_ < below_) & (at_ % steps == s);
    bool absent = false;
#pragma unroll
    for (int x = 0; x < E; ++x) absent |= is_absent(u_[x][s]);
    const unsigned late = __ballot_sync(~0u, next & absent);
    const bool go_on = next & ((late & (~0u >> (32 - G)) << first_) == 0);
    if (!__any_sync(~0u, go_on)) return late != 0;
    double own = w_[0] * u_[0][s];
#pragma unroll
    for (int x = 1; x < E; ++x) {
      const double other = w_[x] * u_[x][s];
      own = at_ / G == static_cast<unsigned>(x) ? other : own;
    }
    const double l = __shfl_sync(~0u, own, first_ + at_ % G);
#pragma unroll
    for (int x = 0; x < E; ++x) {
      subtract(w_[x], l, u_[x][s], go_on & ((met_ & bit(x, s)) != 0));
      w_[x] = go_on & (entry(x) == at_) ? l : w_[x];
    }
    if (__any_sync(~0u, go_on & (at_ + steps < below_))) {
      ask_step(s, at_ + steps, go_on);
      if (s == steps - 1 && go_on) load_places(at_ / steps + 2);
    }
    at_ += go_on ? 1 : 0;
    return late != 0;
  }

  __device__ void ask_again() {
#pragma unroll
    for (unsigned s = 0; s < steps; ++s) {
      const unsigned step = at_ + (s - at_) % steps;
      const unsigned record = row().records[step % stride];
      const unsigned* places = row().places + step / steps % (stride / steps) * stride + q_;
#pragma unroll
      for (int x = 0; x < E; ++x) load(u_[x][s], record + (places[G * x] >> 8 * s & 255), is_absent(u_[x][s]));
    }
  }

  /// Everything that others wait for at once, then what is kept.
  __device__ void finish() {
    const bool has_diagonal = q_ == below_ % G;
    double diagonal = 1;
#pragma unroll
    for (int x = 0; x < E; ++x) diagonal = entry(x) == below_ ? w_[x] : diagonal;
    const bool bad = has_diagonal && !pivot_is_good(f_.rules, diagonal, row().scale);
    double inverse = 1.0 / diagonal;
    if (bad) {
      const JudgedPivot<double> judged = judge_inverse(v_, pivot(), diagonal);
      inverse = judged.used;
      change() = judged.change > change() ? judged.change : change();
    }
    const unsigned i = row().head[RowHead::row], lower = row().head[RowHead::lower], upper = row().head[RowHead::upper];
    const unsigned count = StagedRowLane::count();
    double* record = words_ + RowMeetsView::record(last_, i, upper);
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const unsigned e = entry(x);
      w_[x] = e == below_ ? inverse : w_[x];
      const unsigned place = e == below_  ? RowMeetsView::place_of_inverse
                             : e == count ? RowMeetsView::place_of_estimate
                                          : RowMeetsView::place_of_upper + e - below_ - 1;
      if (e >= below_ && e <= count) publish(record + place, w_[x]);
    }
#pragma unroll
    for (int x = 0; x < E; ++x) {
      const unsigned e = entry(x), after = e - below_ - 1;
      double* to = e < below_    ? f_.lower_values + lower + e
                   : e == below_ ? f_.inverse_diagonal + i
                   : e < count   ? f_.upper_values + upper + after
                                 : v_.estimate + row().head[RowHead::user];
      if (e <= count) *to = w_[x];
    }
    at_ = done();
  }

  const RowFactorView& v_;
  const FactorView<double>& f_;
  const unsigned last_;
  double* words_;
  const unsigned first_, q_;           // lane of the row's first entry; the own lane of the row
  unsigned below_ = 0, at_ = 1;        // the step that is next
  unsigned places_[E] = {}, met_ = 0;  // whether an entry meets a step that is under way
  double u_[E][steps] = {}, w_[E] = {};
};

template <int G, int E>
__global__ void __launch_bounds__(staged_row_threads, staged_row_blocks)
    staged_row_factor_kernel(const __grid_constant__ RowFactorView v) {
  device::wait_for_previous();
  device::let_next_begin();
  StagedRowLane<G, E> lane(v);
  for (bool stopped = false; !stopped && lane.take();) {
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
