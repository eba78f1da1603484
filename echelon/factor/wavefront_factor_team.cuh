// SPDX-License-Identifier: BSD-3-Clause
// The factorization of blocks b = 2 … 8 on a stencil known at compile time (static_plan.hpp), by FP64 tensor cores. A warp
// runs a team of 8/b' neighbouring lines (b' = 2, 4 or 8, the next one to b) from end to end and keeps their whole rows in
// registers from A to the factors, in the form that mma.m8n8k4 has: lane 4g + q holds row g and columns 2q, 2q + 1 of an 8×8
// matrix whose diagonal blocks are the team's; what falls beside them is never looked at. Teams wait for each other, not
// for levels: nothing but the rows' own arithmetic is between a point and the next of its line. Neighbours' blocks are asked
// for some products ahead. Products are chains of fma over ascending k, as on the host: the same bits. What is beyond b in a
// block is multiplied as −0 · 0, which changes nothing, not even a zero's sign. Bytes a row: 8 b² for each entry, read
// and written; neighbours' U and D⁻¹ come from the second-level cache.
#pragma once

#include "echelon/factor/wavefront_factor_fragment.cuh"

namespace echelon {

constexpr int team_warps = 4;  // of a block of threads; each by itself

/// What a warp has in shared memory.
template <class Static, int B>
struct alignas(16) TeamRoom {
  using Shape = TeamShape<B>;
  static constexpr int points = Shape::lines * (Static::plan.center + 1);  // each line's lower neighbours, then its own
  PointValues<double> at[3][points];                                       // of three levels in turn
  double turned[2][8 * fragment_row];
  double judged[Shape::lines * 4 * B * B];
};

template <class Static, int B>
class FactorTeam {
 public:
  using Room = TeamRoom<Static, B>;
  __device__ FactorTeam(const WavefrontFactorView<double>& v, Room& room)
      : v_(v), room_(room), lane_(threadIdx.x % 32), at_(lane_) {}

  __device__ void run() {
    while (take()) {
      for (int level = first_; level < end_; ++level) {
        if (!wait(level)) return;
        row(level);
        publish(level);
      }
    }
    raise_by_warp(&v_.status->norm, norm_);
    raise_by_warp(&v_.status->change, change_);
    // Bounds on the factors would cost more than the two sweeps they spare.
    if (lane_ == 0) atomicOr(&v_.status->not_bounded, 1u);
  }

 private:
  using Shape = TeamShape<B>;
  static constexpr int PB = Shape::padded, P = Shape::lines, H = Shape::halves;
  static constexpr int E = Static::plan.entries, C = Static::plan.center;
  static constexpr int points = Room::points, sets = (points + 31) / 32;
  static constexpr bool fetches_own = E * B <= 56;
  static constexpr int levels_fetched = 2;      // ahead of the one under way
  static constexpr int never = -(1 << 30) - 8;  // levels are below 2³⁰

  /// One of the points that a row needs: where its line's records are, and whom to wait for.
  struct Near {
    const unsigned char* record;  // of level 0, if there were one
    int offset_at, y, i;          // of the line's rank; i at level 0
    int team, need;               // levels it must have finished, at level 0; team −1: none to wait for
    unsigned seen;
  };
  struct Found {
    FactorRecord head;
    int offset;
    bool there;
  };

  __device__ int team_of(int y, int z) const { return z * v_.teams.in_plane + y / P; }
  __device__ int first_level(int y, int z) const {  // of the team of that line
    const Wavefront& front = v_.vector.front;
    const int begin = y / P * P, least = front.c * z;
    return front.line_start(begin < least ? least : begin, z);
  }

  /// The next team, and all that stays the same along its lines.
  __device__ bool take() {
    const Wavefront& front = v_.vector.front;
    const TileView& tiles = v_.vector.tiles;
    int ticket = 0;
    if (lane_ == 0) ticket = static_cast<int>(atomicAdd(&v_.status->ticket, 1u));
    ticket = __shfl_sync(whole_warp, ticket, 0);
    if (ticket >= v_.teams.count) return false;
    team_ = v_.teams.order[ticket];
    z_ = team_ / v_.teams.in_plane;
    y_ = team_ % v_.teams.in_plane * P;
    first_ = first_level(y_, z_);
    const int last = y_ + P - 1, most = front.c * z_ + front.ny - 1;
    end_ = front.line_start(last < most ? last : most, z_) + front.nx;
#pragma unroll
    for (int s = 0; s < sets; ++s) near_[s] = near_point(lane_ + 32 * s);
    tile_ = tiles.tile_of_line(y_ < front.c * z_ ? front.c * z_ : y_, z_);
    const Tile tile = tiles.tiles[tile_];
    fetches_first_ = first_ == tile.first_level;
    fetches_last_ = end_ == tile.first_level + tile.levels;
    for (int level = first_; !fetches_own && fetches_first_ && level < first_ + levels_fetched; ++level) fetch_tile(level);
    turn_ = 0;
    Found found[sets];
    find(first_, found);
    note(0, found);
    find(first_ + 1, found);
    note(1, found);
    __syncwarp();
    return true;
  }

  __device__ Near near_point(int n) const {
    const Wavefront& front = v_.vector.front;
    const TileView& tiles = v_.vector.tiles;
    Near near{nullptr, 0, 0, never, -1, 0, 0};
    if (n >= points) return near;
    const FactorEntry o = v_.entries[n % (C + 1)];
    const int y = y_ + n / (C + 1) + o.line_y, z = z_ + o.line_z;
    if (y < 0 || !front.has_line(y, z)) return near;
    const int t = tiles.tile_of_line(y, z);
    const Tile tile = tiles.tiles[t];
    near.record = v_.records + (v_.vector.first_run[t] + o.level - tile.first_level) * v_.record_bytes;
    near.offset_at = static_cast<int>(sizeof(FactorRecord)) + 4 * (z - tile.z);
    near.y = y;
    near.i = o.level - front.line_start(y, z);
    if (const int other = team_of(y, z); other != team_) {
      near.team = other;
      near.need = o.level + 1 - first_level(y, z);
    }
    return near;
  }

  /// Asks where this level's points are.
  __device__ __forceinline__ void find(int level, Found (&found)[sets]) const {
#pragma unroll
    for (int s = 0; s < sets; ++s) {
      found[s].there = static_cast<unsigned>(level + near_[s].i) < static_cast<unsigned>(v_.vector.front.nx);
      if (!found[s].there) continue;
      const unsigned char* record = near_[s].record + static_cast<std::int64_t>(level) * v_.record_bytes;
      const int4 head = __ldg(reinterpret_cast<const int4*>(record));
      found[s].head.first = static_cast<std::int64_t>(static_cast<unsigned>(head.x)) | std::int64_t{head.y} << 32;
      found[s].head.run = head.z;
      found[s].offset = __ldg(reinterpret_cast<const int*>(record + near_[s].offset_at));
    }
  }
  /// The run of a point that is not there is 0.
  __device__ __forceinline__ void note(int turn, const Found (&found)[sets]) const {
#pragma unroll
    for (int s = 0; s < sets; ++s) {
      PointValues<double> point{v_.values, 0};
      if (found[s].there) {
        point.at = v_.values + found[s].head.first * (E * B) + (found[s].offset + near_[s].y) * B;
        point.run = found[s].head.run;
      }
      if (lane_ + 32 * s < points) room_.at[turn][lane_ + 32 * s] = point;
    }
  }

  __device__ bool needs_more(int level, const Near& near) const {
    const bool there = static_cast<unsigned>(level + near.i) < static_cast<unsigned>(v_.vector.front.nx);
    return near.team >= 0 && there && near.seen < static_cast<unsigned>(level + near.need);
  }
  /// False when everything stops.
  __device__ bool wait(int level) {
    bool goes_on = true;
#pragma unroll
    for (int s = 0; s < sets; ++s) {
      Near& near = near_[s];
      if (!needs_more(level, near)) continue;
      near.seen = load_acquire(v_.progress + near.team);
      if (!needs_more(level, near)) continue;
      near.seen = poll_progress(v_, near.team, static_cast<unsigned>(level + near.need), {tile_, level});
      goes_on = goes_on && !needs_more(level, near);
    }
    return __all_sync(whole_warp, goes_on);
  }
  __device__ void publish(int level) const {
    __syncwarp();
    if (lane_ == 0) store_release(v_.progress + team_, static_cast<unsigned>(level + 1 - first_));
  }

  /// A's values ahead of their use, to the second-level cache: short rows are fetched by the team itself, the next one while
  /// this is under way (its lines mostly stand side by side); long ones for the whole tile, by the team of its first line
  /// as long as that lasts, then by the one of its last.
  __device__ __forceinline__ void fetch(int level, const PointValues<double>& next) const {
    if constexpr (fetches_own) {
      if (next.run == 0) return;
      for (int n = lane_; n < E * B; n += 32) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(next.at + n * static_cast<std::int64_t>(next.run)));
      }
    } else if (fetches_first_ || (fetches_last_ && level + levels_fetched >= first_ + v_.vector.front.nx)) {
      fetch_tile(level + levels_fetched);
    }
  }
  __device__ void fetch_tile([[maybe_unused]] int level) const {
#if __CUDA_ARCH__ >= 900
    const Tile tile = v_.vector.tiles.tiles[tile_];
    if (lane_ != 0 || level >= tile.first_level + tile.levels) return;
    const std::int64_t* start = v_.vector.run_start + v_.vector.first_run[tile_] + (level - tile.first_level);
    const std::int64_t begin = start[0] * (E * B), bytes = (start[1] - start[0]) * (E * B) * 8;
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(v_.values + begin), "r"(static_cast<unsigned>(bytes)));
#endif
  }

  __device__ __forceinline__ void row(int level) {
    const int next_turn = turn_ == 2 ? 0 : turn_ + 1, last_turn = next_turn == 2 ? 0 : next_turn + 1;
    const PointValues<double>* near = room_.at[turn_] + at_.line * (C + 1);
    const PointValues<double> own = near[C];
    on_ = own.run != 0;
    const bool stores = at_.used && on_, both = at_.first_column + 1 < B;
    double* const to = own.at + at_.first_column * own.run + at_.r;
    const std::int64_t run = own.run;
    double w[E][2];
    unrolled<E>([&](auto e) {
      const double* at = to + (e * B) * run;
      w[e][0] = load_shared_by_all(stores, at);
      w[e][1] = load_shared_by_all(stores && both, at + run);
    });
    Found found[sets];
    find(level + 2, found);
    fetch(level, room_.at[next_turn][C]);
    leave_out(level, w);
    const Measured A = measure(w);
    if (v_.rules.shift > 0) shift(w[C], A.scale);
    const auto store = [&](auto e) {
      double* at = to + (e * B) * run;
      if constexpr (e < C) {  // nobody reads L again before the sweeps: the first to leave the caches
        if (stores) __stcs(at, w[e][0]);
        if (stores && both) __stcs(at + run, w[e][1]);
      } else {
        if (stores) at[0] = w[e][0];
        if (stores && both) at[run] = w[e][1];
      }
    };
    eliminate(near, w, store);
    unrolled<E>([&](auto e) {
      if constexpr (e > C && !Static::plan.diagonal_only) store(e);
    });
    finish(level, A, w[C]);
    store(std::integral_constant<int, C>{});
    note(last_turn, found);
    turn_ = next_turn;
  }

  /// Entries that leave the grid count as zero, whatever A has there.
  __device__ __forceinline__ void leave_out(int level, double (&w)[E][2]) const {
    const Wavefront& front = v_.vector.front;
    const int y = y_ + at_.line, i = level - front.line_start(y, z_), j = y - front.c * z_;
    const bool whole = i >= v_.before.x && i + v_.after.x < front.nx && j >= v_.before.y && j + v_.after.y < front.ny &&
                       z_ >= v_.before.z && z_ + v_.after.z < front.nz;
    if (__all_sync(whole_warp, whole)) return;
    unrolled<E>([&](auto e) {
      constexpr Offset o = Static::plan.offset[e];
      const auto within = [](int x, int n) { return static_cast<unsigned>(x) < static_cast<unsigned>(n); };
      const bool has = within(i + o.x, front.nx) && within(j + o.y, front.ny) && within(z_ + o.z, front.nz);
      w[e][0] = has ? w[e][0] : 0;
      w[e][1] = has ? w[e][1] : 0;
    });
  }

  /// Of a point's rows of A.
  struct Measured {
    double scale, size;  // the largest value; the row's sum
    bool finite;
  };
  __device__ __forceinline__ Measured measure(const double (&w)[E][2]) const {
    Measured A{0, 0, true};
    unrolled<E>([&](auto e) {
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        const double size = magnitude(w[e][s]);
        A.scale = size > A.scale ? size : A.scale;
        A.size += size;
      }
    });
    A.size += __shfl_xor_sync(whole_warp, A.size, 1);
    A.size += __shfl_xor_sync(whole_warp, A.size, 2);
    // A sum of sizes is finite only when all of them are; when they are and it is not, the row is looked at again.
    A.finite = repair::is_finite(A.size);
    if (!__all_sync(whole_warp, A.finite)) {
      bool finite = true;
      unrolled<E>([&](auto e) { finite = finite && repair::is_finite(w[e][0]) && repair::is_finite(w[e][1]); });
      A.finite = finite;
    }
#pragma unroll
    for (int half = 1; half < 4 * PB; half *= 2) {
      const double other = __shfl_xor_sync(whole_warp, A.scale, half);
      A.scale = other > A.scale ? other : A.scale;
    }
    const unsigned bad = __ballot_sync(whole_warp, !A.finite);
    A.finite = (bad >> (at_.line * 4 * PB) & Shape::lanes_of_a_line) == 0;
    return A;
  }
  __device__ void shift(double (&d)[2], double scale) {
    PivotWorkspace<double> work;
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      if (at_.used && on_ && at_.first_column + s == at_.r) d[s] = shifted(v_.rules, d[s], scale, work);
    }
    change_ = work.change > change_ ? work.change : change_;
  }

  /// The lane's two values of k, as a left factor has them, of a block that the lanes hold.
  __device__ __forceinline__ void turn(int which, const double (&w)[2], double (&a)[H]) const {
    double* turned = room_.turned[which];
    *reinterpret_cast<double2*>(turned + at_.g * fragment_row + 2 * at_.q) = {w[0], w[1]};
    __syncwarp();
#pragma unroll
    for (int h = 0; h < H; ++h) {
      const int k = at_.q + 4 * h;
      a[h] = k < B ? turned[at_.g * fragment_row + at_.line * PB + k] : -0.0;
    }
  }

  template <class Store>
  __device__ __forceinline__ void eliminate(const PointValues<double>* near, double (&w)[E][2], const Store& store) const {
    constexpr auto& steps = team_steps<Static>;
    constexpr int count = steps.count, ahead = count < Shape::asked_ahead ? count : Shape::asked_ahead;
    double asked[ahead][H], L[H];
    bool reads = false, reads_second = false;
    const double* from = nullptr;
    std::int64_t run = 0;
    const auto ask = [&](auto n) {
      constexpr TeamStep step = steps.step[n];
      if constexpr (step.target < 0) {
        const PointValues<double> point = near[step.lower];
        from = point.at + at_.r * point.run + at_.q;
        run = point.run;
        reads = run != 0 && at_.r < B && at_.q < B;
        reads_second = run != 0 && at_.r < B && at_.q + 4 < B;
      }
      const double* at = from + (step.entry * B) * run;
      asked[n % ahead][0] = load_shared_by_all(reads, at);
      if constexpr (H == 2) asked[n % ahead][1] = load_shared_by_all(reads_second, at + 4);
    };
    unrolled<ahead>(ask);
    unrolled<count>([&](auto n) {
      constexpr TeamStep step = steps.step[n];
      double u[H];
#pragma unroll
      for (int h = 0; h < H; ++h) u[h] = asked[n % ahead][h];
      if constexpr (n + ahead < count) ask(std::integral_constant<int, n + ahead>{});
      if constexpr (step.target < 0) {
        constexpr int m = step.lower;
        double a[H], product[2] = {-0.0, -0.0};
        turn(0, w[m], a);
#pragma unroll
        for (int h = 0; h < H; ++h) multiply(a[h], u[h], product);
        const bool has = near[m].run != 0;
        w[m][0] = has ? product[0] : 0;
        w[m][1] = has ? product[1] : 0;
        store(std::integral_constant<int, m>{});
        turn(1, w[m], L);
#pragma unroll
        for (int h = 0; h < H; ++h) L[h] = at_.q + 4 * h < B ? -L[h] : -0.0;
      } else {
#pragma unroll
        for (int h = 0; h < H; ++h) multiply(L[h], u[h], w[step.target]);
      }
    });
  }

  /// d ← d⁻¹, judged.
  __device__ __forceinline__ void finish(int level, const Measured& A, double (&d)[2]) {
    const Wavefront& front = v_.vector.front;
    const double kept[2] = {d[0], d[1]};
    const double smallest = invert_fragment<B>(at_, d, room_.turned[0]);
    if (on_ && A.size <= std::numeric_limits<double>::max() && A.size > norm_) norm_ = A.size;
    const bool suspect = on_ && (v_.rules.positive || !A.finite || !pivot_is_good(v_.rules, smallest, A.scale));
    if (!__any_sync(whole_warp, suspect)) return;
    const int y = y_ + at_.line;
    const std::int64_t point =
        (std::int64_t{z_} * front.ny + (y - front.c * z_)) * front.nx + (level - front.line_start(y, z_));
    judge({point, point * B}, suspect, A, smallest, d, kept);
  }

  /// Blocks that may be bad: one thread of each looks.
  __device__ __forceinline__ void judge(PivotPlace place, bool suspect, const Measured& A, double smallest, double (&d)[2],
                                        const double (&kept)[2]) {
    double* room = room_.judged + at_.line * 4 * B * B;
    const bool here = at_.used && suspect;
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      const int c = at_.first_column + s;
      if (here && c < B) room[c * B + at_.r] = d[s];
      if (here && c < B) room[(2 * B + c) * B + at_.r] = kept[s];
    }
    __syncwarp();
    if (suspect && lane_ == at_.line * PB * 4) {
      if (!A.finite) note_nonfinite_row(v_, place);
      if (v_.rules.positive || !pivot_is_good(v_.rules, smallest, A.scale)) {
        const double change = judge_block<B>(v_, place, room, smallest, A.scale, !A.finite);
        change_ = change > change_ ? change : change_;
      }
    }
    __syncwarp();
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      const int c = at_.first_column + s;
      if (here && c < B) d[s] = room[c * B + at_.r];
    }
  }

  const WavefrontFactorView<double>& v_;
  Room& room_;
  const int lane_;
  const FragmentLane<B> at_;
  int team_ = 0, y_ = 0, z_ = 0, first_ = 0, end_ = 0, tile_ = 0;
  int turn_ = 0;  // which of three the level's points are
  bool on_ = false, fetches_first_ = false, fetches_last_ = false;
  Near near_[sets];
  double norm_ = 0, change_ = 0;
};

/// Blocks of threads that a processor's registers are shared by: long rows take all that a thread may have.
template <class Static, int B>
constexpr int team_blocks = Static::plan.entries > 13  ? 2
                            : Static::plan.entries > 7 ? 3
                            : B > 4                    ? 4
                                                       : 5;

template <class Static, int B>
__global__ void __launch_bounds__(team_warps * 32, team_blocks<Static, B>)
    factor_team(const __grid_constant__ WavefrontFactorView<double> v) {
  extern __shared__ __align__(16) unsigned char memory[];
  FactorTeam<Static, B>(v, reinterpret_cast<TeamRoom<Static, B>*>(memory)[threadIdx.x / 32]).run();
}

}  // namespace echelon
