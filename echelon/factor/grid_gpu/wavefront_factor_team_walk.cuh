// SPDX-License-Identifier: BSD-3-Clause
// How teams of lines go through the grid (wavefront_factor_team.cuh): which one is next, where the points are that its rows
// need, whom it waits for and what is fetched ahead. Teams are taken by a ticket, in an order in which each waits for
// earlier ones only; a lane waits for each of the teams around.
//
// Memory order: values are written and read as ordinary memory. A level's writes come before the warp's barrier, that before
// one lane's release; a lane's acquire comes before the barrier after which all lanes read.
#pragma once

#include "echelon/factor/grid_gpu/wavefront_factor_single_lanes.cuh"
#include "echelon/factor/grid_gpu/wavefront_factor_tensor_lanes.cuh"

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

/// Columns are whole sectors of the caches, or those of eight lines side by side are. A sector that is written in part is
/// fetched from memory first; in place it has come with A.
template <int B>
constexpr bool can_be_apart = (B & (B - 1)) == 0;

/// `apart`: A is not where the factors are written.
template <class Static, int B, bool apart>
class TeamWalk {
 public:
  using Room = TeamRoom<Static, B>;

 protected:
  using Lanes = TeamLanes<B>;
  static constexpr int P = Lanes::lines;
  static constexpr int E = Static::plan.entries, C = Static::plan.center;
  static constexpr int points = Room::points, sets = (points + 31) / 32;
  static constexpr bool near_in_registers = sets == 1;
  static constexpr bool fetches_own = E * B <= 56 && P * B <= 8;
  static constexpr int levels_fetched = 1;      // ahead of the one under way
  static constexpr int never = -(1 << 30) - 8;  // levels are below 2³⁰

  __device__ TeamWalk(const WavefrontFactorView<double>& v, Room& room) : v_(v), room_(room), lane_(threadIdx.x % 32) {}

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

  /// The line of one of the points that rows need.
  struct Reached {
    FactorEntry entry;
    int y, z;
    bool there;
  };
  __device__ Reached reached(int n) const {
    if (n >= points) return {};
    const FactorEntry o = v_.entries[n % (C + 1)];
    const int y = y_ + n / (C + 1) + o.line_y, z = z_ + o.line_z;
    const bool is_of_no_point = n % (C + 1) < C && o.level == 0;  // of a thin grid
    return {o, y, z, y >= 0 && v_.vector.front.has_line(y, z) && !is_of_no_point};
  }

  __device__ NearLine near_line(int n) const {
    const TileView& tiles = v_.vector.tiles;
    const auto [o, y, z, there] = reached(n);
    if (!there) return {0, never, 0, 0};
    const int t = tiles.tile_of_line(y, z);
    const Tile tile = tiles.tiles[t];
    return {static_cast<int>(v_.vector.first_run[t]) + o.level - tile.first_level,
            o.level - v_.vector.front.line_start(y, z), y, z - tile.z};
  }

  __device__ NearLine near_of(int n) const {
    if constexpr (near_in_registers) {
      return near_;
    } else {
      return n < points ? room_.near[n] : NearLine{0, never, 0, 0};
    }
  }

  /// Each team that our lines' lower neighbours are of, but our own, becomes a lane's to wait for: up to the last level that
  /// any of our rows needs of it. What is beyond its end asks for all of it.
  __device__ Awaited find_awaited() {
    struct Listed {
      int team, level;
    };
    auto* list = reinterpret_cast<Listed*>(room_.judged);
    static_assert(sizeof(Room::judged) >= 32 * sizeof(Listed));
    int count = 0;
#pragma unroll
    for (int s = 0; s < sets; ++s) {
      const auto [o, y, z, there] = reached(lane_ + 32 * s);
      const int team = there && team_of(y, z) != team_ ? team_of(y, z) : -1;
      const unsigned same = __match_any_sync(whole_warp, team);
      const int leader = __ffs(static_cast<int>(same)) - 1;
      const unsigned leaders = __ballot_sync(whole_warp, team >= 0 && lane_ == leader);
      const int place = __shfl_sync(whole_warp, count + __popc(leaders & ((1u << lane_) - 1)), leader);
      if (team >= 0 && lane_ == leader) list[place] = {team, never};
      __syncwarp();
      if (team >= 0) atomicMax(&list[place].level, o.level);
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

  const WavefrontFactorView<double>& v_;
  Room& room_;
  const int lane_;
  const CachePolicies policies_;
  int team_ = 0, y_ = 0, z_ = 0, first_ = 0, end_ = 0, tile_ = 0;
  int turn_ = 0;  // which of three the level's points are
  bool fetches_first_ = false, fetches_last_ = false;
  Awaited awaited_;
  [[maybe_unused]] NearLine near_;  // where one a lane is enough
};

}  // namespace echelon
