// SPDX-License-Identifier: BSD-3-Clause
// Exact ILU of blocks of two and three in rows of up to 31 entries on a GPU: G lanes a row, each with S columns of its
// blocks, b values of a block's column in registers; the operations of factor/rows/ilu_row.inl in their order. With w the
// row of A, for k ascending:
//   L_ik = w_k D_k⁻¹,   w_j ← w_j − L_ik U_kj for j in U(k) ∩ pattern(i);   then D_i⁻¹, U_i = upper part of w.
// One column more has y_i = 1 − Σ L_ik y_k, the lower half of the growth's estimate. All three are a block that everyone
// reads from shared memory times a column that only its lane needs. Where U(k) meets the row is kept (row_meets.hpp); the
// columns of C rows k are under way at once and taken in order as they come (row_factor_published.cuh). Rows of a warp
// advance side by side, so one may wait for another. A ticket is taken only when the row before it waits for nothing more:
// rows that a waiting warp held back would make others wait. Bytes a row: 8 b² an entry of A and of the factors, what
// row_meets.hpp keeps, and of each k D_k⁻¹, y_k and the U_kj that meet the row.
#pragma once

#include "echelon/base/cuda/launch_behind.cuh"
#include "echelon/factor/blocks_gpu/block_inverse.cuh"
#include "echelon/factor/blocks_gpu/load_column.cuh"
#include "echelon/factor/blocks_gpu/tensor_step.cuh"
#include "echelon/factor/rows_gpu/row_factor_judge.cuh"
#include "echelon/factor/rows_gpu/row_factor_published.cuh"

namespace echelon {

constexpr int column_row_threads = 128;

/// What a kernel is compiled for, besides the block size: lanes of a row, columns that each of them has, rows k under way at
/// once, and blocks of threads held on a processor, for which registers are limited. What was fastest on an H200, more rows
/// under way before more steps of each. Types, because nvcc's host code cannot name a struct's value in a kernel's arguments.
struct ShortRowsOfTwo {
  static constexpr int lanes = 16, columns = 1, under_way = 2, blocks_held = 7;
};
struct LongRowsOfTwo {
  static constexpr int lanes = 32, columns = 2, under_way = 2, blocks_held = 5;
};
struct ShortRowsOfThree {
  static constexpr int lanes = 32, columns = 1, under_way = 2, blocks_held = 6;
};
struct LongRowsOfThree {
  static constexpr int lanes = 32, columns = 3, under_way = 1, blocks_held = 4;
};

template <int B, class Tuning>
class ColumnRow {
 public:
  static constexpr int G = Tuning::lanes, S = Tuning::columns, C = Tuning::under_way;
  static constexpr int rows_a_warp = 32 / G, steps = RowMeetsView::steps_a_word;
  static constexpr int most_entries = (G * S - 1) / B;
  static_assert(most_entries < G && RowHead::words <= G, "a lane has an entry's place in the patterns, and a word of heads");

  /// Shared memory of a row: the blocks w_k and L_ik; when it ends, D⁻¹, one to try, D, and the swaps. Then for every four k
  /// which word of each of them the row's entries need.
  struct __align__(16) Room {
    double blocks[3 * B * B + (B + 1) / 2];
    unsigned places[(most_entries + steps - 1) / steps * G];
  };

  __device__ ColumnRow(const RowFactorView& view, Room* rooms)
      : v_(view),
        f_(view.rows),
        last_(view.rows.A.block_rows - 1),
        first_(threadIdx.x % 32 / G * G),
        e_(threadIdx.x % G),
        room_(rooms[threadIdx.x / G]) {}

  __device__ bool is_open() const { return open_; }

  /// All lanes: asks for the next rows, and says which the first of them is.
  __device__ void ask_ticket() {
    if (threadIdx.x % 32 == 0) ticket_ = atomicAdd(&v_.status->ticket, 1u);
  }
  __device__ std::int64_t first_row() const {
    return std::int64_t{__shfl_sync(~0u, ticket_, 0)} * rows_a_warp + v_.first_ticket;
  }

  /// Begins with the warp's rows from a ticket on, each where it is `wanted`. All lanes.
  __device__ void open(std::int64_t first_ticket, bool wanted) {
    const std::int64_t ticket = first_ticket + first_ / G;
    open_ = wanted && ticket <= last_;
    unsigned word = 0;
    if (open_ && e_ < RowHead::words) word = __ldg(v_.meets.heads + ticket * RowHead::words + e_);
    const auto field = [&](RowHead::Word which) { return __shfl_sync(~0u, word, first_ + which); };
    i_ = static_cast<std::int32_t>(field(RowHead::row));
    user_ = static_cast<std::int32_t>(field(RowHead::user));
    const unsigned lower = field(RowHead::lower);
    upper_ = field(RowHead::upper);
    const unsigned of_A = field(RowHead::of_A);
    const RowHead head = RowHead::unpacked(field(RowHead::counts));
    below_ = head.below;
    count_ = head.count;
    column_ = user_k_ = 0;
    begin_k_ = 0;
    if (e_ < below_) {
      column_ = i_ - static_cast<const std::int32_t*>(f_.lower_distance)[lower + e_];
      begin_k_ = __ldg(v_.meets.records + lower + e_);
    }
    unsigned places[most_entries / steps + 1];
    load_places(lower, places);
    if (open_) {
      scale_ = v_.known.scale[user_];
      nonfinite_ = v_.known.nonfinite[user_];
    }
    load_row(of_A);
    if (e_ < below_) {
      begin_k_ = RowMeetsView::upper_start(last_, column_, begin_k_);
      user_k_ = f_.order ? f_.order[column_] : column_;
    }
    keep_places(places);
    open_diagonal();
    forget_columns();
    t_ = slot_ = 0;
    needed_ = 0;
    unrolled<C>([&](auto c) { prepare<decltype(c)::value>(open_, c); });
  }

  enum class Progress { none, some, ended, judge };

  /// The next step of each row, where all it needs has come; asks again where nothing has. All lanes; whether one of the
  /// warp's rows has gone on, all have ended, or one has ended that must be judged.
  __device__ Progress advance() {
    const unsigned of_group = G == 32 ? ~0u : ((1u << G % 32) - 1) << first_;
    auto progress = Progress::none;
    unrolled<C>([&](auto constant) {
      constexpr int c = decltype(constant)::value;
      const bool turn = open_ && slot_ == c && t_ < below_;
      if (__any_sync(~0u, turn)) {
        const unsigned lacking = __ballot_sync(~0u, lacks<c>()) & of_group;
        const bool go = turn && lacking == 0;
        if (__any_sync(~0u, go)) {
          eliminate<c>(go);
          prepare<c>(go, t_ + C);
          if (go) ++t_, slot_ = (c + 1) % C;
          progress = Progress::some;
        }
      }
    });
    const bool done = open_ && t_ >= below_;
    if (__any_sync(~0u, done)) {
      if (finish(done)) return Progress::judge;
      if (G == 32 || !__any_sync(~0u, open_)) return Progress::ended;
      progress = Progress::some;
    }
    if (progress == Progress::none) ask_again();
    return progress;
  }

  /// Cold: a row of A that is not finite, and a pivot that may be bad. All lanes. What is under way of other rows is not
  /// kept: none of it was written yet, so they are opened again.
  __device__ void judge() {
    if (notable_ && e_ == 0) {
      if (nonfinite_) note_nonfinite_row(v_.status, pivot().place);
      if (!good_) note_change(v_.status, judge_block(v_, pivot(), room_.blocks, smallest_));
    }
    __syncwarp();
    for (int n = e_; n < bb && notable_ && !good_; n += G) publish(inverse() + n, room_.blocks[n]);
    __syncwarp();
  }

  /// The row that the next step needs, told by one lane; −1 by the others.
  __device__ std::int32_t waits_for() const { return open_ && e_ == t_ ? column_ : -1; }
  __device__ std::int32_t number() const { return i_; }

 private:
  static constexpr int bb = B * B;

  /// Of a slot: the entry of its column, and which of the entry's columns it is.
  __device__ int entry(int s) const { return (e_ + G * s) / B; }
  __device__ int part(int s) const { return (e_ + G * s) % B; }
  __device__ bool is_estimate(int s) const { return open_ && e_ + G * s == count_ * B; }
  /// Which word of the t-th k an entry needs.
  __device__ unsigned place(int t, int entry) const {
    return reinterpret_cast<const unsigned char*>(room_.places + t / steps * G + entry)[t % steps];
  }

  /// A lane has those of its entry, four k a word; all of them on their way before the first is kept.
  __device__ void load_places(unsigned lower, unsigned (&places)[most_entries / steps + 1]) const {
    const unsigned* from = v_.meets.places + RowMeetsView::first_word(i_, lower) * v_.meets.stride + (e_ < count_ ? e_ : 0);
#pragma unroll
    for (int n = 0; n <= most_entries / steps; ++n) {
      places[n] = ~0u;
      if (n * steps < below_ && e_ < count_) places[n] = __ldg(from + n * v_.meets.stride);
    }
  }
  __device__ void keep_places(const unsigned (&places)[most_entries / steps + 1]) {
#pragma unroll
    for (int n = 0; n <= most_entries / steps; ++n) {
      if (n * steps < below_ && e_ < count_) room_.places[n * G + e_] = places[n];
    }
    __syncwarp();
  }

  /// The row's columns; A's row begins with that entry.
  __device__ void load_row(unsigned of_A) {
#pragma unroll
    for (int s = 0; s < S; ++s) {
      unsigned from = entry(s) < count_ ? static_cast<unsigned>(entry(s)) : RowMeetsView::no_place;
      if (v_.meets.sources && entry(s) < count_) {
        from = v_.meets.sources[std::int64_t{i_} * v_.meets.stride + entry(s)];
      }
#pragma unroll
      for (int r = 0; r < B; ++r) w_[s][r] = is_estimate(s) ? 1 : 0;
      if (from != RowMeetsView::no_place) {
        load_column<B>(f_.A.values + ((std::int64_t{of_A} + from) * B + part(s)) * B, w_[s]);
      }
    }
  }

  __device__ void open_diagonal() {
    if (f_.rules.shift > 0) {
#pragma unroll
      for (int s = 0; s < S; ++s) {
        if (!open_ || entry(s) != below_) continue;
        PivotWorkspace<double> work;
#pragma unroll
        for (int r = 0; r < B; ++r) {
          if (r == part(s)) w_[s][r] = shifted(f_.rules, w_[s][r], scale_, work);
        }
        note_change(v_.status, work.change);
      }
    }
  }

  /// Asks for the columns that this lane needs of step t, in the c-th of those under way. All lanes; only rows that `go`
  /// change.
  template <int c>
  __device__ void prepare(bool go, int t) {
    const int from = (first_ + t) % 32;
    const std::int64_t k = __shfl_sync(~0u, column_, from), user = __shfl_sync(~0u, user_k_, from);
    const std::int64_t begin = __shfl_sync(~0u, begin_k_, from);
#pragma unroll
    for (int s = 0; s < S; ++s) {
      const double* at = nullptr;
      if (go && t < below_) {
        if (entry(s) == t) at = f_.inverse_diagonal + (k * B + part(s)) * B;
        if (entry(s) > t && entry(s) < count_) {
          const unsigned in_record = place(t, entry(s));
          if (in_record != RowMeetsView::no_place) {
            at = f_.upper_values + ((begin + in_record - RowMeetsView::place_of_upper) * B + part(s)) * B;
          }
        }
        if (is_estimate(s)) at = v_.estimate + user * B;
      }
      if (go) {
        where_[c][s] = at;
        needed_ = at ? needed_ | bit(c, s) : needed_ & ~bit(c, s);
      }
      fetch_column<B>(at != nullptr, at, u_[c][s]);
    }
  }

  __device__ static constexpr unsigned bit(int c, int s) { return 1u << (c * S + s); }

  template <int c>
  __device__ bool lacks() const {
    bool lacking = false;
#pragma unroll
    for (int s = 0; s < S; ++s) lacking = lacking || ((needed_ & bit(c, s)) != 0 && is_absent<B>(u_[c][s]));
    return lacking;
  }

  __device__ void ask_again() {
#pragma unroll
    for (int c = 0; c < C; ++c) {
#pragma unroll
      for (int s = 0; s < S; ++s) {
        fetch_column<B>((needed_ & bit(c, s)) != 0 && is_absent<B>(u_[c][s]), where_[c][s], u_[c][s]);
      }
    }
  }

  template <int c>
  __device__ void eliminate(bool go) {
    const int t = t_;
    double* W = room_.blocks;
    double* L = W + bb;
#pragma unroll
    for (int s = 0; s < S; ++s) {
      if (go && entry(s) == t) {
#pragma unroll
        for (int r = 0; r < B; ++r) W[part(s) * B + r] = w_[s][r];
      }
    }
    __syncwarp();
#pragma unroll
    for (int s = 0; s < S; ++s) {
      if (go && entry(s) == t) {
        product<B>(B, W, u_[c][s], w_[s]);
#pragma unroll
        for (int r = 0; r < B; ++r) L[part(s) * B + r] = w_[s][r];
      }
    }
    __syncwarp();
#pragma unroll
    for (int s = 0; s < S; ++s) {
      if (go && (needed_ & bit(c, s)) != 0 && entry(s) != t) subtract_product<B>(B, L, u_[c][s], w_[s]);
    }
  }

  /// Tells the compiler that columns of the row before are of no use.
  __device__ void forget_columns() {
#pragma unroll
    for (int c = 0; c < C; ++c) {
#pragma unroll
      for (int s = 0; s < S; ++s) {
        asm("" : "=l"(where_[c][s]));
#pragma unroll
        for (int r = 0; r < B; ++r) asm("" : "=d"(u_[c][s][r]));
      }
    }
  }

  /// All lanes; the rows that are `done`. True when one of them must be judged.
  __device__ bool finish(bool done) {
    double* D = room_.blocks + 2 * bb;
#pragma unroll
    for (int s = 0; s < S; ++s) {
      if (!done) continue;
      if (entry(s) > below_ && entry(s) < count_) {
        publish_column<B>(f_.upper_values + ((std::int64_t{upper_} + entry(s) - below_ - 1) * B + part(s)) * B, w_[s]);
      }
      if (is_estimate(s)) publish_column<B>(v_.estimate + std::int64_t{user_} * B, w_[s]);
      if (entry(s) == below_) {
#pragma unroll
        for (int r = 0; r < B; ++r) D[part(s) * B + r] = w_[s][r];
      }
    }
    __syncwarp();
    if (!__any_sync(~0u, open_ && !done)) ask_ticket();
    static_assert(B <= 3 || G == 32, "a warp inverts larger blocks");
    const InvertedBlock<B> inverted(D, e_);
    smallest_ = inverted.smallest;
    good_ = pivot_is_good(f_.rules, smallest_, scale_) && !f_.rules.positive;
    if (done && good_) {
      inverted.store([&](int at, double x) { publish(inverse() + at, x); });
    } else if (done) {
      inverted.store([&](int at, double x) { room_.blocks[at] = x; });
    }
    if (done) {
      store_lower();
      open_ = false;
    }
    notable_ = done && (!good_ || nonfinite_ != 0);
    __syncwarp();
    return __any_sync(~0u, notable_);
  }

  __device__ double* inverse() const { return f_.inverse_diagonal + std::int64_t{i_} * bb; }

  __device__ void store_lower() {
    const std::int64_t begin = f_.lower_start[i_];
#pragma unroll
    for (int s = 0; s < S; ++s) {
      if (entry(s) >= below_) continue;
      double* L = f_.lower_values + ((begin + entry(s)) * B + part(s)) * B;
      if constexpr (B % 2 == 0) {
#pragma unroll
        for (int r = 0; r < B; r += 2) *reinterpret_cast<double2*>(L + r) = {w_[s][r], w_[s][r + 1]};
      } else {
#pragma unroll
        for (int r = 0; r < B; ++r) L[r] = w_[s][r];
      }
    }
  }

  __device__ RowPivot pivot() const { return {{i_, std::int64_t{user_} * B}, scale_, nonfinite_ != 0}; }

  const RowFactorView& v_;
  const FactorView<double>& f_;
  const std::int64_t last_;
  const int first_, e_;  // lane of the row's first; the own one, counted from there
  Room& room_;
  unsigned ticket_ = 0;
  bool open_ = false, good_ = true, notable_ = false;  // of the row that has ended: its pivot; whether to judge it
  std::uint8_t nonfinite_ = 0;
  int below_ = 0, count_ = 0;
  int t_ = 0, slot_ = 0;  // the next step, and which of those under way it is
  std::int32_t i_ = 0, user_ = 0;
  unsigned upper_ = 0;
  // In the lower part: k, its number in A, and where U(k) begins.
  std::int32_t column_ = 0, user_k_ = 0;
  unsigned begin_k_ = 0;
  unsigned needed_ = 0;
  const double* where_[C][S];
  double u_[C][S][B], w_[S][B], scale_ = 0, smallest_ = 0;
};

template <int B, class Tuning>
__global__ void __launch_bounds__(column_row_threads, Tuning::blocks_held)
    column_row_factor_kernel(const __grid_constant__ RowFactorView v) {
  using Row = ColumnRow<B, Tuning>;
  __shared__ typename Row::Room rooms[column_row_threads / Tuning::lanes];
  device::wait_for_previous();
  device::let_next_begin();
  Row row(v, rooms);
  row.ask_ticket();
  std::int64_t begin = row.first_row();
  for (bool stopped = false, again = false; !stopped && begin < v.rows.A.block_rows;) {
    row.open(begin, !again || row.is_open());
    auto progress = Row::Progress::none;
    unsigned long long begun = 0;
    for (unsigned looks = 1; !stopped; ++looks) {
      progress = row.advance();
      if (progress == Row::Progress::ended || progress == Row::Progress::judge) break;
      if (progress == Row::Progress::some) begun = 0;
      if (looks % spins_between_looks != 0) continue;
      stopped = waits_in_vain(v, row, begun);
    }
    if (progress == Row::Progress::judge) row.judge();
    again = __any_sync(~0u, row.is_open());
    if (!again) begin = row.first_row();
  }
}

}  // namespace echelon
