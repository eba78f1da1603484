// SPDX-License-Identifier: BSD-3-Clause
// The factorization of blocks b = 2 … 8 on a stencil known at compile time (static_plan.hpp). A warp runs a team of
// neighbouring lines from end to end and keeps their whole rows in registers from A to the factors; how many lines, and
// which lane has what, is wavefront_factor_tensor_lanes.cuh's and, for b = 2 and 3, wavefront_factor_single_lanes.cuh's to
// say. Teams wait for each other, not for levels: nothing but the rows' own arithmetic is between a point and the next of
// its line. A's row is asked for before the neighbours are waited for, neighbours' blocks some products ahead. Bytes a row:
// 8 b² for each entry, read and written; neighbours' U and D⁻¹ come from the second-level cache, which is told to keep them
// and to let A and L go.
#pragma once

#include "echelon/factor/wavefront_factor_single_lanes.cuh"
#include "echelon/factor/wavefront_factor_tensor_lanes.cuh"

namespace echelon {

constexpr int team_warps = 4;  // of a block of threads; each by itself

template <int B>
using TeamLanes = std::conditional_t<(B <= 3), SingleLanes<B>, TensorLanes<B>>;

/// One of the points that a row needs: where its line's records are.
struct alignas(16) NearLine {
  int run;      // of level 0, if there were one
  int i, y, z;  // i at level 0; ẑ from the tile's first
};

/// What a warp has in shared memory.
template <class Static, int B>
struct alignas(16) TeamRoom {
  using Lanes = TeamLanes<B>;
  static constexpr int points = Lanes::lines * (Static::plan.center + 1);  // each line's lower neighbours, then its own
  NearLine near[points];
  PointValues<double> at[3][points];  // of three levels in turn
  double scratch[Lanes::room];
  double judged[Lanes::lines * 4 * B * B];
};

/// Columns are whole sectors of the caches, or eight lines' side by side are: writing them apart from A, whose sectors would
/// have come with A's own, then fetches nothing from memory.
template <int B>
constexpr bool can_be_apart = (B & (B - 1)) == 0;

/// `apart`: A is not where the factors are written.
template <class Static, int B, bool apart>
class FactorTeam {
 public:
  using Room = TeamRoom<Static, B>;
  __device__ FactorTeam(const WavefrontFactorView<double>& v, Room& room)
      : v_(v), room_(room), lane_(threadIdx.x % 32), lanes_(lane_) {}

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
  using Lanes = TeamLanes<B>;
  static constexpr int P = Lanes::lines, V = Lanes::values, F = Lanes::factors;
  static constexpr int E = Static::plan.entries, C = Static::plan.center;
  static constexpr int points = Room::points, sets = (points + 31) / 32;
  static constexpr bool near_in_registers = sets == 1;
  static constexpr bool asks_before_measuring = E <= 13 || can_be_apart<B> || B == 3;  // others have no registers for it
  static constexpr bool fetches_own = E * B <= 56 && P * B <= 8;
  static constexpr int levels_fetched = 1;  // ahead of the one under way
  static constexpr int steps = count_team_steps<Static>();
  static constexpr int ahead = steps < Lanes::asked_ahead ? steps : Lanes::asked_ahead;
  static constexpr int never = -(1 << 30) - 8;  // levels are below 2³⁰

  /// A team that rows wait for.
  struct Awaited {
    int team = -1;             // none
    int need = 0;              // levels it must have finished, at level 0
    int levels = 0, seen = 0;  // that it has, and that it was seen to have finished
  };
  struct Found {
    std::int64_t first;
    int run, rank;
    bool there;
  };

  __device__ int team_of(int y, int z) const { return z * v_.teams.in_plane + y / P; }
  __device__ int first_level(int y, int z) const {  // of the team of that line
    const Wavefront& front = v_.vector.front;
    const int begin = y / P * P, least = front.c * z;
    return front.line_start(begin < least ? least : begin, z);
  }
  __device__ int end_level(int y, int z) const {
    const Wavefront& front = v_.vector.front;
    const int last = y / P * P + P - 1, most = front.c * z + front.ny - 1;
    return front.line_start(last < most ? last : most, z) + front.nx;
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
    end_ = end_level(y_, z_);
    if constexpr (near_in_registers) {
      near_ = near_line(lane_);
    } else {
      for (int n = lane_; n < points; n += 32) room_.near[n] = near_line(n);
    }
    awaited_ = find_awaited();
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

  __device__ NearLine near_line(int n) const {
    const Wavefront& front = v_.vector.front;
    const TileView& tiles = v_.vector.tiles;
    const NearLine none{0, never, 0, 0};
    if (n >= points) return none;
    const FactorEntry o = v_.entries[n % (C + 1)];
    const int y = y_ + n / (C + 1) + o.line_y, z = z_ + o.line_z;
    if (y < 0 || !front.has_line(y, z) || is_of_no_point(n, o)) return none;
    const int t = tiles.tile_of_line(y, z);
    const Tile tile = tiles.tiles[t];
    return {static_cast<int>(v_.vector.first_run[t]) + o.level - tile.first_level, o.level - front.line_start(y, z), y,
            z - tile.z};
  }

  __device__ NearLine near_of(int n) const {
    if constexpr (near_in_registers) {
      return near_;
    } else {
      return n < points ? room_.near[n] : NearLine{0, never, 0, 0};
    }
  }

  /// A lower entry that reaches from no point of a thin grid to another.
  __device__ static bool is_of_no_point(int n, const FactorEntry& o) { return n % (C + 1) < C && o.level == 0; }

  /// Each team that our lines' lower neighbours are of, but our own, becomes a lane's to wait for: up to the last level that
  /// any of our rows needs of it. What is beyond its end asks for all of it.
  __device__ Awaited find_awaited() {
    struct Listed {
      int team, level;
    };
    auto* list = reinterpret_cast<Listed*>(room_.judged);
    static_assert(sizeof(Room::judged) >= 32 * sizeof(Listed));
    const Wavefront& front = v_.vector.front;
    int count = 0;
#pragma unroll
    for (int s = 0; s < sets; ++s) {
      const int n = lane_ + 32 * s;
      int team = -1, level = never;
      if (n < points) {
        const FactorEntry o = v_.entries[n % (C + 1)];
        const int y = y_ + n / (C + 1) + o.line_y, z = z_ + o.line_z;
        const bool there = y >= 0 && front.has_line(y, z) && !is_of_no_point(n, o);
        if (there && team_of(y, z) != team_) team = team_of(y, z), level = o.level;
      }
      const unsigned same = __match_any_sync(whole_warp, team);
      const int leader = __ffs(static_cast<int>(same)) - 1;
      const unsigned leaders = __ballot_sync(whole_warp, team >= 0 && lane_ == leader);
      const int place = __shfl_sync(whole_warp, count + __popc(leaders & ((1u << lane_) - 1)), leader);
      if (team >= 0 && lane_ == leader) list[place] = {team, never};
      __syncwarp();
      if (team >= 0) atomicMax(&list[place].level, level);
      count += __popc(leaders);
    }
    __syncwarp();
    Awaited mine;
    if (lane_ < count) {
      const int z = list[lane_].team / v_.teams.in_plane, y = list[lane_].team % v_.teams.in_plane * P;
      mine.team = list[lane_].team;
      mine.need = list[lane_].level + 1 - first_level(y, z);
      mine.levels = end_level(y, z) - first_level(y, z);
    }
    __syncwarp();
    return mine;
  }

  /// Asks where this level's points are.
  __device__ __forceinline__ void find(int level, Found (&found)[sets]) const {
#pragma unroll
    for (int s = 0; s < sets; ++s) {
      const NearLine near = near_of(lane_ + 32 * s);
      found[s].there = static_cast<unsigned>(level + near.i) < static_cast<unsigned>(v_.vector.front.nx);
      if (!found[s].there) continue;
      const unsigned char* record = v_.records + static_cast<std::int64_t>(near.run + level) * v_.record_bytes;
      // Apart: a register of a wider load that nobody needs is given away, and whoever writes it waits for the load.
      const auto* head = reinterpret_cast<const FactorRecord*>(record);
      found[s].first = __ldg(&head->first);
      found[s].run = __ldg(&head->run);
      found[s].rank = near.y + __ldg(reinterpret_cast<const int*>(record + sizeof(FactorRecord)) + near.z);
    }
  }
  /// The run of a point that is not there is 0, and what it reads are zeros.
  __device__ __forceinline__ void note(int turn, const Found (&found)[sets]) const {
#pragma unroll
    for (int s = 0; s < sets; ++s) {
      PointValues<double> point{v_.status->zeros, 0};
      if (found[s].there) {
        point.at = v_.values + found[s].first * (E * B) + found[s].rank * B;
        point.run = found[s].run;
      }
      if (lane_ + 32 * s < points) room_.at[turn][lane_ + 32 * s] = point;
    }
  }

  /// False when everything stops.
  __device__ __forceinline__ bool wait(int level) {
    const int needed = min(level + awaited_.need, awaited_.levels);
    bool goes_on = true;
    if (awaited_.team >= 0 && awaited_.seen < needed) {
      awaited_.seen = static_cast<int>(load_acquire(v_.progress + awaited_.team));
      if (awaited_.seen < needed) {
        awaited_.seen =
            static_cast<int>(look_for_progress(v_, awaited_.team, static_cast<unsigned>(needed), {tile_, level}));
        goes_on = awaited_.seen >= needed;
      }
    }
    goes_on = __all_sync(whole_warp, goes_on);
    __syncwarp();  // a vote orders no memory: lanes that waited for nobody would read before the others saw their teams
    return goes_on;
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
      const double* from = next.at + (apart ? v_.to_source() : 0);
      for (int n = lane_; n < E * B; n += 32) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(from + n * next.run));
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
    if constexpr (apart) {
      asm volatile("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%0], %1, %2;" ::"l"(v_.source + begin),
                   "r"(static_cast<unsigned>(bytes)), "l"(policies_.leaves));
    } else {
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(v_.source + begin), "r"(static_cast<unsigned>(bytes)));
    }
#endif
  }

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

  const WavefrontFactorView<double>& v_;
  Room& room_;
  const int lane_;
  const Lanes lanes_;
  const CachePolicies policies_;
  int team_ = 0, y_ = 0, z_ = 0, first_ = 0, end_ = 0, tile_ = 0;
  int turn_ = 0;  // which of three the level's points are
  bool on_ = false, fetches_first_ = false, fetches_last_ = false;
  Awaited awaited_;
  [[maybe_unused]] NearLine near_;  // where one a lane is enough
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
