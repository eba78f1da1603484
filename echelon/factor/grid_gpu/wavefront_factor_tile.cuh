// SPDX-License-Identifier: BSD-3-Clause
// What the factorization's kernels share: taking a tile, the three warps that serve the others (one polls for neighbours'
// levels and gives up after `patience`, one publishes the tile's own and has A fetched ahead, one reads the tables), and
// finding a neighbour's values from the records kept in shared memory.
//
// Memory order: values are written and read as ordinary memory. A level's writes come before the barrier at its end, that
// before the publisher's release; a poller's acquire comes before the barrier at the beginning of the level that needs it.
#pragma once

#include "echelon/base/cuda/cuda_async.cuh"
#include "echelon/factor/blocks_gpu/attempt.cuh"
#include "echelon/factor/grid_gpu/wavefront_factor_view.hpp"

namespace echelon {

constexpr int levels_fetched_ahead = 6;
/// Warps that poll, publish and read the tables.
constexpr int serving_warps = 3;
constexpr int no_level = 2147483647;

__device__ __forceinline__ void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// The tile that waits, and for which of its levels.
struct Waiting {
  int tile, level;
};
/// How many levels are finished where `index` counts them: at least `needed`, or 0 when everything stops.
template <class T>
__device__ __forceinline__ unsigned look_for_progress(const WavefrontFactorView<T>& v, int index, unsigned needed,
                                                      Waiting who) {
  const unsigned long long begin = device::nanoseconds();
  for (unsigned polls = 1; load_relaxed(v.progress + index) < needed; ++polls) {
    if (polls % static_cast<unsigned>(spins_between_looks) != 0) continue;
    const bool late = device::nanoseconds() - begin > static_cast<unsigned long long>(v.patience);
    if (late && atomicCAS(&v.status->stuck_tile, 0, who.tile + 1) == 0) v.status->stuck_level = who.level;
    if (late || *static_cast<volatile int*>(&v.status->stuck_tile) != 0) return 0;
  }
  // An acquire empties the first-level cache: once, not at every look.
  return load_acquire(v.progress + index);
}
/// The same as a call, for kernels that have no registers to spare.
template <class T>
__device__ __noinline__ unsigned poll_progress(const WavefrontFactorView<T>& v, int index, unsigned needed, Waiting who) {
  return look_for_progress(v, index, needed, who);
}

/// Where the levels of a tile stand in the tables.
struct NearTile {
  std::int64_t first_run;
  int tile, first_level, levels;
};

/// Shared memory of one tile.
struct TileFrame {
  int tile;
  int stop;  // the level before which everything stops; one that is never reached while all goes well
  Tile own;
};

/// Parts of the dynamic shared memory, in bytes from its beginning: the same sums on host and device.
struct FactorShared {
  int near, ring, entries, end;
  int levels_kept, near_count;

  template <class T>
  ECHELON_FN explicit FactorShared(const WavefrontFactorView<T>& v) {
    near_count = v.tiles_y * v.tiles_z;
    levels_kept = v.deepest + 3;  // those that are read, and two on their way
    near = aligned(sizeof(TileFrame));
    ring = aligned(near + near_count * static_cast<int>(sizeof(NearTile)));
    entries = aligned(ring + near_count * levels_kept * v.record_bytes);
    end = aligned(entries + v.entry_count * static_cast<int>(sizeof(FactorEntry)));
  }
  ECHELON_FN static int aligned(int bytes) { return (bytes + 15) / 16 * 16; }
};

/// The values of one point: column c of entry e begins at at + (e·b + c)·run.
template <class T>
struct PointValues {
  T* at;
  int run;
};

/// A block of threads' view of its tile.
template <class T>
struct TileWork {
  const WavefrontFactorView<T>& v;
  unsigned char* memory;
  FactorShared part;

  __device__ TileWork(const WavefrontFactorView<T>& view, unsigned char* shared) : v(view), memory(shared), part(view) {}
  __device__ TileFrame& frame() const { return *reinterpret_cast<TileFrame*>(memory); }
  __device__ NearTile& near(int n) const { return reinterpret_cast<NearTile*>(memory + part.near)[n]; }
  __device__ const FactorEntry& entry(int e) const { return reinterpret_cast<const FactorEntry*>(memory + part.entries)[e]; }
  /// All threads: takes the next tile and reads its tables; false when there is none left.
  __device__ bool take() const {
    TileFrame& f = frame();
    const TileView& tiles = v.vector.tiles;
    __syncwarp();  // lanes that served alone come back: the barrier wants whole warps
    __syncthreads();
    if (threadIdx.x == 0) {
      f.tile = static_cast<int>(atomicAdd(&v.status->ticket, 1u));
      f.stop = no_level;
      if (f.tile < tiles.count) f.own = tiles.tiles[f.tile];
    }
    __syncwarp();
    __syncthreads();
    if (f.tile >= tiles.count) return false;
    for (int n = threadIdx.x; n < part.near_count; n += blockDim.x) {
      const int y = f.own.y / tiles.shape.y - n % v.tiles_y, z = f.own.z / tiles.shape.z - n / v.tiles_y;
      const int t = y < 0 || z < 0 ? -1 : tiles.tile_of[z * tiles.tiles_y + y];
      near(n) = t < 0 ? NearTile{0, -1, 0, 0}
                      : NearTile{v.vector.first_run[t], t, tiles.tiles[t].first_level, tiles.tiles[t].levels};
    }
    auto* to = reinterpret_cast<int*>(memory + part.entries);
    const auto* from = reinterpret_cast<const int*>(v.entries);
    for (int n = threadIdx.x; n < v.entry_count * 6; n += blockDim.x) to[n] = from[n];
    __syncthreads();
    return true;
  }

  /// All threads, from wherever they are in the program: bar.sync wants them at the same place.
  __device__ static void meet_all() { asm volatile("barrier.sync 15, %0;" ::"r"(static_cast<int>(blockDim.x)) : "memory"); }

  __device__ int slot_of(int level) const { return (level + part.levels_kept) % part.levels_kept; }
  __device__ const unsigned char* record(int n, int slot) const {
    return memory + part.ring + (n * part.levels_kept + slot) * v.record_bytes;
  }

  /// One warp: asks for the records of this level, of all near tiles that have it. One group of copies under way.
  __device__ void ask_for_records(int level) const {
    const int lane = threadIdx.x % 32, units = v.record_bytes / 16, slot = slot_of(level);
    for (int item = lane; item < part.near_count * units; item += 32) {
      const int n = item / units, unit = item - n * units;
      const NearTile& t = near(n);
      if (level < t.first_level || level >= t.first_level + t.levels) continue;
      const auto* from = v.records + (t.first_run + level - t.first_level) * v.record_bytes + unit * 16;
      const auto to = static_cast<unsigned>(
          __cvta_generic_to_shared(memory + part.ring + (n * part.levels_kept + slot) * v.record_bytes + unit * 16));
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }

  /// Values of the point of line (yy, zz), counted from the tile's first line and not after its last one, at a level whose
  /// slot is `slot`; of a point that is not there, the first of all values again and again: what is loaded without need
  /// need not be branched around, and loads of a row stay under way together. Its slot stays: another one might be on its
  /// way. For v.is_near().
  __device__ PointValues<T> values(bool there, int yy, int zz, int slot) const {
    yy = there ? yy : 0, zz = there ? zz : 0;
    const int n = (yy < 0 ? 1 : 0) + (zz < 0 ? v.tiles_y : 0);
    const PointValues<T> found = values_of(n, frame().own.y + yy, zz < 0 ? zz + v.vector.tiles.shape.z : zz, slot);
    return {there ? found.at : v.values, there ? found.run : 0};
  }
  /// The same for neighbours any number of tiles away; the point is there.
  __device__ PointValues<T> far_values(int yy, int zz, int slot) const {
    const TileShape shape = v.vector.tiles.shape;
    const int y = frame().own.y + yy;
    int n = 0;
    for (; yy < 0; yy += shape.y) ++n;
    for (; zz < 0; zz += shape.z) n += v.tiles_y;
    return values_of(n, y, zz, slot);
  }
  /// Of line (y, zz) of near tile n.
  __device__ PointValues<T> values_of(int n, int y, int zz, int slot) const {
    const unsigned char* at = record(n, slot);
    const auto& head = *reinterpret_cast<const FactorRecord*>(at);
    const int rank = reinterpret_cast<const int*>(at + sizeof(FactorRecord))[zz] + y;
    return {v.values + head.first * (v.entry_count * v.block) + rank * v.block, head.run};
  }

  /// The reader's whole life: records are there when their level begins.
  __device__ void read() const {
    const TileFrame& f = frame();
    const int end = f.own.first_level + f.own.levels;
    for (int level = f.own.first_level - v.deepest; level <= f.own.first_level; ++level) ask_for_records(level);
    for (int level = f.own.first_level; level < end; ++level) {
      if (level + 1 < end) {
        ask_for_records(level + 1);
        asm volatile("cp.async.wait_group 1;" ::: "memory");
      } else {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
      }
      meet_all();
      if (level >= f.stop) return;
    }
    meet_all();
  }

  /// The poller's whole life. Other warps meet it at a barrier before every level, and once at the end.
  __device__ void poll() const {
    const TileFrame& f = frame();
    const TileView& tiles = v.vector.tiles;
    const int lane = threadIdx.x % 32;
    const int first_wait = tiles.wait_start[f.tile], waits = tiles.wait_start[f.tile + 1] - first_wait;
    const TileWait own = lane < waits ? tiles.waits[first_wait + lane] : TileWait{};
    const Tile other = lane < waits ? tiles.tiles[own.tile] : Tile{};
    unsigned seen = 0;  // levels finished of this lane's first neighbour
    for (int level = f.own.first_level; level < f.own.first_level + f.own.levels; ++level) {
      if (lane < waits) {
        const auto needed = static_cast<unsigned>(TileView::needed(other, own.behind, level));
        if (seen < needed) seen = wait_for(own.tile, needed, level);
      }
      for (int w = lane + 32; w < waits; w += 32) {
        const TileWait wait = tiles.waits[first_wait + w];
        wait_for(wait.tile, static_cast<unsigned>(TileView::needed(tiles.tiles[wait.tile], wait.behind, level)), level);
      }
      __syncwarp();
      meet_all();
      if (level >= f.stop) return;
    }
    meet_all();
  }

  /// What the warps do that do not compute, the first of them being number 0.
  __device__ void serve(int warp) const {
    if (warp == 0) {
      poll();
    } else if (warp == 1) {
      publish();
    } else {
      read();
    }
  }

  /// Levels of the tile that are finished; everything stops when the wait is in vain.
  __device__ unsigned wait_for(int tile, unsigned needed, int level) const {
    unsigned finished = load_acquire(v.progress + tile);
    if (finished >= needed) return finished;
    finished = poll_progress(v, tile, needed, {frame().tile, level});
    if (finished < needed) frame().stop = level;
    return finished;
  }

  /// The publisher's whole life: says which levels are finished, and has A fetched to the second-level cache ahead.
  __device__ void publish() const {
    const TileFrame& f = frame();
    const int lane = threadIdx.x % 32, levels = f.own.levels;
    const std::int64_t* start = v.vector.run_start + v.vector.first_run[f.tile];
    int ahead = 0;  // levels asked for
    std::int64_t next = start[0], after = start[1];
    for (int s = 0; s <= levels; ++s) {
      meet_all();
      if (f.own.first_level + s >= f.stop) return;
      for (; lane == 1 && ahead < levels && ahead <= s + levels_fetched_ahead; ++ahead) {
        fetch_ahead(next, after);
        next = after;
        after = start[ahead + 2 <= levels ? ahead + 2 : levels];
      }
      if (lane == 0 && s > 0) store_release(v.progress + f.tile, static_cast<unsigned>(s));
      __syncwarp();
    }
  }

  /// Vector scalars [begin, end) of the matrix, to the second-level cache, where the architecture has the instruction.
  __device__ void fetch_ahead([[maybe_unused]] std::int64_t begin, [[maybe_unused]] std::int64_t end) const {
#if __CUDA_ARCH__ >= 900
    const std::int64_t unit = std::int64_t{v.entry_count} * v.block;
    const auto bytes = static_cast<unsigned>((end - begin) * unit * static_cast<std::int64_t>(sizeof(T)));
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(v.source + begin * unit), "r"(bytes));
#endif
  }
};

}  // namespace echelon
