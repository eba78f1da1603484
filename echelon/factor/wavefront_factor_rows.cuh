// SPDX-License-Identifier: BSD-3-Clause
// The factorization for blocks of b = 1 … 8, a tile for each block of threads. A point's row is shared by `groups` warps:
// entry t belongs to group t mod groups, which keeps it in registers (a lane has a column of a block) from A to the factor.
// Lower entries in turn: the owner scales L_m = w_m D_k⁻¹ and shows it in shared memory, then every group subtracts its
// L_m U_u. Two more warps poll and publish (wavefront_factor_tile.cuh). Bytes a row: 8 b² for each entry, read and written;
// neighbours' U and D⁻¹ come from the caches.
#pragma once

#include "echelon/factor/wavefront_factor_block.cuh"

namespace echelon {

/// Warps that compute, at most: what registers allow for b·slots scalars a thread.
template <int B, int Q>
constexpr int most_factor_warps = [] {
  if (B == 1) return Q <= 7 ? 16 : Q <= 14 ? 12 : 8;
  return B * Q <= 14 ? 16 : 14;
}();

/// Behind the tile's own shared memory: two blocks of L a line, then room of each warp,
/// each group's sums of each row.
enum SumKind { of_A, scale_of_A, nonfinite_in_A, of_lower, of_upper, kinds_of_sums };

template <int B, class T>
struct RowShared {
  static constexpr int lines_a_warp = 32 / B;
  static constexpr int block =
      B * B + (B * B * static_cast<int>(sizeof(T)) % 16 == 0 ? 16 / static_cast<int>(sizeof(T)) : 0);
  static constexpr int judged = 4 * B * B;  // D, two blocks, ints
  int blocks, room, sums, judge, end;

  ECHELON_FN RowShared(int begin, int groups, int warps) {
    const int lines = warps * lines_a_warp;
    blocks = begin;
    room = FactorShared::aligned(blocks + 2 * lines * block * static_cast<int>(sizeof(T)));
    sums = room + (B == 1 ? 0 : groups * warps * 32 * B * 8);
    judge = sums + groups * warps * 32 * kinds_of_sums * 8;
    end = FactorShared::aligned(judge + (B == 1 ? 0 : lines * judged * static_cast<int>(sizeof(T))));
  }
};

template <int B, int Q, class T>
class FactorRows {
 public:
  __device__ FactorRows(const TileWork<T>& tile, int warp)
      : tile_(tile),
        v_(tile.v),
        shared_(tile.part.end, tile.v.groups, tile.v.warps),
        group_(warp / tile.v.warps),
        member_(warp % tile.v.warps),
        lane_(threadIdx.x % 32),
        c_(lane_ % B) {}

  __device__ void run() {
    const TileFrame& f = tile_.frame();
    const int lines = v_.vector.tiles.shape.y * v_.vector.tiles.shape.z, at_once = v_.warps * lines_a_warp;
    for (int level = f.own.first_level; level < f.own.first_level + f.own.levels; ++level) {
      __syncthreads();
      if (level >= f.stop) return;
      for (int first = 0; first < lines; first += at_once) {
        if (first > 0) meet();
        place(first + member_ * lines_a_warp + lane_ / B, level);
        row();
      }
    }
    __syncthreads();
    report();
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
    if (on_) own_ = tile_.values(yy_, zz_, slot_);
  }

  __device__ bool inside(int e) const {
    if (!on_ || whole_) return on_;
    const FactorEntry& o = tile_.entry(e);
    const Wavefront& front = v_.vector.front;
    return i_ + o.x >= 0 && i_ + o.x < front.nx && j_ + o.y >= 0 && j_ + o.y < front.ny && k_ + o.z >= 0 &&
           k_ + o.z < front.nz;
  }
  __device__ PointValues<T> neighbour(int m) const {
    const FactorEntry& o = tile_.entry(m);
    const int slot = slot_ + o.level;
    return tile_.values(yy_ + o.line_y, zz_ + o.line_z, slot < 0 ? slot + tile_.part.levels_kept : slot);
  }
  __device__ T* column(const PointValues<T>& p, int e) const { return p.at + (e * B + c_) * p.run; }
  __device__ int entry_of(int q) const { return q * v_.groups + group_; }

  __device__ T* block(int m) const {
    const int line = member_ * lines_a_warp + lane_ / B, lines = v_.warps * lines_a_warp;
    // Lanes without a line share the last one's place and write nothing there.
    return reinterpret_cast<T*>(tile_.memory + shared_.blocks) + ((m & 1) * lines + min(line, lines - 1)) * Shared::block;
  }
  __device__ double* room() const {
    return reinterpret_cast<double*>(tile_.memory + shared_.room) + (group_ * v_.warps + member_) * 32 * B;
  }
  /// A sum of this row and lane that the group keeps for the others.
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
    load();
    if (v_.rules.shift > 0) shift();
    eliminate();
    store_upper();
    keep_bounds();
    meet();
    if (group_ == v_.center % v_.groups) finish();
  }

  /// A's row, and its size.
  __device__ void load() {
    double sums[B];
    T largest = 0;
    bool finite = true;
#pragma unroll
    for (int r = 0; r < B; ++r) sums[r] = 0;
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const int t = entry_of(q);
      if (t < v_.entry_count && inside(t)) {
        load_column<B>(column(own_, t), w_[q]);
      } else {
#pragma unroll
        for (int r = 0; r < B; ++r) w_[q][r] = 0;
      }
    }
#pragma unroll
    for (int q = 0; q < Q; ++q) {
#pragma unroll
      for (int r = 0; r < B; ++r) {
        const T size = magnitude(w_[q][r]);
        largest = size > largest ? size : largest;
        finite = finite && repair::is_finite(size);
        sums[r] += static_cast<double>(size);
      }
    }
    sum(of_A, group_) = row_sum<B>(sums, room(), lane_, c_);
    // NaN as the size of a row that holds one; lanes of a block take the largest of
    // theirs.
    double scale = static_cast<double>(largest);
    if constexpr (B > 1) {
      const int first = lane_ - c_;
#pragma unroll
      for (int k = 0; k < B; ++k) {
        const double other = __shfl_sync(all, static_cast<double>(largest), min(first + k, 31));
        scale = other > scale ? other : scale;
        finite = __shfl_sync(all, static_cast<int>(finite), min(first + k, 31)) && finite;
      }
    }
    sum(scale_of_A, group_) = scale;
    sum(nonfinite_in_A, group_) = finite ? 0 : 1;
  }

  __device__ void shift() {
    meet();
    const T scale = scale_of_groups();
    PivotWorkspace<T> work;
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      if (entry_of(q) != v_.center || !on_) continue;
#pragma unroll
      for (int r = 0; r < B; ++r) {
        if (r == c_) w_[q][r] = shifted(v_.rules, w_[q][r], scale, work);
      }
    }
    change_ = work.change > change_ ? work.change : change_;
  }

  __device__ void eliminate() {
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      for (int owner = 0; owner < v_.groups; ++owner) {
        const int m = q * v_.groups + owner;
        if (m >= v_.center) break;
        const bool has = inside(m);
        PointValues<T> k{};
        if (has) k = neighbour(m);
        if (owner == group_) scale_lower<B>(m, has, k, w_[q]);
        if constexpr (B == 1) {
          subtract_scalars(m, q, has, k);
        } else {
          meet();
          subtract_blocks(m, q, has, k);
        }
      }
    }
  }

  /// w ← L_m = w D_k⁻¹, written and shown to the other groups.
  template <int N>
  __device__ void scale_lower(int m, bool has, const PointValues<T>& k, T (&w)[N]) {
    if constexpr (B == 1) {
      w[0] = has ? w[0] * *column(k, v_.center) : T(0);
      if (v_.groups > 1) *block(m) = w[0];
    } else {
      T inverse[B], L[B];
      if (has) load_column<B>(column(k, v_.center), inverse);
      T* shown = block(m) + c_ * B;
      if (has) store_column<B>(w, shown);
      __syncwarp();
      if (has) shared_product<B>(block(m), inverse, L);
      __syncwarp();
      if (has) store_column<B>(L, shown);
#pragma unroll
      for (int r = 0; r < B; ++r) w[r] = has ? L[r] : T(0);
    }
    if (on_) store_column<B>(w, column(own_, m));
  }

  /// Loads of all targets first: they need not wait for L.
  __device__ void subtract_scalars(int m, int q, bool has, const PointValues<T>& k) {
    T x[Q];
    int upper[Q];
#pragma unroll
    for (int p = 0; p < Q; ++p) {
      const int t = entry_of(p);
      upper[p] = p >= q && t < v_.entry_count ? tile_.upper_of(m, t) : -1;
      if (upper[p] >= 0 && has) x[p] = k.at[upper[p] * k.run];
    }
    meet();
    const T L = v_.groups > 1 ? *block(m) : w_[q][0];
#pragma unroll
    for (int p = 0; p < Q; ++p) {
      if (upper[p] >= 0 && has) w_[p][0] = fma(-L, x[p], w_[p][0]);
    }
  }

  __device__ void subtract_blocks(int m, int q, bool has, const PointValues<T>& k) {
#pragma unroll
    for (int p = 0; p < Q; ++p) {
      const int t = entry_of(p);
      const int upper = p >= q && t < v_.entry_count ? tile_.upper_of(m, t) : -1;
      if (upper < 0 || !has) continue;
      T x[B];
      load_column<B>(column(k, upper), x);
      subtract_shared_product<B>(block(m), x, w_[p]);
    }
  }

  __device__ void store_upper() const {
    if (v_.diagonal_only || !on_) return;
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const int t = entry_of(q);
      if (t > v_.center && t < v_.entry_count) store_column<B>(w_[q], column(own_, t));
    }
  }

  /// Σ|L| and Σ|U| of the rows, this group's part.
  __device__ void keep_bounds() {
    double lower[B], upper[B];
#pragma unroll
    for (int r = 0; r < B; ++r) lower[r] = upper[r] = 0;
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const int t = entry_of(q);
#pragma unroll
      for (int r = 0; r < B; ++r) {
        const double size = static_cast<double>(magnitude(w_[q][r]));
        if (t < v_.center) lower[r] += size;
        if (t > v_.center && t < v_.entry_count) upper[r] += size;
      }
    }
    sum(of_lower, group_) = row_sum<B>(lower, room(), lane_, c_);
    sum(of_upper, group_) = row_sum<B>(upper, room(), lane_, c_);
  }

  /// The owner of the diagonal: its inverse, and what the row says about the whole matrix.
  __device__ void finish() {
    const std::int64_t point = (std::int64_t{k_} * v_.vector.front.ny + j_) * v_.vector.front.nx + i_;
    const PivotPlace place{point, point * B};
    const double size = sum_of_groups(of_A);
    const bool nonfinite = sum_of_groups(nonfinite_in_A) != 0;
    if (on_ && nonfinite && c_ == 0) note_nonfinite_row(v_, place);
    if (on_ && size <= std::numeric_limits<double>::max() && size > norm_) norm_ = size;
    T d[B];
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      if (entry_of(q) != v_.center) continue;
#pragma unroll
      for (int r = 0; r < B; ++r) d[r] = w_[q][r];
    }
    invert(place, nonfinite, d);
    if (on_) store_column<B>(d, column(own_, v_.center));
    const double below = sum_of_groups(of_lower), above = sum_of_groups(of_upper);
    double sizes[B], products[B];
#pragma unroll
    for (int r = 0; r < B; ++r) {
      sizes[r] = static_cast<double>(magnitude(d[r]));
      products[r] = sizes[r] * above;
    }
    const double of_inverse = row_sum<B>(sizes, room(), lane_, c_), product = row_sum<B>(products, room(), lane_, c_);
    if (!on_) return;
    lower_ = below > lower_ ? below : lower_;
    inverse_ = of_inverse > inverse_ ? of_inverse : inverse_;
    upper_ = product > upper_ ? product : upper_;
    bounded_ = bounded_ && repair::is_finite(below) && repair::is_finite(product) && repair::is_finite(of_inverse);
  }

  __device__ void invert(PivotPlace place, bool nonfinite, T (&d)[B]) {
    const T scale = scale_of_groups();
    if constexpr (B == 1) {
      if (on_ && !pivot_is_good(v_.rules, d[0], scale)) {
        const JudgedPivot<T> judged = judge_pivot(v_, place, d[0], scale, nonfinite);
        d[0] = judged.used;
        change_ = judged.change > change_ ? judged.change : change_;
      }
      d[0] = T(1) / d[0];
    } else {
      const int line = member_ * lines_a_warp + lane_ / B;
      T* judge = reinterpret_cast<T*>(tile_.memory + shared_.judge) + line * Shared::judged;
      const bool used = lane_ < lines_a_warp * B;
      if (used) store_column<B>(d, judge + 2 * B * B + c_ * B);
      const T smallest = invert_columns<B>(d, c_, min(lane_ - c_, (lines_a_warp - 1) * B));
      const bool suspect = on_ && (v_.rules.positive || !pivot_is_good(v_.rules, smallest, scale));
      if (!__any_sync(all, suspect)) return;
      if (suspect) store_column<B>(d, judge + c_ * B);
      __syncwarp();
      if (suspect && c_ == 0) {
        const double change = judge_block<B>(v_, place, judge, smallest, scale, nonfinite);
        change_ = change > change_ ? change : change_;
      }
      __syncwarp();
      if (suspect) load_column<B>(judge + c_ * B, d);
    }
  }

  __device__ void report() const {
    raise_by_warp(&v_.status->norm, norm_);
    raise_by_warp(&v_.status->change, change_);
    raise_by_warp(&v_.status->lower, lower_);
    raise_by_warp(&v_.status->upper, upper_);
    raise_by_warp(&v_.status->inverse, inverse_);
    if (!__all_sync(all, bounded_) && lane_ == 0) atomicOr(&v_.status->not_bounded, 1u);
  }
  __device__ void raise_by_warp(unsigned long long* to, double size) const {
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
      const double other = __shfl_xor_sync(all, size, half);
      size = other > size ? other : size;
    }
    if (lane_ == 0 && size > 0) raise(to, size);
  }

  const TileWork<T>& tile_;
  const WavefrontFactorView<T>& v_;
  const Shared shared_;
  const int group_, member_, lane_, c_;
  int yy_, zz_, i_, j_, k_, slot_;
  bool on_, whole_, bounded_ = true;
  PointValues<T> own_{};
  T w_[Q][B];
  double norm_ = 0, change_ = 0, lower_ = 0, upper_ = 0, inverse_ = 0;
};

template <int B, int Q, class T>
__global__ void __launch_bounds__((most_factor_warps<B, Q> + 2) * 32, 1)
    factor_rows(const __grid_constant__ WavefrontFactorView<T> v) {
  extern __shared__ __align__(16) unsigned char memory[];
  const TileWork<T> tile(v, memory, true);
  if (!tile.take()) return;
  const int warp = threadIdx.x / 32, computing = v.groups * v.warps;
  if (warp == computing) {
    tile.poll();
  } else if (warp > computing) {
    tile.publish();
  } else {
    FactorRows<B, Q, T>(tile, warp).run();
  }
}

}  // namespace echelon
