// SPDX-License-Identifier: BSD-3-Clause
// Exact ILU of small blocks on a GPU where it is known how rows meet (row_meets.hpp): a warp a row, or two rows of blocks of
// up to four, blocks dealt out to the lanes as tensor cores have them (row_tile_lane.cuh); the operations of
// factor/rows/ilu_row.inl in their order. With w the row of A, for k ascending over its lower part:
//   L_ik = w_k D_k⁻¹,   w_j ← w_j − L_ik U_kj for j in U(k) ∩ pattern(i);   then D_i⁻¹, U_i = upper part of w,
// and y_i = 1 − Σ L_ik y_k, the lower half of the growth's estimate. w comes into shared memory (row_tile_feed.cuh), D_i is
// in registers. The values of C rows k are under way at once (row_factor_published.cuh), each in registers of its own: to
// move them on would wait for them. Two rows of a warp advance together, one after the other where the second needs the
// first. What bounds the growth (row_bounds.cuh) is found on the way. Seldom paths stand once and are not unrolled: a warp
// that goes through more than the instruction caches have waits for it. Bytes a row: 8 b² an entry of A and of the factors,
// what row_meets.hpp keeps, and of each k D_k⁻¹, y_k and the U_kj that meet the row. What a pass over A would measure
// (row_prepare.cuh) is found here, too, while the first rows k are on their way.
#pragma once

#include <limits>

#include "echelon/base/cuda/launch_behind.cuh"
#include "echelon/factor/rows_gpu/row_bounds.cuh"
#include "echelon/factor/rows_gpu/row_factor_judge.cuh"
#include "echelon/factor/rows_gpu/row_factor_published.cuh"
#include "echelon/factor/rows_gpu/row_tile_feed.cuh"

namespace echelon {

/// What a kernel is compiled for, besides the block size: rows a warp, rows dealt out beforehand or not, of each row k that is
/// under way blocks of U beside the one that meets the diagonal (others), rows k under way at once, and blocks of threads held
/// on a processor, for which registers are limited. Types, because nvcc's host code cannot name a struct's value in a kernel's
/// arguments. In short rows hardly anything but the diagonal is met, and three rows k are mostly all that there are. Elsewhere
/// those that one waits for come one after the other, and more blocks of each are asked for.
template <int B, bool is_dealt>
struct ShortRowsInTiles {
  static constexpr bool dealt = is_dealt;
  static constexpr int rows_a_warp = B <= 4 && is_dealt ? 2 : 1, others = 0, under_way = 3, blocks_held = B <= 4 ? 10 : 8;
};
template <int B, bool is_dealt>
struct LongRowsInTiles {
  static constexpr bool dealt = is_dealt;
  static constexpr int rows_a_warp = 1, others = B <= 4 ? 4 : 1, under_way = B <= 4 ? 1 : 2, blocks_held = B <= 4 ? 10 : 8;
};

/// Of each of C rows k: D_k⁻¹, y_k, the block of U that meets the diagonal, and M others.
template <int B, class Tuning>
class TileRow : public TileRowFeed<B, Tuning::rows_a_warp, Tuning::dealt> {
 public:
  static constexpr int Rows = Tuning::rows_a_warp, M = Tuning::others, C = Tuning::under_way;
  using Feed = TileRowFeed<B, Rows, Tuning::dealt>;
  using Lane = TileLane<B, Rows>;
  using Tile = typename Lane::Tile;
  using Feed::below, Feed::count, Feed::own, Feed::place, Feed::row, Feed::user;
  static constexpr int bb = B * B, halves = Lane::halves, half = Feed::half;

  __device__ explicit TileRow(const RowFactorView& view)
      : Feed(view),
        inverse_(f_.inverse_diagonal + at_.right()),
        upper_(f_.upper_values + at_.right()),
        y_of_(v_.estimate + at_.q) {
    // Opaque: the compiler would otherwise take sums apart, and an address would be four instructions instead of one.
    asm("" : "+l"(inverse_));
    asm("" : "+l"(upper_));
    asm("" : "+l"(y_of_));
    if (at_.q < 3 && at_.r < 8 && at_.works()) this->bounds()[8 * at_.q + at_.r] = 0;
  }

  /// A part of the work: both rows, or one after the other. `ahead` is called when the first values are on their way. False
  /// when everything stops. All lanes.
  template <class Ahead>
  __device__ bool run(bool apart, int part, const Ahead& ahead) {
    active_ = count > 0 && (!apart || at_.s == part);
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      // A block to invert in lanes that have none.
      D_[h] = at_.r == 4 * h + at_.q ? 1 : 0;
      if (active_ && at_.has(h)) device::load(own(below) + h * half, D_[h]);
      y_[h] = 1;
    }
    Flight flights[C];
    unrolled<C>([&](auto c) { ask<false>(flights[decltype(c)::value], decltype(c)::value); });
    ahead();
    measure();
    if (f_.rules.shift > 0) shift();
    unsigned long long begun = 0;
    unsigned looks = 0;
    int slot = 0;
#pragma unroll 1
    for (int t = 0; t < this->most_below;) {
      const int before = t;
      unrolled<C>([&](auto constant) {
        constexpr int c = decltype(constant)::value;
        if (slot != c || t >= this->most_below || __any_sync(~0u, lacks(flights[c]))) return;
        work(flights[c], t);
        if (t + C < this->most_below) ask<false>(flights[c], t + C);
        slot = (c + 1) % C;
        ++t;
      });
      if (t > before) {
        begun = 0;
        continue;
      }
      unrolled<C>([&](auto constant) {
        constexpr int c = decltype(constant)::value;
        ask<true>(flights[c], t + (c - slot + C) % C);
      });
      if (++looks % spins_between_looks == 0 && stops(t, begun)) return false;
    }
    return true;
  }

  /// What others wait for. `released` is called when the row waits for nothing more. All lanes.
  template <class Released>
  __device__ void finish(const Released& released) {
    double* to = f_.upper_values + std::int64_t{this->upper} * bb + at_.own();
#pragma unroll 1
    for (int e = below + 1; e < count && active_; ++e, to += bb) {
#pragma unroll
      for (int h = 0; h < halves; ++h) {
        if (!at_.has(h)) continue;
        double u;
        device::load(own(e) + h * half, u);
        publish(to + h * Lane::own_step, u);
      }
    }
    if (active_ && at_.q == 0 && at_.has(0)) publish(v_.estimate + std::int64_t{user} * B + at_.r, y_[0]);
    released();
    Tile inverse;
#pragma unroll
    for (int h = 0; h < halves; ++h) inverse[h] = D_[h];
    const bool plain = invert_plainly(at_, f_.rules.tolerance * scale_, inverse) && !f_.rules.positive && !nonfinite_;
    if (__any_sync(~0u, active_ && !plain)) settle(inverse);
    double* const D = f_.inverse_diagonal + std::int64_t{row} * bb + at_.own();
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      if (active_ && at_.has(h)) publish(D + h * Lane::own_step, inverse[h]);
    }
    bound(inverse);
  }

  /// What bounds the growth of the rows so far. All lanes.
  __device__ void report() const {
    const double most = at_.q < 2 && at_.has(0) ? this->bounds()[8 * at_.q + at_.r] : 0;
    note_bounds(v_.status, {0, at_.q == 0 ? most : 0, at_.q == 1 ? most : 0, repair::is_finite(most)});
    raise_seldom(v_.known.norm, at_.q == 2 && at_.r < B && at_.works() ? this->bounds()[16 + at_.r] : 0);
  }

 private:
  using Feed::at_, Feed::f_, Feed::v_;

  struct Flight {
    Tile d, y, u[M + 1];
    unsigned others;  // entries besides the diagonal that it meets
    bool diagonal;    // that it meets, too
  };

  /// The row of A, which is still w: its largest value, whether it holds NaN or Inf, and the sums of its rows, of which one
  /// that overflows does not count (on the host neither do the others of its block row). All lanes.
  __device__ void measure() {
    double sum = 0, largest = 0;
    bool finite = true;
#pragma unroll(halves == 1 ? 4 : 2)
    for (int e = 0; e < (active_ ? count : 0); ++e) {
#pragma unroll
      for (int h = 0; h < halves; ++h) {
        double a = 0;
        if (at_.has(h)) device::load(own(e) + h * half, a);
        const double size = magnitude(a);
        largest = size > largest ? size : largest;
        finite = finite && repair::is_finite(size);
        sum += size;
      }
    }
    // Lanes of one row of the blocks, then of all of them; the lanes of a warp's two rows take turns.
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      if (Rows == 2 && step == 4) continue;
      const double other = __shfl_xor_sync(~0u, largest, step);
      largest = other > largest ? other : largest;
      if (step < 4) sum += __shfl_xor_sync(~0u, sum, step);
    }
    scale_ = largest;
    nonfinite_ = at_.of_row(__ballot_sync(~0u, !finite)) != 0;
    if (active_ && !nonfinite_ && at_.q == 2 && at_.r < B && at_.works() && repair::is_finite(sum)) {
      double& most = this->bounds()[16 + at_.r];
      most = sum > most ? sum : most;
    }
  }

  __device__ void shift() {
    PivotWorkspace<double> work;
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      if (active_ && at_.has(h) && at_.r == 4 * h + at_.q) D_[h] = shifted(f_.rules, D_[h], scale_, work);
    }
    note_change(v_.status, work.change);
  }

  /// For step t, the first time, or `again` for what was not there. All lanes.
  template <bool again>
  __device__ void ask(Flight& to, int t) const {
    const bool go = active_ && t < below;
    const int n = go ? t : 0;
    const TileStep step = this->step(n);
    if (!again) {
      to.diagonal = go && step.diagonal != TileStep::no_block;
      to.others = go ? step.others : 0;
    }
    fetch_tile<again>(go, inverse_ + std::size_t{static_cast<unsigned>(step.k)} * bb, to.d);
    fetch_tile<again>(to.diagonal, upper_ + std::size_t{step.diagonal} * bb, to.u[0]);
    const double* y = y_of_ + std::size_t{static_cast<unsigned>(step.user)} * B;
#pragma unroll
    for (int h = 0; h < halves; ++h) fetch_value<again>(go && at_.r == 0 && at_.has(h), y + 4 * h, to.y[h]);
    if constexpr (M > 0) {
      const unsigned begin = this->begin_of(n);
      unsigned left = to.others;
#pragma unroll
      for (int m = 1; m <= M; ++m) fetch_other<again>(left, begin, n, to.u[m]);
    }
  }

  /// The first of the entries that are left, which is then no more.
  template <bool again>
  __device__ void fetch_other(unsigned& left, unsigned begin, int t, Tile& to) const {
    const bool wanted = left != 0;
    const unsigned its = place(static_cast<unsigned>(t), wanted ? __ffs(static_cast<int>(left)) - 1 : 0);
    fetch_tile<again>(wanted, upper_ + std::size_t{begin + its} * bb, to);
    left &= left - 1;
  }

  template <bool again>
  __device__ void fetch_tile(bool wanted, const double* from, Tile& to) const {
#pragma unroll
    for (int h = 0; h < halves; ++h) fetch_value<again>(wanted && at_.has(h), from + h * Lane::right_step, to[h]);
  }

  template <bool again>
  __device__ static void fetch_value(bool wanted, const double* from, double& to) {
    if constexpr (again) {
      fetch(is_absent(to), from, to);
    } else {
      fetch_or_zero(wanted, from, to);
    }
  }

  __device__ static bool lacks(const Flight& of) {
    bool lacking = false;
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      lacking = lacking | is_absent(of.d[h]) | is_absent(of.y[h]);
#pragma unroll
      for (int n = 0; n <= M; ++n) lacking = lacking | is_absent(of.u[n][h]);
    }
    return lacking;
  }

  /// Step t is waited for since `begun`, or from now on: whether in vain, or another row does so. All lanes.
  __device__ bool stops(int t, unsigned long long& begun) const {
    if (begun == 0) begun = device::nanoseconds();
    const bool late = device::nanoseconds() - begun > static_cast<unsigned long long>(v_.patience);
    if (late && active_ && t < below && atomicCAS(&v_.status->stuck_tile, 0, row + 1) == 0) {
      v_.status->stuck_level = this->step(t).k;
    }
    return __any_sync(~0u, late || *static_cast<volatile int*>(&v_.status->stuck_tile) != 0);
  }

  __device__ void work(const Flight& now, int t) {
    const bool go = active_ && t < below;
    Tile w, l;
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      w[h] = l[h] = -0.0;
      if (at_.has(h)) device::load(own(go ? t : 0) + h * half, w[h]);
    }
    at_.add_product(w, now.d, l);
    double* const L = f_.lower_values + (std::int64_t{this->lower} + t) * bb + at_.own();
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      if (go && at_.has(h)) L[h * Lane::own_step] = l[h];
      l[h] = -l[h];
    }
    at_.pad(l);
    subtract(Rows == 1 || go, l, now.y, y_);
    subtract(now.diagonal && at_.works(), l, now.u[0], D_);
    unsigned left = now.others;
#pragma unroll
    for (int m = 1; m <= M; ++m) subtract_other(left, l, now.u[m]);
    if (__any_sync(~0u, left != 0)) subtract_rest(left, l, t);
  }

  /// to ← to + l · right where `wanted`. All lanes.
  __device__ void subtract(bool wanted, const Tile& l, const Tile& right, Tile& to) const {
    Tile sum;
#pragma unroll
    for (int h = 0; h < halves; ++h) sum[h] = to[h];
    at_.add_product(l, right, sum);
#pragma unroll
    for (int h = 0; h < halves; ++h) to[h] = wanted ? sum[h] : to[h];
  }

  __device__ void subtract_other(unsigned& left, const Tile& l, const Tile& right) const {
    if (!__any_sync(~0u, left != 0)) return;
    const bool wanted = left != 0;
    const device::Address w = own(wanted ? __ffs(static_cast<int>(left)) - 1 : 0);
    Tile sum = {};
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      if (at_.has(h)) device::load(w + h * half, sum[h]);
    }
    at_.add_product(l, right, sum);
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      if (wanted && at_.has(h)) device::store(w + h * half, sum[h]);
    }
    left &= left - 1;
  }

  /// More blocks than are asked for ahead. Their row published them with the others: they are on their way.
  __device__ void subtract_rest(unsigned left, const Tile& l, int t) const {
    const int n = t < below ? t : 0;
    const unsigned begin = this->begin_of(n);
    do {
      Tile u;
      unsigned after = left;
      fetch_other<false>(after, begin, n, u);
      while (__any_sync(~0u, is_absent<halves>(u))) {
        after = left;
        fetch_other<true>(after, begin, n, u);
      }
      subtract_other(left, l, u);
    } while (__any_sync(~0u, left != 0));
  }

  /// Seldom: rows to exchange, a pivot that may be bad, a row of A that is not finite. All lanes.
  __device__ void settle(Tile& inverse) {
    const TileInverse<B, Rows> inverted(at_, D_);
    double* const room = this->judge_room();
    __syncwarp();
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      if (!at_.has(h)) continue;
      room[inverted.column[h] * B + at_.r] = inverted.a[h];
      room[2 * bb + at_.own() + h * Lane::own_step] = D_[h];
    }
    __syncwarp();
    if (active_ && at_.rank() == 0) {
      const RowPivot pivot{{row, std::int64_t{user} * B}, scale_, nonfinite_};
      if (nonfinite_) note_nonfinite_row(v_.status, pivot.place);
      if (!pivot_is_good(f_.rules, inverted.smallest, scale_) || f_.rules.positive) {
        note_change(v_.status, judge_block(v_, pivot, room, exact_smallest(room, inverted.smallest)));
      }
    }
    __syncwarp();
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      if (at_.has(h)) inverse[h] = room[at_.own() + h * Lane::own_step];
    }
  }

  /// With a pivot that was 0 or NaN the inversion says less than the host's.
  __device__ double exact_smallest(double* room, double smallest) const {
    if (smallest > 0) return smallest;
    for (int n = 0; n < bb; ++n) room[n] = room[2 * bb + n];
    return echelon::invert<0>(B, room, reinterpret_cast<int*>(room + 3 * bb));
  }

  /// Rows of |D⁻¹||U|e and |D⁻¹||y|, sums in the order of row_bounds.cuh. All lanes.
  __device__ void bound(const Tile& inverse) {
    // Other lanes' places of w are read.
    __syncwarp();
    double above = 0;
#pragma unroll 1
    for (int e = below + 1; e < count && active_; ++e) {
#pragma unroll
      for (int c = 0; c < B; ++c) {
        double u;
        device::load(this->entry(e) + 8 * (c * B + (at_.r < B ? at_.r : 0)), u);
        above += magnitude(u);
      }
    }
    double upper[halves], solved[halves];
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      const int from = at_.of(4 * h + at_.q, 0);
      upper[h] = magnitude(inverse[h]) * __shfl_sync(~0u, above, from);
      solved[h] = magnitude(inverse[h]) * magnitude(__shfl_sync(~0u, y_[0], from));
    }
    double upper_sum = 0, solved_sum = 0;
#pragma unroll
    for (int c = 0; c < B; ++c) {
      upper_sum += __shfl_sync(~0u, upper[c / 4], at_.lane - at_.q + c % 4);
      solved_sum += __shfl_sync(~0u, solved[c / 4], at_.lane - at_.q + c % 4);
    }
    if (active_ && at_.q < 2 && at_.has(0)) {
      double& most = this->bounds()[8 * at_.q + at_.r];
      most = larger(most, at_.q == 0 ? upper_sum : solved_sum);
    }
  }
  /// Infinite when one is not finite.
  __device__ static double larger(double x, double other) {
    return other <= x ? x : repair::is_finite(other) ? other : std::numeric_limits<double>::infinity();
  }

  const double *inverse_, *upper_, *y_of_;  // at the lane's place of a right factor
  bool active_ = false;
  bool nonfinite_ = false;
  double scale_ = 0;
  Tile D_, y_;
};

template <int B, class Tuning>
__global__ void __launch_bounds__(tile_row_threads, Tuning::blocks_held)
    tile_row_factor_kernel(const __grid_constant__ RowFactorView v) {
  device::wait_for_previous();
  device::let_next_begin();
  constexpr bool dealt = Tuning::dealt;
  TileRow<B, Tuning> rows(v);
  if constexpr (dealt) {
    // Without a ticket left there is no attempt (row_prepare.cuh).
    if (v.status->ticket != 0) return;
    rows.ask_head();
    rows.wait_for_head();
    rows.change_rooms();
    rows.fetch_row();
    rows.ask_head();
  } else {
    rows.ask_ticket();
  }
  for (bool stopped = false; !stopped;) {
    if constexpr (!dealt) {
      rows.draw_ticket();
      rows.ask_head();
      rows.wait_for_head();
      rows.fetch_row();
    }
    const int parts = rows.take();
    if (parts == 0) break;
#pragma unroll 1
    for (int part = 0; part < parts && !stopped; ++part) {
      const auto ahead = [&] {
        if (!dealt || part > 0) return;
        rows.fetch_row();
        rows.ask_head();
      };
      const auto released = [&] {
        if (!dealt && part + 1 == parts) rows.ask_ticket();
      };
      stopped = !rows.run(parts > 1, part, ahead);
      if (!stopped) rows.finish(released);
    }
  }
  rows.report();
}

}  // namespace echelon
