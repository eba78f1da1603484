// SPDX-License-Identifier: BSD-3-Clause
// Products in tile order (tile_product_view.hpp) whose coefficients come through a ring: a block of threads walks some
// levels of a tile; one warp copies the runs of coming levels into shared memory by bulk copies, `batch` entries of a level
// a stage, so that enough bytes are under way however long a row waits for x; the others have a line each and one row of its
// points, neighbours in ŷ side by side, and where levels are small several levels at once. Where lines are stands in shared
// memory before the walk begins (tile_product.inl). x is read through the caches: all lines of a level together, so it comes
// from the first-level one but for its first time, and then from the second-level one, where the copying warp has sent it.
// Reads are safe: a stage is filled when all warps have left it and read when its bytes are there. Bytes a scalar row: 8 b
// an entry, and 16 (residual: 24); 4/shape.y of the table; x of the tiles beside it (star7, tiles of 16×16: by count 3–5
// bytes a row if they have left the second-level cache, which walks in the order of the levels avoid).
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include "echelon/base/cuda/bulk_once.cuh"
#include "echelon/base/cuda/warp_barrier.cuh"
#include "echelon/matrix/grid_gpu/tile_product.inl"

namespace echelon::tile_product {

constexpr int warp = 32;
/// Threads that compute: so many where a level has fewer rows, at most `most_rows`.
constexpr int threads_wanted = 256, most_rows = 512;
constexpr int most_shared_bytes = 227 * 1024 - 256;
/// For all blocks of an SM; the rest is left to x.
constexpr int shared_bytes_an_sm = 160 * 1024;
constexpr int least_stages = 2, most_stages = 8;

/// What a block of threads does and where it keeps it.
struct StreamPlan {
  bool scalars;     // one unknown a point
  int lines, rows;  // of a level
  int groups;       // levels at once
  int warps;        // that compute
  int stages, columns;
  unsigned run_bytes, stage_bytes;
  unsigned barriers, steps, columns_at, window, constants;  // bytes from the ring's begin
  unsigned bytes;

  /// `held`: what entries of a line have of their own stays in registers.
  StreamPlan(const TileProductView& v, int together, bool held) {
    const TileView& tiles = v.vector.tiles;
    const auto up = [](int n, int to) { return (n + to - 1) / to * to; };
    scalars = v.block == 1;
    lines = tiles.shape.y * tiles.shape.z;
    rows = lines * v.block;
    groups = std::clamp(threads_wanted / rows, 1, std::max(v.window.levels, 1));
    warps = up(rows * groups, warp) / warp;
    run_bytes = static_cast<unsigned>(std::min(together, v.entries) * v.block * up(rows, 8) * 8);
    stage_bytes = run_bytes * static_cast<unsigned>(groups);
    columns = v.window.columns(tiles.shape);
    const auto place = [&](unsigned& at, std::size_t size) {
      at = bytes;
      bytes = static_cast<unsigned>(up(static_cast<int>(bytes + size), 16));
    };
    const auto count = [](int n) { return static_cast<std::size_t>(n); };
    bytes = 0;
    place(barriers, 2 * most_stages * sizeof(std::uint64_t));
    place(steps, count(v.entries) * sizeof(EntryStep));
    place(columns_at, count(columns) * sizeof(TableColumn));
    place(window, count(columns) * count(v.window.rows()) * sizeof(unsigned));
    place(constants, held ? 0 : count(lines) * count(v.entries) * sizeof(int));
    const int resident = warps > threads_wanted / warp ? 2 : scalars ? 4 : 3;
    const int room = (shared_bytes_an_sm / resident - static_cast<int>(bytes)) / static_cast<int>(stage_bytes);
    stages = std::clamp(room, least_stages, most_stages);
    const unsigned ring = stage_bytes * static_cast<unsigned>(stages);
    for (unsigned* at : {&barriers, &steps, &columns_at, &window, &constants, &bytes}) *at += ring;
  }
  bool fits() const { return warps * warp <= (scalars ? most_rows : threads_wanted) && bytes <= most_shared_bytes; }
};

/// A stage after the other, round and round.
struct Turn {
  int stage = 0;
  unsigned parity = 0;
  __device__ void next(int stages) {
    if (++stage < stages) return;
    stage = 0;
    parity ^= 1;
  }
};

struct Ring {
  device::Address begin, full, empty;
  __device__ Ring(const unsigned char* memory, const StreamPlan& plan)
      : begin(device::shared_address(memory)), full(begin + plan.barriers), empty(full + 8 * most_stages) {}
};

/// The warp that copies: a lane a level of the group.
__device__ __forceinline__ void copy_ahead(const TileProductView& v, const StreamPlan& plan, const Ring& ring, int together,
                                           int lane) {
  const TileStretch walk = v.stretches[blockIdx.x];
  const Tile tile = v.vector.tiles.tiles[walk.tile];
  const unsigned columns = static_cast<unsigned>(v.entries * v.block);
  const unsigned long long policy = device::read_once_policy();
  const std::int64_t* const starts = v.vector.run_start + v.vector.first_run[walk.tile];
  const auto start_of = [&](int level) { return __ldg(starts + min(level, walk.last)); };
  Turn turn;
  turn.parity = 1;  // all stages are empty
  std::int64_t start = start_of(walk.first + lane), end = start_of(walk.first + lane + 1);
  // x is asked for before the first row that reads it comes: so far ahead, and at first all up to there.
  const int ahead = plan.groups + v.window.reach_level, last_x = min(walk.last + v.window.reach_level, tile.levels);
  const auto x_start_of = [&](int level) { return __ldg(starts + min(level, last_x)); };
  const auto ask_for_x = [&](std::int64_t from, std::int64_t to) {
    if (to > from) device::bulk_prefetch(v.x + from, static_cast<unsigned>(to - from) * 8);
  };
  for (int l = walk.first + lane; l < min(walk.first + ahead, last_x); l += warp) ask_for_x(starts[l], starts[l + 1]);
  std::int64_t x_start = x_start_of(walk.first + ahead + lane), x_end = x_start_of(walk.first + ahead + lane + 1);
  for (int l = walk.first; l < walk.last; l += plan.groups) {
    const unsigned length = lane < plan.groups ? static_cast<unsigned>(end - start) : 0;
    const double* const from = v.values + start * columns;
    start = start_of(l + plan.groups + lane);
    end = start_of(l + plan.groups + lane + 1);
    if (lane < plan.groups) ask_for_x(x_start, x_end);
    x_start = x_start_of(l + plan.groups + ahead + lane);
    x_end = x_start_of(l + plan.groups + ahead + lane + 1);
    for (int e = 0; e < v.entries; e += together) {
      const auto held = static_cast<unsigned>(min(together, v.entries - e) * v.block);
      const unsigned bytes = held * length * 8, all = __reduce_add_sync(0xffffffffu, bytes);
      const device::Address full = ring.full + 8 * turn.stage;
      device::barrier_wait_idle(ring.empty + 8 * turn.stage, turn.parity);
      if (lane == 0) device::barrier_expect(full, all);
      __syncwarp();
      if (bytes > 0) {
        device::bulk_copy_once(ring.begin + turn.stage * plan.stage_bytes + lane * plan.run_bytes,
                               from + std::int64_t{e} * v.block * length, bytes, full, policy);
      }
      turn.next(plan.stages);
    }
  }
}

/// The computing threads meet.
__device__ __forceinline__ void meet(const StreamPlan& plan) {
  asm volatile("bar.sync 1, %0;" ::"r"(plan.warps * warp) : "memory");
}

/// What entries of a line have of their own, in registers; the steps are constants of the launch.
template <int E>
struct HeldPlaces {
  int constants[E];
  const EntryStep* steps;
  __device__ int constant(int e) const { return constants[e]; }
  __device__ EntryStep step(int e) const { return steps[e]; }
};

/// Of one unknown a point a level may have more rows.
template <int B>
constexpr int most_threads = (B == 1 ? most_rows : threads_wanted) + warp;
/// Resident at least, as many as leave registers enough: 56 for scalars, 72 for blocks.
template <int B, class Sum>
constexpr int least_resident = (B == 1 ? 2 : 3) - (Sum::wide ? 1 : 0);

/// E = 0 takes the number of entries at run time.
template <int B, class Sum, int E>
__global__ void __launch_bounds__(most_threads<B>, least_resident<B, Sum>)
    streamed_rows_kernel(const __grid_constant__ TileProductView v, const __grid_constant__ StreamPlan plan) {
  extern __shared__ __align__(128) unsigned char memory[];
  constexpr int together = batch<B>;
  constexpr bool held = E > 0, dotted = std::is_same_v<Sum, DottedSum>;
  static_assert(!held || E <= TileProductView::few_entries);
  const int own = static_cast<int>(threadIdx.x), lane = own % warp, threads = plan.warps * warp;
  const Ring ring(memory, plan);
  if (own == 0) {
    for (int s = 0; s < plan.stages; ++s) {
      device::barrier_init(ring.full + 8 * s, 1);
      device::warp_barrier_init(ring.empty + 8 * s, plan.warps);
    }
    device::barriers_are_ready();
  }
  __syncthreads();
  if (own >= threads) return copy_ahead(v, plan, ring, together, lane);

  auto* const steps = reinterpret_cast<EntryStep*>(memory + plan.steps);
  auto* const columns = reinterpret_cast<TableColumn*>(memory + plan.columns_at);
  auto* const window = reinterpret_cast<unsigned*>(memory + plan.window);
  auto* const constants = reinterpret_cast<int*>(memory + plan.constants);
  const TileView& tiles = v.vector.tiles;
  const Wavefront& front = v.vector.front;
  const TileStretch stretch = v.stretches[blockIdx.x];
  const Tile tile = tiles.tiles[stretch.tile];
  const int first_level = tile.first_level + stretch.first - v.window.reach_level;
  const int group = own / plan.rows, slot = own - group * plan.rows, n = slot / B, row = slot - n * B;
  const int in_z = n / tiles.shape.y, in_y = n - in_z * tiles.shape.y;
  for (int c = own; c < plan.columns; c += threads) columns[c] = window_column(v, stretch.tile, c);
  if constexpr (!held) {
    for (int e = own; e < v.entries; e += threads) steps[e] = step_of(v, e);
    for (int k = own; k < plan.lines * v.entries; k += threads) {
      const int e = k / plan.lines, of = k - e * plan.lines, z = of / tiles.shape.y;
      constants[k] = neighbour_constant(v, {stretch.tile, tile.y + of - z * tiles.shape.y, tile.z + z}, e, first_level);
    }
  }
  meet(plan);
  // A warp a level: neighbours in ẑ are neighbours in the table.
  for (int r = own / warp; r < stretch.last - stretch.first + 2 * v.window.reach_level + 1; r += plan.warps) {
    for (int c = lane; c < plan.columns; c += warp) {
      window[r * plan.columns + c] = window_value(v, columns[c], first_level + r);
    }
  }
  const Line line{stretch.tile, tile.y + in_y, tile.z + in_z};
  const bool has_line = group < plan.groups && front.has_line(line.y, line.z);
  const Walk walk = walk_of(v, line, window, first_level);
  std::conditional_t<held, HeldPlaces<held ? E : 1>, Places> places;
  if constexpr (held) {
    places.steps = v.steps;
    for (int e = 0; e < E; ++e) places.constants[e] = neighbour_constant(v, line, e, first_level);
  } else {
    places = {constants + n, plan.lines, steps};
  }
  meet(plan);

  double dot = 0;
  Turn turn;
  for (int l = stretch.first; l < stretch.last; l += plan.groups) {
    const int level = tile.first_level + l + group;
    const bool inside =
        has_line && l + group < stretch.last && static_cast<unsigned>(level - walk.start) < static_cast<unsigned>(front.nx);
    RowPlace at{};
    if (inside) at = place_of(walk, level, row);
    Sum sum(v, at.at);
    double own_x = 0;
    if constexpr (dotted) own_x = v.x[at.at];
    const unsigned char* const A = memory + group * plan.run_bytes + (at.at - at.start) * 8;
    for (int e = 0; e < (held ? E : v.entries); e += together) {
      Batch<B, Sum, E> entries;
      if (inside) entries.ask(v, walk, places, at, e);
      device::barrier_wait(ring.full + 8 * turn.stage, turn.parity);
      if (inside) {
        entries.template add<true>(reinterpret_cast<const double*>(A + turn.stage * plan.stage_bytes), at.length, sum);
      }
      device::warp_arrives(ring.empty + 8 * turn.stage, lane);
      turn.next(plan.stages);
    }
    if (inside) {
      const double y = sum.result();
      v.y[at.at] = y;
      if constexpr (dotted) dot = fma(own_x, y, dot);
    }
  }
  if constexpr (dotted) {
    __shared__ double of_warp[most_rows / warp];
    for (int half = warp / 2; half > 0; half /= 2) dot += __shfl_down_sync(0xffffffffu, dot, half);
    if (lane == 0) of_warp[own / warp] = dot;
    meet(plan);
    if (own > 0) return;
    for (int w = 1; w < plan.warps; ++w) dot += of_warp[w];
    v.parts[blockIdx.x] = dot;
  }
}

}  // namespace echelon::tile_product
