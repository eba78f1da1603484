// SPDX-License-Identifier: BSD-3-Clause
// The factorization for any block size and stencil, as the formula has it: a thread a column of a block, entries in turn,
// everything in global memory. Slow and plain; blocks of threads take tiles until none is left, so their scratch is bounded.
#pragma once

#include "echelon/factor/grid_gpu/wavefront_factor_tile.cuh"

namespace echelon {

constexpr int generic_warps = 8;

/// Scratch of one line: a block to scale or invert, two to judge it, then its scale, flags and the swaps of rows.
template <class T>
struct GenericScratch {
  ECHELON_FN static std::int64_t line_bytes(int b) { return (3 * b * b + 1) * 8 + (b + 2) / 2 * 2 * 4; }
  T* block;
  int b;
  ECHELON_FN GenericScratch(unsigned char* scratch, int line, int size)
      : block(reinterpret_cast<T*>(scratch + line * line_bytes(size))), b(size) {}
  ECHELON_FN T* judged() const { return block + b * b; }
  ECHELON_FN T& scale() const { return block[3 * b * b]; }
  ECHELON_FN int& nonfinite() const {
    return *reinterpret_cast<int*>(reinterpret_cast<unsigned char*>(block) + (3 * b * b + 1) * 8);
  }
  ECHELON_FN int* swaps() const { return &nonfinite() + 1; }
};

template <class T>
class FactorAnything {
 public:
  __device__ explicit FactorAnything(const TileWork<T>& tile)
      : tile_(tile), v_(tile.v), b_(tile.v.block), scratch_(tile.v.scratch + blockIdx.x * tile.v.scratch_bytes) {}

  __device__ void run() {
    const TileFrame& f = tile_.frame();
    for (level_ = f.own.first_level; level_ < f.own.first_level + f.own.levels; ++level_) {
      tile_.meet_all();
      if (level_ >= f.stop) return;
      slot_ = tile_.slot_of(level_);
      each_column([&](const Item& p) {
        if (p.c == 0) measure(p);
      });
      for (int t = 0; t < v_.entry_count; ++t) {
        meet();
        each_column([&](const Item& p) { subtract_all(p, t); });
        if (t > v_.center) continue;
        meet();
        each_column([&](const Item& p) {
          if (t < v_.center && inside(p, t)) scale_lower(p, t);
          if (t == v_.center && p.c == 0) invert_center(p);
        });
      }
    }
    tile_.meet_all();
    if (norm_ > 0) raise(&v_.status->norm, norm_);
    if (work_.change > 0) raise(&v_.status->change, work_.change);
    atomicOr(&v_.status->not_bounded, 1u);
  }

 private:
  struct Item {
    int line, c, yy, zz, i, j, k;
    PointValues<T> own;
  };

  __device__ void meet() const { named_barrier(1, generic_warps * 32); }

  template <class Do>
  __device__ void each_column(const Do& what) {
    const TileFrame& f = tile_.frame();
    const Wavefront& front = v_.vector.front;
    const TileShape shape = v_.vector.tiles.shape;
    for (int n = threadIdx.x; n < shape.y * shape.z * b_; n += generic_warps * 32) {
      const int line = n / b_, yy = line % shape.y, zz = line / shape.y, y = f.own.y + yy, z = f.own.z + zz;
      const int i = level_ - front.line_start(y, z);
      if (!front.has_line(y, z) || i < 0 || i >= front.nx) continue;
      what(Item{line, n % b_, yy, zz, i, y - front.c * z, z, tile_.far_values(yy, zz, slot_)});
    }
  }

  __device__ bool inside(const Item& p, int e) const {
    const FactorEntry& o = tile_.entry(e);
    const Wavefront& front = v_.vector.front;
    return p.i + o.x >= 0 && p.i + o.x < front.nx && p.j + o.y >= 0 && p.j + o.y < front.ny && p.k + o.z >= 0 &&
           p.k + o.z < front.nz;
  }
  __device__ PointValues<T> neighbour(const Item& p, int m) const {
    const FactorEntry& o = tile_.entry(m);
    const int slot = slot_ + o.level;
    return tile_.far_values(p.yy + o.line_y, p.zz + o.line_z, slot < 0 ? slot + tile_.part.levels_kept : slot);
  }
  __device__ T* column(const PointValues<T>& at, int e, int c) const {
    return at.at + static_cast<std::int64_t>(e * b_ + c) * at.run;
  }
  __device__ PivotPlace place(const Item& p) const {
    const std::int64_t point = (std::int64_t{p.k} * v_.vector.front.ny + p.j) * v_.vector.front.nx + p.i;
    return {point, point * b_};
  }

  /// As measure_row of struct_factor_points.inl.
  __device__ void measure(const Item& p) {
    const GenericScratch<T> own(scratch_, p.line, b_);
    T scale = 0;
    double largest = 0;
    bool finite = true;
    for (int r = 0; r < b_; ++r) {
      double sum = 0;
      for (int e = 0; e < v_.entry_count; ++e) {
        if (!inside(p, e)) continue;
        for (int c = 0; c < b_; ++c) {
          const T size = magnitude(column(p.own, e, c)[r]);
          scale = size > scale ? size : scale;
          finite = finite && repair::is_finite(size);
          sum += static_cast<double>(size);
        }
      }
      largest = sum > largest || !(sum == sum) ? sum : largest;
    }
    own.scale() = scale;
    own.nonfinite() = !finite;
    DevicePivotLog log{v_.status};
    if (!finite) repair::note_nonfinite_row(log, place(p));
    if (largest <= std::numeric_limits<double>::max() && largest > norm_) norm_ = largest;
  }

  /// w_t, where A was; what is still to be scaled or inverted also in the scratch.
  __device__ void subtract_all(const Item& p, int t) {
    T* w = column(p.own, t, p.c);
    const GenericScratch<T> own(scratch_, p.line, b_);
    if (!inside(p, t)) {
      for (int r = 0; r < b_; ++r) w[r] = 0;
      return;
    }
    if (t == v_.center && v_.rules.shift > 0) w[p.c] = shifted(v_.rules, w[p.c], own.scale(), work_);
    for (int n = v_.first_pair[t]; n < v_.first_pair[t + 1]; ++n) {
      const FactorPair pair = v_.pairs[n];
      if (!inside(p, pair.lower)) continue;
      const T* U = column(neighbour(p, pair.lower), pair.upper, p.c);
      for (int k = 0; k < b_; ++k) {
        const T* L = column(p.own, pair.lower, k);
        for (int r = 0; r < b_; ++r) w[r] = fma(-L[r], U[k], w[r]);
      }
    }
    for (int r = 0; r < b_ && t <= v_.center; ++r) own.block[p.c * b_ + r] = w[r];
  }

  __device__ void scale_lower(const Item& p, int t) const {
    const GenericScratch<T> own(scratch_, p.line, b_);
    product<0>(b_, own.block, static_cast<const T*>(column(neighbour(p, t), v_.center, p.c)), column(p.own, t, p.c));
  }

  __device__ void invert_center(const Item& p) {
    const GenericScratch<T> own(scratch_, p.line, b_);
    PivotRules rules = v_.rules;
    rules.zero_row_scale = v_.status->zero_row_scale;
    DevicePivotLog log{v_.status};
    work_.small = own.judged();
    work_.swaps = own.swaps();
    work_.row_nonfinite = own.nonfinite() != 0;
    T* D = own.block;
    if (b_ == 1) {
      const T pivot = D[0];
      D[0] =
          T(1) / (pivot_is_good(rules, pivot, own.scale()) ? pivot
                                                           : repair::pivot(rules, log, place(p), pivot, own.scale(), work_));
    } else {
      repair::copy_block(b_ * b_, D, own.judged() + b_ * b_);
      const T smallest = invert<0>(b_, D, own.swaps());
      if (!pivot_is_good(rules, smallest, own.scale()) || rules.positive) {
        repair::block_pivot(rules, log, place(p), b_, D, smallest, own.scale(), work_);
      }
    }
    for (int c = 0; c < b_; ++c) repair::copy_block(b_, D + c * b_, column(p.own, v_.center, c));
  }

  const TileWork<T>& tile_;
  const WavefrontFactorView<T>& v_;
  const int b_;
  unsigned char* scratch_;
  int level_ = 0, slot_ = 0;
  double norm_ = 0;
  PivotWorkspace<T> work_;
};

template <class T>
__global__ void __launch_bounds__((generic_warps + serving_warps) * 32)
    factor_anything(const __grid_constant__ WavefrontFactorView<T> v) {
  extern __shared__ __align__(16) unsigned char memory[];
  const TileWork<T> tile(v, memory);
  const int warp = threadIdx.x / 32;
  while (tile.take()) {
    if (warp >= generic_warps) {
      tile.serve(warp - generic_warps);
    } else {
      FactorAnything<T>(tile).run();
    }
    __syncwarp();
    __syncthreads();
    if (tile.frame().stop != no_level) return;
  }
}

}  // namespace echelon
