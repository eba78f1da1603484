// SPDX-License-Identifier: BSD-3-Clause
// The factorization for blocks of b = 1 … 8, a tile for each block of threads. A point's row is shared by groups of warps:
// each has a list of entries (entry_lists.hpp) and takes them one after the other from A to the factor, a row of the block
// in each lane: a column of neighbouring lines is then one run of memory. L blocks are shown to the other groups in shared
// memory, each with a barrier of its own, so a group waits only for what it needs; what it will load next is known, and
// copied to shared memory a few items ahead. Three more warps serve (wavefront_factor_tile.cuh). Bytes a row: 8 b²
// for each entry, read and written; neighbours' U and D⁻¹ come from the caches.
#pragma once

#include "echelon/base/cuda/warp_barrier.cuh"
#include "echelon/factor/grid_gpu/wavefront_factor_block.cuh"

namespace echelon {

/// With those that serve, the same number on each of a processor's four parts.
constexpr int most_factor_warps = 24 - serving_warps;
/// Warps that a processor's registers hold with this many to a block of threads.
constexpr int resident_factor_warps = 24;
/// Blocks under way to shared memory for each warp, the one in use included.
constexpr int stages = 4;

/// What the groups of a row tell each other.
enum SumKind { of_A, scale_of_A, nonfinite_in_A, kinds_of_sums };

/// Behind the tile's own shared memory: items, barriers, blocks of L, stages of each warp, the groups' sums, blocks to
/// judge.
template <int B, class T>
struct RowShared {
  static constexpr int lines_a_warp = 32 / B;
  static constexpr int block =
      B * B + (B * B * static_cast<int>(sizeof(T)) % 16 == 0 ? 16 / static_cast<int>(sizeof(T)) : 0);
  static constexpr int judged = 4 * B * B;  // D, two blocks, ints
  int items, barriers, blocks, stage, sums, judge, end;

  ECHELON_FN RowShared(const WavefrontFactorView<T>& v, int groups, int warps) {
    const int lines = warps * lines_a_warp;
    items = FactorShared(v).end;
    barriers = FactorShared::aligned(items + v.item_count * static_cast<int>(sizeof(RowItem)));
    blocks = FactorShared::aligned(barriers + warps * v.center * 8);
    stage = FactorShared::aligned(blocks + v.center * lines * block * static_cast<int>(sizeof(T)));
    sums = FactorShared::aligned(stage + stages * groups * lines * block * static_cast<int>(sizeof(T)));
    judge = sums + groups * warps * 32 * kinds_of_sums * 8;
    end = FactorShared::aligned(judge + (B == 1 ? 0 : lines * judged * static_cast<int>(sizeof(T))));
  }
};

template <int B, class T>
class FactorRows {
 public:
  __device__ FactorRows(const TileWork<T>& tile, int warp)
      : tile_(tile),
        v_(tile.v),
        shared_(tile.v, tile.v.groups, tile.v.warps),
        group_(warp / tile.v.warps),
        member_(warp % tile.v.warps),
        lane_(threadIdx.x % 32),
        r_(lane_ % B),
        first_(tile.v.first_item[group_]),
        count_(tile.v.first_item[group_ + 1] - first_) {}

  /// All threads, before any row.
  __device__ static void prepare(const TileWork<T>& tile) {
    const WavefrontFactorView<T>& v = tile.v;
    const Shared shared(v, v.groups, v.warps);
    auto* items = reinterpret_cast<RowItem*>(tile.memory + shared.items);
    for (int n = threadIdx.x; n < v.item_count; n += blockDim.x) items[n] = v.items[n];
    for (int n = threadIdx.x; n < v.warps * v.center; n += blockDim.x) {
      device::warp_barrier_init(device::shared_address(tile.memory + shared.barriers) + 8 * n, 1);
    }
    __syncthreads();
  }

  __device__ void run() {
    const TileFrame& f = tile_.frame();
    const int lines = v_.vector.tiles.shape.y * v_.vector.tiles.shape.z, at_once = v_.warps * lines_a_warp;
    for (int level = f.own.first_level; level < f.own.first_level + f.own.levels; ++level) {
      tile_.meet_all();
      if (level >= f.stop) return;
      for (int first = 0; first < lines; first += at_once) {
        if (first > 0) meet();
        place(first + member_ * lines_a_warp + lane_ / B, level);
        row();
      }
    }
    tile_.meet_all();
    raise_by_warp(&v_.status->norm, norm_);
    raise_by_warp(&v_.status->change, change_);
    // Bounds on the factors would cost more than the two sweeps they spare.
    if (lane_ == 0) atomicOr(&v_.status->not_bounded, 1u);
  }

 private:
  using Shared = RowShared<B, T>;
  static constexpr int lines_a_warp = Shared::lines_a_warp;
  static constexpr unsigned all = ~0u;

  /// The warps that share rows.
  __device__ void meet() const {
    if (v_.groups == 1) {
      __syncwarp();
    } else {
      named_barrier(1 + member_, 32 * v_.groups);
    }
  }
  __device__ unsigned barrier(int m) const {
    return device::shared_address(tile_.memory + shared_.barriers) + 8 * (member_ * v_.center + m);
  }
  __device__ void show(int m) const { device::warp_arrives(barrier(m), lane_); }
  __device__ void await(int m) const { device::barrier_wait(barrier(m), parity_); }

  __device__ void place(int line, int level) {
    const TileFrame& f = tile_.frame();
    const Wavefront& front = v_.vector.front;
    const TileShape shape = v_.vector.tiles.shape;
    zz_ = line / shape.y, yy_ = line - zz_ * shape.y;
    const int y = f.own.y + yy_, z = f.own.z + zz_;
    i_ = level - front.line_start(y, z), j_ = y - front.c * z, k_ = z;
    on_ = lane_ < lines_a_warp * B && zz_ < shape.z && front.has_line(y, z) && i_ >= 0 && i_ < front.nx;
    whole_ = i_ >= v_.before.x && i_ + v_.after.x < front.nx && j_ >= v_.before.y && j_ + v_.after.y < front.ny &&
             k_ >= v_.before.z && k_ + v_.after.z < front.nz;
    slot_ = tile_.slot_of(level);
    own_ = tile_.values(on_, yy_, zz_, slot_);
  }

  __device__ bool inside(int e) const {
    const FactorEntry& o = tile_.entry(e);
    const Wavefront& front = v_.vector.front;
    const auto within = [](int x, int n) { return static_cast<unsigned>(x) < static_cast<unsigned>(n); };
    const bool there = within(i_ + o.x, front.nx) & within(j_ + o.y, front.ny) & within(k_ + o.z, front.nz);
    return on_ & (whole_ | there);
  }
  __device__ PointValues<T> neighbour(int m) const {
    const FactorEntry& o = tile_.entry(m);
    const int slot = slot_ + o.level;
    return tile_.values(inside(m), yy_ + o.line_y, zz_ + o.line_z, slot < 0 ? slot + tile_.part.levels_kept : slot);
  }
  /// The lane's row of entry e in column c.
  __device__ T* value(const PointValues<T>& p, int e, int c) const { return p.at + (e * B + c) * p.run + r_; }
  __device__ const T* value_of_A(int e, int c) const { return value(own_, e, c) + v_.to_source(); }
  __device__ RowItem item(int n) const { return reinterpret_cast<const RowItem*>(tile_.memory + shared_.items)[first_ + n]; }

  /// Lanes without a line share the last one's place, and write nothing there.
  __device__ int line() const { return min(lane_ / B, lines_a_warp - 1); }
  __device__ T* block(int m) const {
    const int lines = v_.warps * lines_a_warp;
    return reinterpret_cast<T*>(tile_.memory + shared_.blocks) +
           (m * lines + member_ * lines_a_warp + line()) * Shared::block;
  }
  __device__ T* stage(int n) const {
    const int warp = group_ * v_.warps + member_;
    return reinterpret_cast<T*>(tile_.memory + shared_.stage) +
           ((warp * stages + n % stages) * lines_a_warp + line()) * Shared::block;
  }
  /// What a group says to this lane's row.
  __device__ double& sum(SumKind kind, int group) const {
    return reinterpret_cast<double*>(tile_.memory +
                                     shared_.sums)[((kind * v_.groups + group) * v_.warps + member_) * 32 + lane_];
  }
  __device__ double sum_of_groups(SumKind kind) const {
    double total = 0;
    for (int g = 0; g < v_.groups; ++g) total += sum(kind, g);
    return total;
  }
  __device__ T scale_of_groups() const {
    double largest = 0;
    for (int g = 0; g < v_.groups; ++g) largest = sum(scale_of_A, g) > largest ? sum(scale_of_A, g) : largest;
    return static_cast<T>(largest);
  }

  __device__ void row() {
    largest_ = 0;
    size_ = 0;
    finite_ = true;
    if (v_.rules.shift > 0) measure_before();
    T w[B];
    for (int n = 0; n < stages - 1; ++n) ask(n);
#pragma unroll 1
    for (int n = 0; n < count_; ++n) {
      asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
      __syncwarp();
      ask(n + stages - 1);
      step(item(n), stage(n), w);
    }
    sum(of_A, group_) = size_;
    sum(scale_of_A, group_) = largest_of_rows(largest_);
    sum(nonfinite_in_A, group_) = finite_of_rows() ? 0 : 1;
    const bool owns_center = group_ == v_.center_group;
    T kept[B], smallest = 0;
    if (owns_center) smallest = invert(w, kept);
    meet();
    if (owns_center) finish(w, kept, smallest);
    parity_ ^= 1;
  }

  /// Sends for what item n needs; always one group of copies.
  __device__ __forceinline__ void ask(int n) const {
    if (n < count_) {
      const RowItem one = item(n);
      if (one.loaded >= 0) {
        const bool of_A = one.kind == RowItem::begin;
        const PointValues<T> from = of_A ? own_ : neighbour(one.lower);
        const unsigned to = device::shared_address(stage(n)) + r_ * static_cast<int>(sizeof(T));
        const T* value_of_column = of_A ? value_of_A(one.loaded, 0) : value(from, one.loaded, 0);
        const bool used = lane_ < lines_a_warp * B;
#pragma unroll
        for (int c = 0; c < B; ++c) {
          if (used) {
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to + c * B * static_cast<int>(sizeof(T))),
                         "l"(value_of_column + c * from.run), "n"(static_cast<int>(sizeof(T)))
                         : "memory");
          }
        }
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }

  __device__ __forceinline__ void step(const RowItem& one, const T* loaded, T (&w)[B]) {
    switch (one.kind) {
      case RowItem::begin: begin(one.target, loaded, w); break;
      case RowItem::subtract:
        await(one.lower);
        if (inside(one.lower)) subtract(block(one.lower), loaded, w);
        break;
      case RowItem::scale: scale_lower(one.target, loaded, w); break;
      default: store(one.target, w);
    }
  }

  __device__ __forceinline__ void store(int t, const T (&w)[B]) const {
    if (!on_) return;
#pragma unroll
    for (int c = 0; c < B; ++c) *value(own_, t, c) = w[c];
  }

  /// w ← A's block, and its size.
  __device__ __forceinline__ void begin(int t, const T* A, T (&w)[B]) {
    const bool has = inside(t);
#pragma unroll
    for (int c = 0; c < B; ++c) {
      w[c] = has ? A[c * B + r_] : T(0);
      const T size = magnitude(w[c]);
      largest_ = size > largest_ ? size : largest_;
      finite_ = finite_ && repair::is_finite(size);
      size_ += static_cast<double>(size);
    }
    if (t == v_.center && v_.rules.shift > 0 && on_) shift(w);
  }

  /// w ← w − L U, rows of L in the lanes
  __device__ __forceinline__ static void subtract(const T* L, const T* U, T (&w)[B], int row) {
    T l[B];
#pragma unroll
    for (int k = 0; k < B; ++k) l[k] = L[k * B + row];
#pragma unroll
    for (int c = 0; c < B; ++c) {
      T u[B];
      load_column<B>(U + c * B, u);
#pragma unroll
      for (int k = 0; k < B; ++k) w[c] = fma(-l[k], u[k], w[c]);
    }
  }
  __device__ __forceinline__ void subtract(const T* L, const T* U, T (&w)[B]) const { subtract(L, U, w, r_); }

  /// w ← L_t = w D⁻¹ with the neighbour's D⁻¹, written and shown to the other groups.
  __device__ __forceinline__ void scale_lower(int t, const T* inverse, T (&w)[B]) const {
    const bool has = inside(t);
    T L[B];
#pragma unroll
    for (int c = 0; c < B; ++c) {
      T d[B];
      load_column<B>(inverse + c * B, d);
      L[c] = w[0] * d[0];
#pragma unroll
      for (int k = 1; k < B; ++k) L[c] = fma(w[k], d[k], L[c]);
    }
    T* shown = block(t) + r_;
#pragma unroll
    for (int c = 0; c < B; ++c) {
      w[c] = has ? L[c] : T(0);
      if (has) shown[c * B] = w[c];
    }
    show(t);
    store(t, w);
  }

  /// The scale that the shift needs before anything else is done.
  __device__ void measure_before() {
    T largest = 0;
    for (int n = 0; n < count_; ++n) {
      const RowItem one = item(n);
      if (one.kind != RowItem::begin || !inside(one.target)) continue;
#pragma unroll
      for (int c = 0; c < B; ++c) {
        const T size = magnitude(*value_of_A(one.target, c));
        largest = size > largest ? size : largest;
      }
    }
    sum(scale_of_A, group_) = largest_of_rows(largest);
    meet();
    shift_scale_ = scale_of_groups();
    meet();
  }
  __device__ double largest_of_rows(T largest) const {
    double scale = 0;
#pragma unroll
    for (int k = 0; k < B; ++k) {
      const double other = __shfl_sync(all, static_cast<double>(largest), min(lane_ - r_ + k, 31));
      scale = other > scale ? other : scale;
    }
    return scale;
  }
  __device__ bool finite_of_rows() const {
    const unsigned bad = __ballot_sync(all, !finite_), rows = (1u << B) - 1;
    return (bad & (rows << (lane_ - r_))) == 0;
  }
  __device__ void shift(T (&w)[B]) {
    PivotWorkspace<T> work;
#pragma unroll
    for (int c = 0; c < B; ++c) {
      if (c == r_) w[c] = shifted(v_.rules, w[c], shift_scale_, work);
    }
    change_ = work.change > change_ ? work.change : change_;
  }

  /// The owner of the diagonal: d ← d⁻¹, what it was in `kept`; returns the smallest pivot.
  __device__ __forceinline__ T invert(T (&d)[B], T (&kept)[B]) const {
#pragma unroll
    for (int c = 0; c < B; ++c) kept[c] = d[c];
    if constexpr (B == 1) {
      return d[0];
    } else {
      return invert_rows<B>(d, r_, min(lane_ - r_, (lines_a_warp - 1) * B));
    }
  }

  /// Judges the pivot and writes the inverse.
  __device__ void finish(T (&d)[B], const T (&kept)[B], T smallest) {
    const std::int64_t point = (std::int64_t{k_} * v_.vector.front.ny + j_) * v_.vector.front.nx + i_;
    const PivotPlace place{point, point * B};
    const double size = sum_of_groups(of_A);
    const bool nonfinite = sum_of_groups(nonfinite_in_A) != 0;
    const T scale = scale_of_groups();
    if (on_ && nonfinite && r_ == 0) note_nonfinite_row(v_, place);
    if (on_ && size <= std::numeric_limits<double>::max() && size > norm_) norm_ = size;
    if constexpr (B == 1) {
      if (on_ && !pivot_is_good(v_.rules, smallest, scale)) {
        const JudgedPivot<T> judged = judge_pivot(v_, place, smallest, scale, nonfinite);
        smallest = judged.used;
        change_ = judged.change > change_ ? judged.change : change_;
      }
      d[0] = T(1) / smallest;
    } else {
      const bool suspect = on_ && (v_.rules.positive || !pivot_is_good(v_.rules, smallest, scale));
      if (__any_sync(all, suspect)) judge(place, suspect, nonfinite, smallest, scale, d, kept);
    }
    store(v_.center, d);
  }

  /// Blocks that may be bad: one thread of each looks.
  __device__ void judge(PivotPlace place, bool suspect, bool nonfinite, T smallest, T scale, T (&d)[B], const T (&kept)[B]) {
    T* room = reinterpret_cast<T*>(tile_.memory + shared_.judge) + (member_ * lines_a_warp + line()) * Shared::judged;
#pragma unroll
    for (int c = 0; c < B; ++c) {
      if (suspect) room[c * B + r_] = d[c];
      if (suspect) room[(2 * B + c) * B + r_] = kept[c];
    }
    __syncwarp();
    if (suspect && r_ == 0) {
      const double change = judge_block<B>(v_, place, room, smallest, scale, nonfinite);
      change_ = change > change_ ? change : change_;
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c < B; ++c) {
      if (suspect) d[c] = room[c * B + r_];
    }
  }

  const TileWork<T>& tile_;
  const WavefrontFactorView<T>& v_;
  const Shared shared_;
  const int group_, member_, lane_, r_, first_, count_;
  int yy_ = 0, zz_ = 0, i_ = 0, j_ = 0, k_ = 0, slot_ = 0;
  unsigned parity_ = 0;
  bool on_ = false, whole_ = false, finite_ = true;
  PointValues<T> own_{};
  T largest_ = 0, shift_scale_ = 0;
  double size_ = 0, norm_ = 0, change_ = 0;
};

template <int B, class T>
__global__ void __launch_bounds__((most_factor_warps + serving_warps) * 32, 1)
    factor_rows(const __grid_constant__ WavefrontFactorView<T> v) {
  extern __shared__ __align__(16) unsigned char memory[];
  const TileWork<T> tile(v, memory);
  if (!tile.take()) return;
  FactorRows<B, T>::prepare(tile);
  const int warp = threadIdx.x / 32, computing = v.groups * v.warps;
  if (warp >= computing) {
    tile.serve(warp - computing);
  } else {
    FactorRows<B, T>(tile, warp).run();
  }
}

}  // namespace echelon
