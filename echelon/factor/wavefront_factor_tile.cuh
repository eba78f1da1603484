// SPDX-License-Identifier: BSD-3-Clause
// What the factorization's kernels share: taking a tile, waiting for its neighbours' levels (a warp that only polls, reads
// the tables ahead and gives up after `patience`), publishing its own (a warp that only does that), finding a neighbour's
// values from the records kept in shared memory, and the log of bad pivots.
//
// Memory order: values are written and read as ordinary memory. A level's writes come before the barrier at its end, that
// before the publisher's release; a poller's acquire comes before the barrier at the beginning of the level that needs it.
#pragma once

#include "echelon/factor/pivot_repair.hpp"
#include "echelon/factor/wavefront_factor_view.hpp"

namespace echelon {

constexpr int spins_between_looks = 1024;
constexpr int levels_fetched_ahead = 6;
constexpr int no_level = 2147483647;

__device__ __forceinline__ unsigned load_acquire(const unsigned* p) {
  unsigned x;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ unsigned load_relaxed(const unsigned* p) {
  unsigned x;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ void store_release(unsigned* p, unsigned x) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}
__device__ __forceinline__ void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}
/// To the second-level cache, where the architecture has the instruction.
__device__ __forceinline__ void fetch_ahead([[maybe_unused]] const void* from, [[maybe_unused]] unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
#endif
}
/// Largest of sizes ≥ 0.
__device__ __forceinline__ void raise(unsigned long long* largest, double size) {
  atomicMax(largest, static_cast<unsigned long long>(__double_as_longlong(size)));
}

/// Bad pivots of all blocks of threads; few are kept, so most find out without the lock that they are not among the first.
struct DevicePivotLog {
  FactorStatus* status;
  __device__ void add(std::int64_t position, const PivotNote& note) const {
    PivotNotes& notes = status->notes;
    atomicAdd(reinterpret_cast<unsigned long long*>(&notes.count), 1ull);
    const volatile PivotNotes& seen = notes;
    const bool new_kind = (note.kind == PivotNote::Kind::nonfinite_input && !seen.nonfinite_input) ||
                          (note.kind == PivotNote::Kind::overflow && !seen.nonfinite);
    if (!new_kind && seen.used == PivotNotes::kept && position > seen.positions[PivotNotes::kept - 1]) return;
    for (bool done = false; !done;) {
      if (atomicCAS(&status->lock, 0u, 1u) != 0) continue;
      __threadfence();
      notes.note_kind(note.kind);
      notes.keep(position, note);
      __threadfence();
      atomicExch(&status->lock, 0u);
      done = true;
    }
  }
};

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
  int near, ring, entries, upper_of, end;
  int levels_kept, near_count;

  template <class T>
  ECHELON_FN FactorShared(const WavefrontFactorView<T>& v, bool with_pairs) {
    near_count = v.tiles_y * v.tiles_z;
    levels_kept = v.deepest + 2;
    near = aligned(sizeof(TileFrame));
    ring = aligned(near + near_count * static_cast<int>(sizeof(NearTile)));
    entries = aligned(ring + near_count * levels_kept * v.record_bytes);
    upper_of = aligned(entries + v.entry_count * static_cast<int>(sizeof(FactorEntry)));
    end = aligned(upper_of + (with_pairs ? v.center * v.entry_count * 2 : 0));
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
  bool with_pairs;  // the kernel wants upper_of
  FactorShared part;

  __device__ TileWork(const WavefrontFactorView<T>& view, unsigned char* shared, bool pairs)
      : v(view), memory(shared), with_pairs(pairs), part(view, pairs) {}
  __device__ TileFrame& frame() const { return *reinterpret_cast<TileFrame*>(memory); }
  __device__ NearTile& near(int n) const { return reinterpret_cast<NearTile*>(memory + part.near)[n]; }
  __device__ const FactorEntry& entry(int e) const { return reinterpret_cast<const FactorEntry*>(memory + part.entries)[e]; }
  __device__ int upper_of(int m, int t) const {
    return reinterpret_cast<const std::int16_t*>(memory + part.upper_of)[m * v.entry_count + t];
  }

  /// All threads: takes the next tile and reads its tables; false when there is none left.
  __device__ bool take() const {
    TileFrame& f = frame();
    const TileView& tiles = v.vector.tiles;
    __syncthreads();
    if (threadIdx.x == 0) {
      f.tile = static_cast<int>(atomicAdd(&v.status->ticket, 1u));
      f.stop = no_level;
      if (f.tile < tiles.count) f.own = tiles.tiles[f.tile];
    }
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
    auto* pairs = reinterpret_cast<std::int16_t*>(memory + part.upper_of);
    for (int n = threadIdx.x; with_pairs && n < v.center * v.entry_count; n += blockDim.x) pairs[n] = v.upper_of[n];
    __syncthreads();
    return true;
  }

  __device__ int slot_of(int level) const { return (level + part.levels_kept) % part.levels_kept; }
  __device__ const unsigned char* record(int n, int slot) const {
    return memory + part.ring + (n * part.levels_kept + slot) * v.record_bytes;
  }

  /// One warp: reads where this level's points are, of all near tiles that have it.
  __device__ void read_records(int level) const {
    const int lane = threadIdx.x % 32, units = v.record_bytes / 16, slot = slot_of(level);
    for (int n = 0; n < part.near_count; ++n) {
      const NearTile& t = near(n);
      if (level < t.first_level || level >= t.first_level + t.levels) continue;
      const auto* from = reinterpret_cast<const int4*>(v.records + (t.first_run + level - t.first_level) * v.record_bytes);
      auto* to = reinterpret_cast<int4*>(memory + part.ring + (n * part.levels_kept + slot) * v.record_bytes);
      for (int u = lane; u < units; u += 32) to[u] = __ldg(from + u);
    }
  }

  /// Values of the point of line (yy, zz), counted from the tile's first line and not after its last one, at a level whose
  /// slot is `slot`.
  __device__ PointValues<T> values(int yy, int zz, int slot) const {
    const int Ty = v.vector.tiles.shape.y, Tz = v.vector.tiles.shape.z;
    const int y = frame().own.y + yy;
    int n = 0;
    for (; yy < 0; yy += Ty) ++n;
    for (; zz < 0; zz += Tz) n += v.tiles_y;
    const unsigned char* at = record(n, slot);
    const auto& head = *reinterpret_cast<const FactorRecord*>(at);
    const int rank = reinterpret_cast<const int*>(at + sizeof(FactorRecord))[zz] + y;
    return {v.values + head.first * (v.entry_count * v.block) + rank * v.block, head.run};
  }

  /// The poller's whole life. Other warps meet it at a barrier before every level, and once at the end.
  __device__ void poll() const {
    const TileFrame& f = frame();
    const TileView& tiles = v.vector.tiles;
    const int lane = threadIdx.x % 32;
    const int first_wait = tiles.wait_start[f.tile], waits = tiles.wait_start[f.tile + 1] - first_wait;
    unsigned seen = 0;  // levels finished of this lane's first neighbour
    for (int level = f.own.first_level - v.deepest; level < f.own.first_level; ++level) read_records(level);
    for (int level = f.own.first_level; level < f.own.first_level + f.own.levels; ++level) {
      read_records(level);
      for (int w = lane; w < waits; w += 32) {
        const TileWait wait = tiles.waits[first_wait + w];
        const auto needed = static_cast<unsigned>(TileView::needed(tiles.tiles[wait.tile], wait.behind, level));
        if (w == lane && seen >= needed) continue;
        const unsigned finished = wait_for(wait.tile, needed, level);
        if (w == lane) seen = finished;
      }
      __syncwarp();
      __syncthreads();
      if (level >= f.stop) return;
    }
    __syncthreads();
  }

  /// Returns how many levels of the tile are finished, at least `needed` unless everything stops.
  __device__ unsigned wait_for(int tile, unsigned needed, int level) const {
    unsigned finished = load_relaxed(v.progress + tile);
    if (finished < needed) {
      const unsigned long long begin = nanoseconds();
      for (int spins = 1; finished < needed; ++spins) {
        if (spins % spins_between_looks == 0) {
          const bool late = nanoseconds() - begin > static_cast<unsigned long long>(v.patience);
          if (late && atomicCAS(&v.status->stuck_tile, 0, frame().tile + 1) == 0) v.status->stuck_level = level;
          if (late || *static_cast<volatile int*>(&v.status->stuck_tile) != 0) {
            frame().stop = level;
            return finished;
          }
        }
        finished = load_relaxed(v.progress + tile);
      }
    }
    // An acquire empties the first-level cache: once, not at every look.
    return load_acquire(v.progress + tile);
  }

  /// The publisher's whole life: says which levels are finished, and has A fetched to the second-level cache ahead.
  __device__ void publish() const {
    const TileFrame& f = frame();
    const int lane = threadIdx.x % 32;
    const std::int64_t first_run = v.vector.first_run[f.tile];
    const int unit = v.entry_count * v.block;
    for (int s = 0; s <= f.own.levels; ++s) {
      __syncthreads();
      if (f.own.first_level + s >= f.stop) return;
      if (lane == 0 && s > 0) store_release(v.progress + f.tile, static_cast<unsigned>(s));
      if (lane == 1) {
        for (int ahead = s == 0 ? 0 : levels_fetched_ahead; ahead <= levels_fetched_ahead; ++ahead) {
          if (s + ahead >= f.own.levels) break;
          const std::int64_t begin = v.vector.run_start[first_run + s + ahead];
          const std::int64_t scalars = (v.vector.run_start[first_run + s + ahead + 1] - begin) * unit;
          fetch_ahead(v.values + begin * unit, static_cast<unsigned>(scalars * static_cast<std::int64_t>(sizeof(T))));
        }
      }
      __syncwarp();
    }
  }
};

}  // namespace echelon
