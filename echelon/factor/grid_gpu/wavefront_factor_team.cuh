// SPDX-License-Identifier: BSD-3-Clause
// The factorization of blocks b = 2 … 8 on a stencil known at compile time (static_plan.hpp). A warp runs a team of
// neighbouring lines from end to end and keeps their whole rows in registers from A to the factors; how many lines, and
// which lane has what, is wavefront_factor_tensor_lanes.cuh's and, for b = 2 and 3, wavefront_factor_single_lanes.cuh's to
// say. Teams wait for each other, not for levels: nothing but the rows' own arithmetic is between a point and the next of
// its line. A's row is asked for before the neighbours are waited for, neighbours' blocks some products ahead. Bytes a row:
// 8 b² for each entry, read and written; neighbours' U and D⁻¹ come from the second-level cache, which is told to keep them
// and to let A and L go.
#pragma once

#include "echelon/factor/grid_gpu/wavefront_factor_team_walk.cuh"

namespace echelon {

template <class Static, int B, bool apart>
class FactorTeam : TeamWalk<Static, B, apart> {
  using Walk = TeamWalk<Static, B, apart>;
  using typename Walk::Found;

 public:
  using typename Walk::Room;
  __device__ FactorTeam(const WavefrontFactorView<double>& v, Room& room) : Walk(v, room), lanes_(this->lane_) {}

  __device__ void run() {
    while (take()) {
      for (int level = first_; level < end_; ++level) {
        if (!row(level)) return;
        publish(level);
      }
    }
    raise_by_warp(&v_.status->norm, norm_);
    raise_by_warp(&v_.status->change, change_);
    // Bounds on the factors would cost more than the two sweeps they spare.
    if (lane_ == 0) atomicOr(&v_.status->not_bounded, 1u);
  }

 private:
  using Walk::E, Walk::C, Walk::sets, Walk::near_in_registers;
  using Walk::take, Walk::find, Walk::note, Walk::fetch, Walk::wait, Walk::publish;
  using Walk::v_, Walk::room_, Walk::lane_, Walk::policies_, Walk::y_, Walk::z_, Walk::first_, Walk::end_, Walk::turn_;
  using Lanes = TeamLanes<B>;
  static constexpr int V = Lanes::values, F = Lanes::factors;
  static constexpr bool asks_before_measuring = E <= 13 || can_be_apart<B> || B == 3;  // others have no registers for it
  static constexpr int steps = count_team_steps<Static>();
  static constexpr int ahead = steps < Lanes::asked_ahead ? steps : Lanes::asked_ahead;

  /// False when everything stops.
  __device__ __forceinline__ bool row(int level) {
    const int next_turn = turn_ == 2 ? 0 : turn_ + 1, last_turn = next_turn == 2 ? 0 : next_turn + 1;
    const PointValues<double>* near = room_.at[turn_] + lanes_.line * (C + 1);
    const PointValues<double> own = near[C];
    on_ = own.run != 0;
    double w[E][V];
    load_A(own, w);
    Found found[sets];
    find(level + 2, found);
    fetch(level, room_.at[next_turn][C]);
    if (!wait(level)) return false;
    if constexpr (!near_in_registers) note(last_turn, found);  // in the place of the level before
    Asked asked;
    if constexpr (asks_before_measuring) unrolled<ahead>([&](auto n) { ask<n>(near, asked); });
    leave_out(level, w);
    Measured A = measure(w);
    if (v_.rules.shift > 0) shift(w[C], A.scale);
    if constexpr (!asks_before_measuring) unrolled<ahead>([&](auto n) { ask<n>(near, asked); });
    const auto store = [&](auto e) {
#pragma unroll
      for (int v = 0; v < V; ++v) {
        double* to = column_of(own.at + (lanes_.column(v) * own.run + lanes_.row), own.run, e * B);
        if (!on_ || !lanes_.holds(v)) continue;
        if constexpr (e < C) {  // nobody reads L again before the sweeps: the first to leave the caches
          __stcs(to, w[e][v]);
        } else if constexpr (apart) {
          store_to_stay(to, w[e][v], policies_.stays);
        } else {
          *to = w[e][v];
        }
      }
    };
    eliminate(near, asked, w, store);
    unrolled<E>([&](auto e) {
      if constexpr (e > C) {
        if constexpr (!Static::plan.diagonal_only || apart) store(e);
      }
    });
    finish(level, own, A, w[C]);
    store(std::integral_constant<int, C>{});
    if constexpr (near_in_registers) note(last_turn, found);
    turn_ = next_turn;
    return true;
  }

  /// Lanes without a value of a block read what others do: without branches or predicates all are under way together.
  __device__ __forceinline__ void load_A(const PointValues<double>& own, double (&w)[E][V]) const {
    const double* from[V];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      from[v] = own.at + ((apart && on_ ? v_.to_source() : 0) + (lanes_.column(v) * own.run + lanes_.row));
    }
    unrolled<E * V>([&](auto n) {
      const double* at = column_of(from[n % V], own.run, n / V * B);
      if constexpr (apart) {
        w[n / V][n % V] = load_once(at, policies_.leaves);
      } else {  // to be written again: ordinary in the caches
        w[n / V][n % V] = load_shared_by_all(at);
      }
    });
  }

  /// Entries that leave the grid count as zero, whatever A has there.
  __device__ __forceinline__ void leave_out(int level, double (&w)[E][V]) const {
    const Wavefront& front = v_.vector.front;
    const int y = y_ + lanes_.line, i = level - front.line_start(y, z_), j = y - front.c * z_;
    const bool whole = i >= v_.before.x && i + v_.after.x < front.nx && j >= v_.before.y && j + v_.after.y < front.ny &&
                       z_ >= v_.before.z && z_ + v_.after.z < front.nz;
    if (__all_sync(whole_warp, whole)) return;
    unrolled<E>([&](auto e) {
      constexpr Offset o = Static::plan.offset[e];
      const auto within = [](int x, int n) { return static_cast<unsigned>(x) < static_cast<unsigned>(n); };
      const bool has = within(i + o.x, front.nx) && within(j + o.y, front.ny) && within(z_ + o.z, front.nz);
#pragma unroll
      for (int v = 0; v < V; ++v) w[e][v] = has ? w[e][v] : 0;
    });
  }

  /// Of a point's rows of A.
  struct Measured {
    double size;   // the row's sum
    double scale;  // the largest value of the block row: in place, where A is lost, or when shifts ask for it
    double bound;  // as large at least
    bool finite;
  };
  __device__ __forceinline__ Measured measure(const double (&w)[E][V]) const {
    constexpr int chains = 2;  // of operations that wait for each other
    double sum[chains] = {};
    unrolled<E * V>([&](auto n) {
      constexpr int v = n % V;
      sum[n % chains] += lanes_.counts(v) ? magnitude(w[n / V][v]) : 0;
    });
    Measured A{};
    A.size = lanes_.sum_of_row(lanes_.used ? sum[0] + sum[1] : 0);
    // A sum of sizes is finite only when all of them are; when they are and it is not, the row is looked at again.
    A.finite = repair::is_finite(A.size);
    if (!__all_sync(whole_warp, A.finite)) {
      bool finite = true;
      unrolled<E * V>([&](auto n) { finite = finite && repair::is_finite(w[n / V][n % V]); });
      A.finite = !lanes_.used || finite;
    }
    A.finite = !lanes_.any_of_line(!A.finite);
    const bool is_asked_for = !apart || v_.rules.shift > 0;
    A.scale = is_asked_for ? largest(w) : 0;
    A.bound = is_asked_for ? A.scale : lanes_.largest_of_line(A.size);
    return A;
  }
  /// The largest |value| of the point's rows.
  __device__ __forceinline__ double largest(const double (&w)[E][V]) const {
    double scale = 0;
    unrolled<E * V>([&](auto n) {
      const double size = magnitude(w[n / V][n % V]);
      scale = size > scale ? size : scale;
    });
    return lanes_.largest_of_line(lanes_.used ? scale : 0);
  }
  __device__ void shift(double (&d)[V], double scale) {
    PivotWorkspace<double> work;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (on_ && lanes_.holds(v) && lanes_.column(v) == lanes_.row) d[v] = shifted(v_.rules, d[v], scale, work);
    }
    change_ = work.change > change_ ? work.change : change_;
  }

  /// Neighbours' blocks on their way, as right factors.
  struct Asked {
    double block[ahead][F];
    const double* from;
    int run;
  };
  template <int n>
  __device__ __forceinline__ void ask(const PointValues<double>* near, Asked& asked) const {
    constexpr TeamStep step = team_steps<Static>.step[n];
    if constexpr (step.target < 0) {
      const PointValues<double> point = near[step.lower];
      asked.from = lanes_.right_place(point);
      asked.run = point.run;
    }
    lanes_.ask(column_of(asked.from, asked.run, step.entry * B), asked.block[n % ahead]);
  }

  template <class Store>
  __device__ __forceinline__ void eliminate(const PointValues<double>* near, Asked& asked, double (&w)[E][V],
                                            const Store& store) const {
    double L[F];
    unrolled<steps>([&](auto n) {
      constexpr TeamStep step = team_steps<Static>.step[n];
      double u[F];
#pragma unroll
      for (int k = 0; k < F; ++k) u[k] = asked.block[n % ahead][k];
      if constexpr (n + ahead < steps) ask<n + ahead>(near, asked);
      if constexpr (step.target < 0) {
        constexpr int m = step.lower;
        double a[F], product[V];
#pragma unroll
        for (int v = 0; v < V; ++v) product[v] = -0.0;
        lanes_.template left<false>(w[m], a, room_.scratch);
        lanes_.multiply(a, u, product);
        const bool has = near[m].run != 0;
#pragma unroll
        for (int v = 0; v < V; ++v) w[m][v] = has ? product[v] : 0;
        store(std::integral_constant<int, m>{});
        lanes_.template left<true>(w[m], L, room_.scratch);
      } else {
        lanes_.multiply(L, u, w[step.target]);
      }
    });
  }

  /// d ← d⁻¹, judged: by a bound on the row's scale, and by the scale itself where that says too little.
  __device__ __forceinline__ void finish(int level, const PointValues<double>& own, Measured& A, double (&d)[V]) {
    const Wavefront& front = v_.vector.front;
    double kept[V];
#pragma unroll
    for (int v = 0; v < V; ++v) kept[v] = d[v];
    const double smallest = lanes_.invert(d, room_.scratch);
    if (on_ && A.size <= std::numeric_limits<double>::max() && A.size > norm_) norm_ = A.size;
    const auto is_suspect = [&](double scale) {
      return on_ && (v_.rules.positive || !A.finite || !pivot_is_good(v_.rules, smallest, scale));
    };
    if (!__any_sync(whole_warp, is_suspect(A.bound))) return;
    if (apart && !(v_.rules.shift > 0)) {
      double w[E][V];
      load_A(own, w);
      leave_out(level, w);
      A.scale = largest(w);
    }
    const bool suspect = is_suspect(A.scale);
    const int y = y_ + lanes_.line;
    const std::int64_t point =
        (std::int64_t{z_} * front.ny + (y - front.c * z_)) * front.nx + (level - front.line_start(y, z_));
    judge({point, point * B}, suspect, A, smallest, d, kept);
  }

  /// Blocks that may be bad: one thread of each looks.
  __device__ __forceinline__ void judge(PivotPlace place, bool suspect, const Measured& A, double smallest, double (&d)[V],
                                        const double (&kept)[V]) {
    double* room = room_.judged + lanes_.line * 4 * B * B;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (!suspect || !lanes_.holds(v)) continue;
      room[lanes_.column(v) * B + lanes_.row] = d[v];
      room[(2 * B + lanes_.column(v)) * B + lanes_.row] = kept[v];
    }
    __syncwarp();
    if (suspect && lanes_.leads()) {
      if (!A.finite) note_nonfinite_row(v_, place);
      if (v_.rules.positive || !pivot_is_good(v_.rules, smallest, A.scale)) {
        const double change = judge_block<B>(v_, place, room, smallest, A.scale, !A.finite);
        change_ = change > change_ ? change : change_;
      }
    }
    __syncwarp();
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (suspect && lanes_.holds(v)) d[v] = room[lanes_.column(v) * B + lanes_.row];
    }
  }

  const Lanes lanes_;
  bool on_ = false;  // the lane's line has a point at the level
  double norm_ = 0, change_ = 0;
};

/// Blocks of threads that a processor's registers are shared by: long rows take all that a thread may have.
template <class Static, int B>
constexpr int team_blocks = Static::plan.entries > 13  ? 2
                            : Static::plan.entries > 7 ? 3
                            : B == 2 || B == 4         ? 5
                                                       : 4;

template <class Static, int B, bool apart>
__global__ void __launch_bounds__(team_warps * 32, team_blocks<Static, B>)
    factor_team(const __grid_constant__ WavefrontFactorView<double> v) {
  extern __shared__ __align__(16) unsigned char memory[];
  FactorTeam<Static, B, apart>(v, reinterpret_cast<TeamRoom<Static, B>*>(memory)[threadIdx.x / 32]).run();
}

}  // namespace echelon
