// SPDX-License-Identifier: BSD-3-Clause
// The exact sweep of one tile by one block, in the direction of the triangle:
//   L: x_p = r_p − Σ L_m x_k          U: x_p = D_p⁻¹ (r_p − Σ U_u x_k)          the farthest entry first, by fma
// Bytes a point: held entries · b² · (bytes of a stored value) + r and x. Warps have roles: one copies the runs of coming
// levels into a ring (bulk copies), some fetch x on the borders from words that neighbouring tiles publish, and groups of
// computing warps take the levels in turn. A lane keeps its lines (and its row of the block) from the first level to the
// last. Blocks take tiles by a ticket in an order of dependencies, so a wait is always for a tile that runs or has run.
// Reads of x are safe: the own tile's levels by `done`, the borders' by `border`, and a level is overwritten only after the
// last step that reads it is done. A word carries its launch's epoch, so no stale value is taken for a new one.
#pragma once

#include "echelon/base/cuda_async.cuh"
#include "echelon/sweep/sweep_state.cuh"

namespace echelon::device {

struct RunHead {
  std::int64_t start;  // scalars of a vector
  int length, unused;
};
static_assert(sizeof(RunHead) == sweep_limits::run_head_bytes);

constexpr int warp_size = 32;
constexpr unsigned all_lanes = ~0u;
constexpr unsigned polls_before_sleep = 4, polls_a_look = 1024;

/// The block's shared memory, in bytes from its beginning.
namespace place {
constexpr int full = 0, empty = 128, border = 256, done = 512, tile = 768, epoch = 776, starts = 1024, lengths = 1280;
}  // namespace place

/// What every role knows of its tile.
struct OwnTile {
  int number;
  Tile tile;
  std::int64_t first_run;
  int levels;
  Address base, history, ring;
  unsigned long long epoch;
  int slots;  // border lines that are published a level
};

/// Step (0 = the tile's first level in the direction of the sweep) of a line's first point.
__device__ __forceinline__ int first_step(const WavefrontSweepView& v, const OwnTile& own, int y, int z) {
  const Wavefront& front = v.vector.front;
  const int start = front.line_start(y, z);
  return v.lower ? start - own.tile.first_level : own.tile.first_level + own.levels - front.nx - start;
}

/// Line (yy, zz) of the tile counted in the direction of the sweep.
__device__ __forceinline__ int line_y(const WavefrontSweepView& v, const Tile& tile, int yy) {
  return v.lower ? tile.y + yy : tile.y + v.vector.tiles.shape.y - 1 - yy;
}
__device__ __forceinline__ int line_z(const WavefrontSweepView& v, const Tile& tile, int zz) {
  return v.lower ? tile.z + zz : tile.z + v.vector.tiles.shape.z - 1 - zz;
}

/// Copies run after run into the ring: the record, r and the first piece of a level, then its other pieces.
template <int B, class V, class S>
__device__ __forceinline__ void copy_ahead(const WavefrontSweepView& v, const OwnTile& own, int lane) {
  const SweepBlock& plan = v.plan;
  const int n = own.levels, direction = v.lower ? 1 : -1;
  const std::int64_t run = own.first_run + (v.lower ? 0 : n - 1);
  const std::int64_t* starts = v.vector.run_start + run;
  const std::uint8_t* record = v.records + run * plan.record_bytes;
  const int unit = v.matrix.entries.count() * B;
  const auto* values = static_cast<const S*>(v.values);
  const auto* r = static_cast<const V*>(v.r);
  int slot = 0;
  unsigned phase = 1;
  // 32 heads at a time through shared memory, the next 32 on their way: a load a level would be the slowest part.
  const auto start_of = [&](int s, int more) { return __ldg(starts + direction * min(s, n - 1) + more); };
  std::int64_t next_start = start_of(lane, 0);
  int next_length = static_cast<int>(start_of(lane, 1) - next_start);
  for (int s0 = 0; s0 < n; s0 += warp_size) {
    store(own.base + place::starts + lane * 8, next_start);
    store(own.base + place::lengths + lane * 4, next_length);
    next_start = start_of(s0 + warp_size + lane, 0);
    next_length = static_cast<int>(start_of(s0 + warp_size + lane, 1) - next_start);
    __syncwarp();
    if (lane == 0) {
      for (int s = s0; s < min(n, s0 + warp_size); ++s) {
        std::int64_t start;
        int length;
        load(own.base + place::starts + (s - s0) * 8, start);
        load(own.base + place::lengths + (s - s0) * 4, length);
        const S* from = values + start * unit + std::int64_t{v.first_entry} * B * length;
        for (int p = 0; p < plan.pieces; ++p) {
          // Entries in sweep order; U is stored from the diagonal on and swept from its far end.
          const int q0 = p * plan.entries_a_stage, q1 = min(v.held, q0 + plan.entries_a_stage);
          const int e0 = v.lower ? q0 : v.held - q1;
          const Address to = own.ring + slot * plan.stage_bytes, barrier = own.base + place::full + 8 * slot;
          const unsigned bytes = static_cast<unsigned>((q1 - q0) * B * length * static_cast<int>(sizeof(S)));
          const unsigned r_bytes = static_cast<unsigned>(length * static_cast<int>(sizeof(V)));
          barrier_wait_idle(own.base + place::empty + 8 * slot, phase);
          barrier_expect(barrier, bytes + (p == 0 ? r_bytes + static_cast<unsigned>(plan.record_bytes) : 0));
          if (p == 0) {
            bulk_copy(to, record + std::int64_t{direction} * s * plan.record_bytes, static_cast<unsigned>(plan.record_bytes),
                      barrier);
            bulk_copy(to + plan.r_offset, r + start, r_bytes, barrier);
          }
          if (bytes > 0) bulk_copy(to + plan.values_offset, from + std::int64_t{e0} * B * length, bytes, barrier);
          if (++slot == plan.stages) {
            slot = 0;
            phase ^= 1;
          }
        }
      }
    }
    __syncwarp();
  }
}

/// A lane owns a place of the border; groups of warps take the steps in turn, so that several polls are under way.
template <int B, class V>
__device__ __forceinline__ void fetch_borders(const WavefrontSweepView& v, const OwnTile& own, int warp, int lane) {
  const SweepBlock& plan = v.plan;
  const TileView& tiles = v.vector.tiles;
  const Wavefront& front = v.vector.front;
  const int ty = tiles.shape.y, tz = tiles.shape.z, ry = v.reach_y, rz = v.reach_z, width = ty + ry;
  const int count = ((tz + rz) * width - ty * tz) * B, q = warp % plan.border_warps * warp_size + lane;
  const int mask = plan.history - 1, n = own.levels;
  const TaggedWord* word = nullptr;
  int first = 1 << 30, other = -1;
  Address at = own.history;
  if (q < count) {
    const int line = q / B, row = q % B;
    const bool below = line < rz * width;
    const int zz = below ? line / width - rz : (line - rz * width) / ry;
    const int yy = below ? line % width - ry : (line - rz * width) % ry - ry;
    const int y = line_y(v, own.tile, yy), z = line_z(v, own.tile, zz);
    at = own.history + (((zz + rz) * width + yy + ry) * B + row) * static_cast<int>(sizeof(V));
    if ((yy >= 0 || zz >= 0 || v.corner) && y >= 0 && z >= 0 && front.has_line(y, z)) {
      first = first_step(v, own, y, z);
      other = tiles.tile_of_line(y, z);
      const int slot = zz < 0 ? (zz + rz) * ty + (yy < 0 ? yy + ty : yy) : rz * ty + (yy + ry) * tz + zz;
      const int level = v.lower ? own.tile.first_level : own.tile.first_level + n - 1;
      word = static_cast<const TaggedWord*>(v.words) +
             ((v.vector.first_run[other] + level - tiles.tiles[other].first_level) * own.slots + slot) * B + row;
    }
  }
  const std::int64_t step = static_cast<std::int64_t>(v.lower ? own.slots : -own.slots) * B;
  const int turn = plan.border_groups;
  const auto wanted = [&](int s) { return s < n - 1 && static_cast<unsigned>(s - first) < static_cast<unsigned>(front.nx); };
  int s = warp / plan.border_warps - v.deepest;
  V value = 0, next = 0;
  bool here = !wanted(s), next_here = !wanted(s + turn);
  unsigned polls = 0;
  unsigned long long begun = 0;
  while (s < n - 1) {
    // This step's word and that of the warp's next step are asked for together.
    unsigned __int128 word_now = 0, word_next = 0;
    if (!here) word_now = load_word(word + s * step);
    if (!next_here) word_next = load_word(word + (s + turn) * step);
    if (!here && tag_of(word_now) == own.epoch) {
      here = true;
      from_bits(value_of(word_now), value);
    }
    if (!next_here && tag_of(word_next) == own.epoch) {
      next_here = true;
      from_bits(value_of(word_next), next);
    }
    if (!__all_sync(all_lanes, here)) {
      if (++polls == 1) begun = nanoseconds();
      if (polls >= polls_before_sleep) __nanosleep(static_cast<unsigned>(plan.poll_sleep));
      if (!here && polls % polls_a_look == 0 && give_up(v.state, begun, {own.number, other, v.lower})) here = true;
      continue;
    }
    // One step after the last that reads what this overwrites: a wait two steps back would be ambiguous.
    const int last = s - plan.history + v.deepest + 1;
    if (last >= 0) {
      barrier_wait_idle(own.base + place::done + 8 * (last & mask), static_cast<unsigned>(last >> v.log_history) & 1);
    }
    if (q < count) store(at + (s & mask) * plan.plane_bytes, value);
    __syncwarp();
    if (lane == 0) barrier_arrive(own.base + place::border + 8 * (s & mask));
    s += turn;
    value = next;
    here = next_here;
    next = 0;
    next_here = !wanted(s + turn);
    polls = 0;
  }
}

/// Computing warps. NE: entries without the diagonal, known when the kernel is compiled and all in one stage; 0: any number,
/// in pieces.
template <int B, int M, int NE, class V, class S>
struct SweepLines {
  static constexpr int lines_a_warp = warp_size / B;
  const WavefrontSweepView& v;
  const OwnTile& own;
  const int lane, row, group, mask;
  int first[M], rank_at[M], y[M], at[M];
  Address position[M];
  TaggedWord* words;         // of this step's run
  int word_y[M], word_z[M];  // where in it a neighbouring tile reads the line; −1: none does
  bool alive[M], on[M];
  V sum[M];
  std::int64_t start = 0, word_step;
  int length = 0, slot, s = 0;
  unsigned phase;

  __device__ __forceinline__ SweepLines(const WavefrontSweepView& view, const OwnTile& tile, int warp, int lane_)
      : v(view),
        own(tile),
        lane(lane_),
        row(B == 1 ? 0 : lane_ % B),
        group(warp / view.plan.warps),
        mask(view.plan.history - 1) {
    const TileShape shape = v.vector.tiles.shape;
    const int member = warp % v.plan.warps, width = shape.y + v.reach_y;
    word_step = static_cast<std::int64_t>(v.lower ? own.slots : -own.slots) * B;
    slot = group * v.plan.pieces % v.plan.stages;
    phase = static_cast<unsigned>(group * v.plan.pieces / v.plan.stages) & 1;
    words = static_cast<TaggedWord*>(v.words) + (own.first_run + (v.lower ? 0 : own.levels - 1)) * own.slots * B + row +
            group * word_step;
#pragma unroll
    for (int m = 0; m < M; ++m) {
      const int line = (m * v.plan.warps + member) * lines_a_warp + lane / B;
      const int yy = line % shape.y, zz = line / shape.y;
      const int z = line_z(v, own.tile, zz);
      y[m] = line_y(v, own.tile, yy);
      alive[m] = lane < lines_a_warp * B && zz < shape.z;
      const bool there = alive[m] && v.vector.front.has_line(y[m], z);
      first[m] = there ? first_step(v, own, y[m], z) : 1 << 30;
      rank_at[m] = static_cast<int>(sizeof(RunHead)) + (there ? (z - own.tile.z) * 4 : 0);
      const int place_ = alive[m] ? (zz + v.reach_z) * width + yy + v.reach_y : v.reach_z * width + v.reach_y;
      position[m] = own.history + place_ * B * static_cast<int>(sizeof(V));
      const int from_y = yy - (shape.y - v.reach_y), from_z = zz - (shape.z - v.reach_z);
      word_y[m] = there && from_y >= 0 ? (v.reach_z * shape.y + from_y * shape.z + zz) * B : -1;
      word_z[m] = there && from_z >= 0 ? (from_z * shape.y + yy) * B : -1;
    }
  }

  __device__ __forceinline__ Address stage() const { return own.ring + slot * v.plan.stage_bytes; }
  __device__ __forceinline__ void await_stage() const { barrier_wait(own.base + place::full + 8 * slot, phase); }
  __device__ __forceinline__ void release_stage() const {
    __syncwarp();
    if (lane == 0) barrier_arrive(own.base + place::empty + 8 * slot);
  }
  __device__ __forceinline__ void advance(int by) {
    slot += by;
    while (slot >= v.plan.stages) {
      slot -= v.plan.stages;
      phase ^= 1;
    }
  }
  /// Step q of the tile and of its borders are complete.
  __device__ __forceinline__ void await_step(int q) const {
    if (q >= -v.deepest && v.plan.border_warps > 0) {
      barrier_wait(own.base + place::border + 8 * (q & mask), static_cast<unsigned>((q + v.deepest) >> v.log_history) & 1);
    }
    if (q >= 0) barrier_wait(own.base + place::done + 8 * (q & mask), static_cast<unsigned>(q >> v.log_history) & 1);
  }
  /// Where this level's points are in the stage, and their r.
  __device__ __forceinline__ void begin() {
    const Address here = stage();
    int rank[M];
    load(here, start);
    load(here + 8, length);
#pragma unroll
    for (int m = 0; m < M; ++m) load(here + rank_at[m], rank[m]);
#pragma unroll
    for (int m = 0; m < M; ++m) {
      on[m] = static_cast<unsigned>(s - first[m]) < static_cast<unsigned>(v.vector.front.nx);
      at[m] = on[m] ? (rank[m] + y[m]) * B : 0;
    }
#pragma unroll
    for (int m = 0; m < M; ++m) load(here + v.plan.r_offset + (at[m] + row) * static_cast<int>(sizeof(V)), sum[m]);
    if constexpr (sizeof(S) < sizeof(V)) {
#pragma unroll
      for (int m = 0; m < M; ++m) sum[m] *= static_cast<V>(v.r_scale);
    }
  }
  __device__ __forceinline__ int history_of(int q) const {
    const HistoryPlace from = v.place[q];
    return ((s - from.behind) & mask) * v.plan.plane_bytes + from.at;
  }
  __device__ __forceinline__ void finish() {
    const int now = (s & mask) * v.plan.plane_bytes + row * static_cast<int>(sizeof(V));
#pragma unroll
    for (int m = 0; m < M; ++m) {
      if (alive[m]) store(position[m] + now, on[m] ? sum[m] : V(0));
    }
    __syncwarp();
    if (lane == 0) barrier_arrive(own.base + place::done + 8 * (s & mask));
#pragma unroll
    for (int m = 0; m < M; ++m) {
      if (word_y[m] >= 0 && on[m]) store_word(words + word_y[m], bits_of(sum[m]), own.epoch);
      if (word_z[m] >= 0 && on[m]) store_word(words + word_z[m], bits_of(sum[m]), own.epoch);
    }
    words += word_step * v.plan.groups;
    V* x = static_cast<V*>(v.x) + start + row;
#pragma unroll
    for (int m = 0; m < M; ++m) {
      if (on[m]) x[at[m]] = sum[m];
    }
  }
  __device__ __forceinline__ void run_whole();
  __device__ __forceinline__ void run_pieces();
};

/// Scalars, all entries in one stage: coefficients into registers first, then the stage is free again.
template <int B, int M, int NE, class V, class S>
__device__ __forceinline__ void SweepLines<B, M, NE, V, S>::run_whole() {
  constexpr int chunk = M > 2 ? 3 : M == 2 ? 4 : 7;
  for (s = group; s < own.levels; s += v.plan.groups) {
    S coefficient[NE][M], diagonal[M];
    await_stage();
    begin();
    const int column = length * static_cast<int>(sizeof(S));
    Address c[M];
#pragma unroll
    for (int m = 0; m < M; ++m) {
      const Address base = stage() + v.plan.values_offset + at[m] * static_cast<int>(sizeof(S));
      if (!v.lower) load(base, diagonal[m]);
      c[m] = base + (v.lower ? 0 : NE * column);
    }
#pragma unroll
    for (int q = 0; q < NE; ++q) {
#pragma unroll
      for (int m = 0; m < M; ++m) {
        load(c[m], coefficient[q][m]);
        c[m] += v.lower ? column : -column;
      }
    }
    release_stage();
    advance(v.plan.groups);
    bool ready = false;
    await_step(s - 2);
#pragma unroll
    for (int q0 = 0; q0 < NE; q0 += chunk) {
      V from[chunk][M];
      if (!ready && min(NE, q0 + chunk) > v.early) {
        await_step(s - 1);
        ready = true;
      }
#pragma unroll
      for (int u = 0; u < chunk; ++u) {
        if (q0 + u >= NE) continue;
        const int h = history_of(q0 + u);
#pragma unroll
        for (int m = 0; m < M; ++m) load(position[m] + h, from[u][m]);
      }
#pragma unroll
      for (int u = 0; u < chunk; ++u) {
        if (q0 + u >= NE) continue;
#pragma unroll
        for (int m = 0; m < M; ++m) sum[m] = fma(-widened<V>(coefficient[q0 + u][m]), from[u][m], sum[m]);
      }
    }
    if (!ready) await_step(s - 1);
    if (!v.lower) {
#pragma unroll
      for (int m = 0; m < M; ++m) sum[m] = widened<V>(diagonal[m]) * sum[m];
    }
    finish();
  }
}

/// Blocks, or any number of entries: piece by piece, several entries' loads under way at once.
template <int B, int M, int NE, class V, class S>
__device__ __forceinline__ void SweepLines<B, M, NE, V, S>::run_pieces() {
  constexpr int together = B * M >= 16 ? 1 : B * M >= 8 ? 2 : B * M >= 4 ? 3 : 4;
  for (s = group; s < own.levels; s += v.plan.groups) {
    V diagonal[M][B];
    bool ready = false;
    for (int p = 0; p < v.plan.pieces; ++p) {
      const int q0 = p * v.plan.entries_a_stage, q1 = min(v.held, q0 + v.plan.entries_a_stage);
      await_stage();
      if (p == 0) {
        begin();
        await_step(s - 2);
      }
      const int column = length * static_cast<int>(sizeof(S)), entry_step = (v.lower ? B : -B) * column;
      const Address c0 =
          stage() + v.plan.values_offset + row * static_cast<int>(sizeof(S)) + (v.lower ? 0 : (q1 - q0 - 1) * B * column);
      const int last = min(q1, v.count);
      const auto some = [&]<int N>(int q) {
        S coefficient[N][B][M];
        V from[N][B][M];
        if (!ready && q + N > v.early) {
          await_step(s - 1);
          ready = true;
        }
#pragma unroll
        for (int u = 0; u < N; ++u) {
          const int h = history_of(q + u);
#pragma unroll
          for (int m = 0; m < M; ++m) {
            Address c = c0 + (q + u - q0) * entry_step + at[m] * static_cast<int>(sizeof(S));
#pragma unroll
            for (int col = 0; col < B; ++col) {
              load(c, coefficient[u][col][m]);
              c += column;
            }
            if constexpr (B % 2 == 0) {
#pragma unroll
              for (int col = 0; col < B; col += 2) {
                load2(position[m] + h + col * static_cast<int>(sizeof(V)), from[u][col][m], from[u][col + 1][m]);
              }
            } else {
#pragma unroll
              for (int col = 0; col < B; ++col) load(position[m] + h + col * static_cast<int>(sizeof(V)), from[u][col][m]);
            }
          }
        }
#pragma unroll
        for (int u = 0; u < N; ++u) {
#pragma unroll
          for (int col = 0; col < B; ++col) {
#pragma unroll
            for (int m = 0; m < M; ++m) sum[m] = fma(-widened<V>(coefficient[u][col][m]), from[u][col][m], sum[m]);
          }
        }
      };
      int q = q0;
      for (; q + together <= last; q += together) some.template operator()<together>(q);
      for (; q < last; ++q) some.template operator()<1>(q);
      if (!v.lower && q1 == v.held) {
#pragma unroll
        for (int m = 0; m < M; ++m) {
          Address c = c0 + (v.count - q0) * entry_step + at[m] * static_cast<int>(sizeof(S));
#pragma unroll
          for (int col = 0; col < B; ++col) {
            S value;
            load(c, value);
            diagonal[m][col] = widened<V>(value);
            c += column;
          }
        }
      }
      release_stage();
      advance(1);
    }
    advance((v.plan.groups - 1) * v.plan.pieces);
    if (!ready) await_step(s - 1);
    if (!v.lower) {
#pragma unroll
      for (int m = 0; m < M; ++m) {
        V result = 0;
#pragma unroll
        for (int col = 0; col < B; ++col) {
          const V w = B == 1 ? sum[m] : __shfl_sync(all_lanes, sum[m], lane - row + col);
          result = col == 0 ? diagonal[m][0] * w : fma(diagonal[m][col], w, result);
        }
        sum[m] = result;
      }
    }
    finish();
  }
}

template <int B, int M, int NE, class V, class S>
__global__ void __launch_bounds__(sweep_limits::threads, 1)
    wavefront_sweep_kernel(const __grid_constant__ WavefrontSweepView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  const SweepBlock& plan = v.plan;
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  OwnTile own;
  own.base = shared_address(memory);
  own.history = own.base + sweep_limits::head_bytes;
  own.ring = own.history + (plan.history * plan.plane_bytes + 127) / 128 * 128;
  if (threadIdx.x == 0) {
    const int ticket = static_cast<int>(atomicAdd(&v.state->ticket, 1u));
    store(own.base + place::tile, v.lower ? ticket : v.vector.tiles.count - 1 - ticket);
    store(own.base + place::epoch, static_cast<std::int64_t>(*const_cast<volatile unsigned long long*>(&v.state->epoch)));
    for (int stage = 0; stage < plan.stages; ++stage) {
      barrier_init(own.base + place::full + 8 * stage, 1);
      barrier_init(own.base + place::empty + 8 * stage, plan.warps);
    }
    for (int level = 0; level < plan.history; ++level) {
      if (plan.border_warps > 0) barrier_init(own.base + place::border + 8 * level, plan.border_warps);
      barrier_init(own.base + place::done + 8 * level, plan.warps);
    }
    barriers_are_ready();
  }
  for (int at = threadIdx.x * 4; at < plan.history * plan.plane_bytes; at += blockDim.x * 4) store(own.history + at, 0);
  __syncthreads();
  std::int64_t epoch;
  load(own.base + place::tile, own.number);
  load(own.base + place::epoch, epoch);
  own.epoch = static_cast<unsigned long long>(epoch);
  // Only a test that skips tiles gives out more tickets than there are tiles.
  if (static_cast<unsigned>(own.number) >= static_cast<unsigned>(v.vector.tiles.count)) return finish_block(v);
  own.tile = v.vector.tiles.tiles[own.number];
  own.levels = own.tile.levels;
  own.first_run = v.vector.first_run[own.number];
  own.slots = v.reach_z * v.vector.tiles.shape.y + v.reach_y * v.vector.tiles.shape.z;
  const int computing = plan.warps * plan.groups;
  if (warp == computing) {
    copy_ahead<B, V, S>(v, own, lane);
  } else if (warp > computing) {
    fetch_borders<B, V>(v, own, warp - computing - 1, lane);
  } else {
    SweepLines<B, M, NE, V, S> lines(v, own, warp, lane);
    // Later groups have these behind them with the steps they wait for; they may also come too late to ask.
    for (int s = -v.deepest; s < 0 && plan.border_warps > 0 && lines.group < 2; ++s) {
      barrier_wait(own.base + place::border + 8 * (s & (plan.history - 1)), 0);
    }
    if constexpr (NE > 0 && B == 1) {
      lines.run_whole();
    } else {
      lines.run_pieces();
    }
  }
  finish_block(v);
}

}  // namespace echelon::device
