// SPDX-License-Identifier: BSD-3-Clause
// Conversions between user order and tile order on a GPU. A block of threads takes a box of lines and walks along windows of
// its levels: some steps are on their way into shared memory (asynchronous copies, along the order they are read in) while
// the oldest leaves it along the other order. Each thread's places are the same for all entries but for a stride, and for
// all windows in which every line of the tile has a point: those are done entry by entry, so that what two windows share of
// a memory sector meets in the cache. Bytes: each value read once and written once; no value is read by two blocks.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <limits>

#include "echelon/matrix/grid_gpu/tile_convert_store.cuh"

namespace echelon {
namespace {

constexpr int threads = ConvertCut::threads, blocks_a_processor = 2, elements = ConvertCut::elements_a_thread;
constexpr int buffers = 4;  // steps in shared memory
constexpr unsigned nowhere = 0xffffffffu;

/// Quotients by what the cut fixes.
struct Divisors {
  SmallDivisor a_line, a_point, rows, a_level_row, columns, lines_y;
  Divisors(const ConvertCut& cut, int rows_of_block)
      : a_line(cut.levels * cut.columns * rows_of_block),
        a_point(cut.columns * rows_of_block),
        rows(rows_of_block),
        a_level_row(cut.lines() * rows_of_block),
        columns(cut.columns),
        lines_y(cut.lines_y) {}
};

struct Split {
  int quotient, rest;
};
__device__ __forceinline__ Split split(int n, const SmallDivisor& d) {
  const auto quotient = static_cast<int>(d.quotient(static_cast<unsigned>(n)));
  return {quotient, n - quotient * static_cast<int>(d.divisor)};
}

/// Lines y of a ẑ that are in the box and have a point at a level; rank of line y: shift + y.
struct LevelLines {
  int begin, end, shift;
};
/// A level of the tile: where its run begins, counted from the window's first, scalars between columns, scalars in use.
struct LevelRun {
  unsigned start, length, used;
};

/// The windows whose places are known, and the distances from one to the next.
struct Stretch {
  int count;
  std::int64_t user, tiles;            // where the first one's places are counted from
  std::int64_t user_step, tiles_step;  // from one window to the next
};

/// Where the block of threads works; kept in shared memory, which leaves the registers to the places.
struct Box {
  Tile tile;
  int number;                // of the tile
  int y, z, end_z;           // first line, end in ẑ
  int window, end_window;    // of levels
  int full_begin, full_end;  // levels (counted from the tile's first) at which all lines of the tile have a point
  bool last;                 // its lines end the runs

  std::int64_t corner;  // in user order: no point of the box lies before

  __device__ void find(const TileConvertView& view) {
    const ConvertCut& cut = view.cut;
    const int boxes = cut.boxes_y * cut.boxes_z, place = static_cast<int>(blockIdx.x / cut.walks), box = place % boxes;
    number = place / boxes;
    tile = view.layout.tiles.tiles[number];
    const int box_z = box / cut.boxes_y, box_y = box % cut.boxes_y;
    y = tile.y + box_y * cut.lines_y;
    z = tile.z + box_z * cut.lines_z;
    const int tile_end = view.layout.tiles.end_z(tile);
    end_z = min(z + cut.lines_z, tile_end);
    last = z < tile_end && z + cut.lines_z >= tile_end && box_y == cut.boxes_y - 1;
    window = static_cast<int>(blockIdx.x % cut.walks) * cut.windows_a_walk;
    end_window = min(window + cut.windows_a_walk, (tile.levels + cut.levels - 1) / cut.levels);
    if (z >= end_z) end_window = window;
    const Wavefront& front = view.layout.front;
    corner = (std::int64_t{z} * front.ny + min(max(y - front.c * z, 0), front.ny)) * front.nx;
    full_begin = 0;
    full_end = tile.levels;
    for (int at = tile.z; at < tile_end; ++at) {
      const int begin = max(tile.y, front.c * at), end = min(tile.y + view.layout.tiles.shape.y, front.c * at + front.ny);
      if (begin >= end) continue;
      full_begin = max(full_begin, front.line_start(end - 1, at) - tile.first_level);
      full_end = min(full_end, front.line_start(begin, at) + front.nx - tile.first_level);
    }
  }
  __device__ int levels(const ConvertCut& cut, int at) const { return min(cut.levels, tile.levels - at * cut.levels); }
  __device__ bool full(const ConvertCut& cut, int at) const {
    return at * cut.levels >= full_begin && (at + 1) * cut.levels <= full_end;
  }
  /// A window that is not full stands alone.
  __device__ void find_stretch(const TileConvertView& view, int at, Stretch& stretch) const {
    const LayoutView& layout = view.layout;
    const ConvertCut& cut = view.cut;
    const std::int64_t run = layout.first_run[number] + std::int64_t{at} * cut.levels;
    const std::int64_t block = std::int64_t{layout.rows} * layout.columns;
    stretch.count = 1;
    while (full(cut, at) && at + stretch.count < end_window && full(cut, at + stretch.count)) ++stretch.count;
    stretch.user = corner * block;
    stretch.user_step = cut.levels * block;
    stretch.tiles = layout.run_start[run];
    stretch.tiles_step = (layout.run_start[run + 1] - stretch.tiles) * cut.levels;
  }
};

/// Fills the tables of the box in a window, a warp a level. True when some run of it has padding.
__device__ bool fill_tables(const TileConvertView& view, const Box& box, int window, LevelRun* runs, LevelLines* lines) {
  const LayoutView& layout = view.layout;
  const int first_level = window * view.cut.levels, levels = box.levels(view.cut, window);
  const std::int64_t first_run = layout.first_run[box.number] + first_level;
  const std::int64_t first = layout.run_start[first_run];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  bool padded = false;
  for (int w = static_cast<int>(threadIdx.x) / 32; w < levels; w += threads / 32) {
    const int level = box.tile.first_level + first_level + w;
    int before = 0;
    for (int z = box.tile.z + lane; z < box.z; z += 32) before += layout.tiles.lines_at(box.tile, level, z).count();
    for (int half = 16; half > 0; half /= 2) before += __shfl_xor_sync(0xffffffffu, before, half);
    if (lane > 0) continue;
    for (int z = box.z; z < box.end_z; ++z) {
      const LineRange all = layout.tiles.lines_at(box.tile, level, z);
      lines[w * view.cut.lines_z + (z - box.z)] = {max(all.begin, box.y), min(all.end, box.y + view.cut.lines_y),
                                                   before - all.begin};
      before += all.count();
    }
    const std::int64_t start = layout.run_start[first_run + w];
    const auto run = static_cast<unsigned>(layout.run_start[first_run + w + 1] - start);
    const auto length = run / static_cast<unsigned>(layout.entries.end * layout.columns);
    const auto used = static_cast<unsigned>(before * layout.rows);
    runs[w] = {static_cast<unsigned>(start - first), length, used};
    padded = padded || used < length;
  }
  return __syncthreads_or(box.last && padded);
}

/// One thread's elements: where each lies in user order (from the box's first), in tile order (from the window's first run)
/// and in shared memory, on the way along either.
struct Places {
  unsigned user[elements], tiles[elements], length[elements];
  unsigned shared[elements];  // user's in the low 16 bits, tiles' in the high ones
};

__device__ __forceinline__ std::int64_t line_place(const LayoutView& layout, int y, int z) {
  const Wavefront& front = layout.front;
  return (std::int64_t{z} * front.ny + (y - front.c * z)) * front.nx - front.line_start(y, z);
}

__device__ void find_places(const TileConvertView& view, const Divisors& by, const Box& box, int window,
                            const LevelRun* runs, const LevelLines* lines, Places& places) {
  const LayoutView& layout = view.layout;
  const ConvertCut& cut = view.cut;
  const int rows = layout.rows, block = rows * layout.columns;
  const int count = cut.lines_y * cut.lines_z * cut.levels * cut.columns * rows;
  const int first_level = window * cut.levels, levels = box.levels(cut, window);
  const std::int64_t first = box.corner;
#pragma unroll
  for (int k = 0; k < elements; ++k) {
    const int n = static_cast<int>(threadIdx.x) + k * threads;
    places.user[k] = places.tiles[k] = nowhere;
    places.length[k] = places.shared[k] = 0;
    if (n >= count) continue;
    {  // along user order: line, level, column, row
      const Split line = split(n, by.a_line), level = split(line.rest, by.a_point), column = split(level.rest, by.rows);
      const Split zy = split(line.quotient, by.lines_y);
      const int z = box.z + zy.quotient, y = box.y + zy.rest, w = level.quotient;
      if (w < levels && z < box.end_z) {
        const LevelLines range = lines[w * cut.lines_z + zy.quotient];
        if (y >= range.begin && y < range.end) {
          const std::int64_t point = line_place(layout, y, z) + box.tile.first_level + first_level + w;
          places.user[k] = static_cast<unsigned>((point - first) * block + level.rest);
        }
      }
      places.shared[k] =
          static_cast<unsigned>((w * cut.columns + column.quotient) * cut.row_pitch + line.quotient * rows + column.rest);
    }
    {  // along tile order: level, column, line, row
      const Split outer = split(n, by.a_level_row), level = split(outer.quotient, by.columns);
      const Split line = split(outer.rest, by.rows), zy = split(line.quotient, by.lines_y);
      const int y = box.y + zy.rest, w = level.quotient;
      places.shared[k] |= static_cast<unsigned>(outer.quotient * cut.row_pitch + outer.rest) << 16;
      if (w < levels && box.z + zy.quotient < box.end_z) {
        const LevelLines range = lines[w * cut.lines_z + zy.quotient];
        const LevelRun run = runs[w];
        if (y >= range.begin && y < range.end) {
          places.length[k] = run.length;
          places.tiles[k] = run.start + static_cast<unsigned>(level.rest) * run.length +
                            static_cast<unsigned>((range.shift + y) * rows + line.rest);
        }
      }
    }
  }
}

/// Zeros behind the scalars in use, in the columns of one step.
__device__ void clear_padding(const TileConvertView& view, const LevelRun* runs, int levels, std::int64_t first,
                              int column) {
  constexpr int most = 8;  // padding of a run is shorter than this
  for (int n = static_cast<int>(threadIdx.x); n < levels * view.cut.columns * most; n += threads) {
    const LevelRun run = runs[n / (view.cut.columns * most)];
    const unsigned c = static_cast<unsigned>(column + n / most % view.cut.columns), at = run.used + n % most;
    if (at < run.length) put(view, first + run.start + std::int64_t{c} * run.length + at, 0.0F);
  }
}

/// A step of a stretch: some columns of an entry in a window.
struct Step {
  int window = 0, entry = 0, chunk = 0;
  int source = 0;                    // −1: the user has none
  int column = 0;                    // its first, counted over all entries
  std::int64_t user = 0, tiles = 0;  // where it begins

  __device__ void place(const TileConvertView& view, const Stretch& stretch) {
    const LayoutView& layout = view.layout;
    source = view.source ? view.source[entry] : entry;
    column = entry * layout.columns + chunk * view.cut.columns;
    user = stretch.user + (source * layout.points * layout.columns + chunk * view.cut.columns) * layout.rows;
    tiles = stretch.tiles;
  }
  __device__ void advance(const TileConvertView& view, const Stretch& stretch) {
    if (++window < stretch.count) {
      user += stretch.user_step;
      tiles += stretch.tiles_step;
      return;
    }
    window = 0;
    if (++chunk == view.cut.chunks) chunk = 0, ++entry;
    if (entry < view.layout.entries.end) place(view, stretch);
  }
};

template <class T, bool to_tiles>
__device__ __forceinline__ void fetch(const TileConvertView& view, const Step& step, const Places& places, T* buffer) {
  const auto* const from = static_cast<const T*>(view.from) + (to_tiles ? step.user : step.tiles);
#pragma unroll
  for (int k = 0; k < elements; ++k) {
    const unsigned at = to_tiles ? places.user[k] : places.tiles[k];
    if (at == nowhere) continue;
    T* const slot = buffer + (to_tiles ? places.shared[k] & 0xffffu : places.shared[k] >> 16);
    if (step.source < 0) {
      *slot = T(0);
    } else {
      __pipeline_memcpy_async(slot, from + at + (to_tiles ? 0 : std::int64_t{places.length[k]} * step.column), sizeof(T));
    }
  }
}

/// How many finite values left the range.
template <class T, bool to_tiles>
__device__ __forceinline__ unsigned deliver(const TileConvertView& view, const Step& step, const Places& places,
                                            const T* buffer) {
  unsigned lost = 0;
  const T scale = scale_of<T>(view, step.entry);
#pragma unroll
  for (int k = 0; k < elements; ++k) {
    if (to_tiles && places.tiles[k] != nowhere) {
      const std::int64_t at = step.tiles + places.tiles[k] + std::int64_t{places.length[k]} * step.column;
      lost += !put(view, at, scale * buffer[places.shared[k] >> 16]);
    }
    if (!to_tiles && places.user[k] != nowhere && step.source >= 0) {
      static_cast<T*>(view.to)[step.user + places.user[k]] = buffer[places.shared[k] & 0xffffu];
    }
  }
  return lost;
}

template <class T, bool to_tiles>
__global__ void __launch_bounds__(threads, blocks_a_processor)
    convert_kernel(const __grid_constant__ TileConvertView view, const __grid_constant__ Divisors by) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ Box box;
  __shared__ Stretch stretch;
  const LayoutView& layout = view.layout;
  const ConvertCut& cut = view.cut;
  T* const ring = reinterpret_cast<T*>(memory);
  const int a_buffer = cut.levels * cut.columns * cut.row_pitch;
  auto* const runs = reinterpret_cast<LevelRun*>(ring + buffers * a_buffer);
  auto* const lines = reinterpret_cast<LevelLines*>(runs + cut.levels);
  if (threadIdx.x == 0) box.find(view);
  __syncthreads();

  Places places;
  unsigned lost = 0;
  for (int window = box.window, next; window < box.end_window; window = next) {
    if (threadIdx.x == 0) box.find_stretch(view, window, stretch);
    const bool padded = fill_tables(view, box, window, runs, lines);
    find_places(view, by, box, window, runs, lines, places);
    next = window + stretch.count;
    const int steps = layout.entries.end * cut.chunks * stretch.count;
    Step coming, leaving;
    coming.place(view, stretch);
    leaving.place(view, stretch);
    int into = 0, out = 0;  // buffers
    const auto fetch_next = [&](bool there) {
      if (there) {
        fetch<T, to_tiles>(view, coming, places, ring + into * a_buffer);
        coming.advance(view, stretch);
        into = into + 1 < buffers ? into + 1 : 0;
      }
      __pipeline_commit();
    };
    for (int ahead = 0; ahead < buffers - 1; ++ahead) fetch_next(ahead < steps);
    for (int step = 0; step < steps; ++step) {
      __pipeline_wait_prior(buffers - 2);
      __syncthreads();  // the step is here for all, and the buffer of the one before is free
      fetch_next(step + buffers - 1 < steps);
      lost += deliver<T, to_tiles>(view, leaving, places, ring + out * a_buffer);
      if (to_tiles && padded) clear_padding(view, runs, box.levels(cut, window), leaving.tiles, leaving.column);
      leaving.advance(view, stretch);
      out = out + 1 < buffers ? out + 1 : 0;
    }
    __syncthreads();
  }
  if (lost > 0 && view.lost) atomicAdd(view.lost, static_cast<unsigned long long>(lost));
}

template <class T, bool to_tiles>
void convert(int device, const TileConvertView& view) {
  if (view.layout.kind != LayoutKind::tile_contiguous) return convert_by_place<T, to_tiles>(device, view);
  check_conversion(cudaSetDevice(device), "cudaSetDevice");
  const ConvertCut& cut = view.cut;
  const std::size_t bytes = buffers * sizeof(T) * static_cast<std::size_t>(cut.buffer_scalars()) +
                            static_cast<std::size_t>(cut.levels) * (sizeof(LevelRun) + cut.lines_z * sizeof(LevelLines));
  check_conversion(cudaFuncSetAttribute(convert_kernel<T, to_tiles>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(bytes)),
                   "conversion");
  const std::int64_t blocks = std::int64_t{view.layout.tiles.count} * cut.boxes_y * cut.boxes_z * cut.walks;
  if (blocks > std::numeric_limits<int>::max()) throw Error(ErrorCode::bad_argument, "conversion: 2^31 blocks of threads");
  convert_kernel<T, to_tiles><<<static_cast<unsigned>(blocks), threads, bytes>>>(view, Divisors(cut, view.layout.rows));
  check_conversion(cudaGetLastError(), "conversion");
}

}  // namespace

template <class T>
const TileConvertKernels<T>* tile_convert_cuda() {
  static const TileConvertKernels<T> table{convert<T, true>, convert<T, false>, narrow_tiles_cuda<T>};
  return &table;
}
template const TileConvertKernels<double>* tile_convert_cuda();
template const TileConvertKernels<float>* tile_convert_cuda();

}  // namespace echelon
