// SPDX-License-Identifier: BSD-3-Clause
// The factorization of one unknown a point on a stencil known at compile time (static_plan.hpp): a thread runs a line, its
// row stays in registers from A to the factors, every product is written out, and all loads of a row are free to be under
// way together. Warps away from the grid's faces run without any test. Bytes a row: 8 for each entry read, and written;
// neighbours' U and D⁻¹ come from the caches.
#pragma once

#include "echelon/factor/grid_gpu/wavefront_factor_steps.cuh"

namespace echelon {

template <class Static, class T>
class FactorScalars {
 public:
  static constexpr int E = Static::plan.entries, C = Static::plan.center;

  __device__ FactorScalars(const TileWork<T>& tile, int warp)
      : tile_(tile), v_(tile.v), warp_(warp), lane_(threadIdx.x % 32) {}

  __device__ void run() {
    const TileFrame& f = tile_.frame();
    const int lines = v_.vector.tiles.shape.y * v_.vector.tiles.shape.z;
    for (int level = f.own.first_level; level < f.own.first_level + f.own.levels; ++level) {
      tile_.meet_all();
      if (level >= f.stop) return;
      for (int first = warp_ * 32; first < lines; first += v_.warps * 32) {
        place(first + lane_, level);
        if (__all_sync(all, whole_ || !on_)) {
          row<true>();
        } else {
          row<false>();
        }
      }
    }
    tile_.meet_all();
    report();
  }

 private:
  static constexpr unsigned all = ~0u;
  static constexpr int asked_ahead = E <= 13 ? 6 : 4;  // neighbours

  __device__ void place(int line, int level) {
    const TileFrame& f = tile_.frame();
    const Wavefront& front = v_.vector.front;
    const TileShape shape = v_.vector.tiles.shape;
    zz_ = line / shape.y, yy_ = line - zz_ * shape.y;
    const int y = f.own.y + yy_, z = f.own.z + zz_;
    i_ = level - front.line_start(y, z), j_ = y - front.c * z, k_ = z;
    on_ = zz_ < shape.z && front.has_line(y, z) && i_ >= 0 && i_ < front.nx;
    whole_ = i_ >= v_.before.x && i_ + v_.after.x < front.nx && j_ >= v_.before.y && j_ + v_.after.y < front.ny &&
             k_ >= v_.before.z && k_ + v_.after.z < front.nz;
    slot_ = tile_.slot_of(level);
    own_ = tile_.values(on_, yy_, zz_, slot_);
  }

  template <int m>
  __device__ PointValues<T> neighbour(bool has) const {
    const FactorEntry& o = tile_.entry(m);
    const int slot = slot_ + o.level;
    return tile_.values(has, yy_ + o.line_y, zz_ + o.line_z, slot < 0 ? slot + tile_.part.levels_kept : slot);
  }

  template <int e>
  __device__ bool inside() const {
    constexpr Offset o = Static::plan.offset[e];
    const Wavefront& front = v_.vector.front;
    const auto within = [](int step, int x, int n) {
      return step == 0 || static_cast<unsigned>(x + step) < static_cast<unsigned>(n);
    };
    return on_ & within(o.x, i_, front.nx) & within(o.y, j_, front.ny) & within(o.z, k_, front.nz);
  }

  /// `whole`: all points of the warp have all neighbours.
  template <bool whole>
  __device__ __forceinline__ void row() {
    T w[E];
    unrolled<E>([&](auto e) {
      const T a = own_.at[e * own_.run];
      w[e] = whole || inside<e>() ? a : T(0);
    });
    double sum = 0;
    T scale = 0;
    bool finite = true;
    unrolled<E>([&](auto e) {
      const T size = magnitude(w[e]);
      scale = size > scale ? size : scale;
      finite = finite && repair::is_finite(size);
      sum += static_cast<double>(size);
    });
    if (v_.rules.shift > 0 && on_) shift(w[C], scale);
    eliminate<whole>(w);
    double below = 0, above = 0;
    unrolled<E>([&](auto e) {
      if constexpr (e < C) below += static_cast<double>(magnitude(w[e]));
      if constexpr (e > C) above += static_cast<double>(magnitude(w[e]));
      if constexpr (e < C || (e > C && !Static::plan.diagonal_only)) {
        if (on_) own_.at[e * own_.run] = w[e];
      }
    });
    finish(w[C], scale, finite, sum, below, above);
  }

  /// D⁻¹ and U of a few neighbours are asked for before the first of them is needed.
  template <bool whole>
  __device__ __forceinline__ void eliminate(T (&w)[E]) const {
    bool has[C + 1];
    T inverse[C + 1], x[C + 1][E];
    const auto ask = [&](auto m) {
      has[m] = whole ? on_ : inside<m>();
      const PointValues<T> k = neighbour<m>(has[m]);
      inverse[m] = k.at[C * k.run];
      unrolled<E>([&](auto t) {
        constexpr int upper = Static::plan.upper[m][t];
        if constexpr (upper >= 0) x[m][t] = k.at[upper * k.run];
      });
    };
    unrolled<(C < asked_ahead ? C : asked_ahead)>(ask);
    unrolled<C>([&](auto m) {
      if constexpr (m + asked_ahead < C) ask(std::integral_constant<int, m + asked_ahead>{});
      const T L = w[m] * inverse[m];
      w[m] = whole || has[m] ? L : T(0);
      unrolled<E>([&](auto t) {
        if constexpr (Static::plan.upper[m][t] >= 0) {
          const T less = fma(-w[m], x[m][t], w[t]);
          w[t] = whole || has[m] ? less : w[t];
        }
      });
    });
  }

  __device__ void shift(T& diagonal, T scale) {
    PivotWorkspace<T> work;
    diagonal = shifted(v_.rules, diagonal, scale, work);
    change_ = work.change > change_ ? work.change : change_;
  }

  __device__ __forceinline__ void finish(T pivot, T scale, bool finite, double sum, double below, double above) {
    if (!on_) return;
    if (!finite) note_nonfinite_row(v_, where());
    if (sum <= std::numeric_limits<double>::max() && sum > norm_) norm_ = sum;
    if (!pivot_is_good(v_.rules, pivot, scale)) {
      const JudgedPivot<T> judged = judge_pivot(v_, where(), pivot, scale, !finite);
      pivot = judged.used;
      change_ = judged.change > change_ ? judged.change : change_;
    }
    const T inverse = T(1) / pivot;
    own_.at[C * own_.run] = inverse;
    const double size = static_cast<double>(magnitude(inverse)), product = size * above;
    lower_ = below > lower_ ? below : lower_;
    upper_ = product > upper_ ? product : upper_;
    inverse_ = size > inverse_ ? size : inverse_;
    bounded_ = bounded_ && repair::is_finite(below) && repair::is_finite(product) && repair::is_finite(size);
  }
  __device__ PivotPlace where() const {
    const std::int64_t point = (std::int64_t{k_} * v_.vector.front.ny + j_) * v_.vector.front.nx + i_;
    return {point, point};
  }

  __device__ void report() const {
    raise_by_warp(&v_.status->norm, norm_);
    raise_by_warp(&v_.status->change, change_);
    raise_by_warp(&v_.status->lower, lower_);
    raise_by_warp(&v_.status->upper, upper_);
    raise_by_warp(&v_.status->inverse, inverse_);
    if (!__all_sync(all, bounded_) && lane_ == 0) atomicOr(&v_.status->not_bounded, 1u);
  }

  const TileWork<T>& tile_;
  const WavefrontFactorView<T>& v_;
  const int warp_, lane_;
  int yy_ = 0, zz_ = 0, i_ = 0, j_ = 0, k_ = 0, slot_ = 0;
  bool on_ = false, whole_ = false, bounded_ = true;
  PointValues<T> own_{};
  double norm_ = 0, change_ = 0, lower_ = 0, upper_ = 0, inverse_ = 0;
};

/// With those that serve, the same number on each of a processor's four parts; fewer where rows are long.
template <class Static>
constexpr int most_scalar_warps = (Static::plan.entries <= 13 ? 20 : 12) - serving_warps;

template <class Static, class T>
__global__ void __launch_bounds__((most_scalar_warps<Static> + serving_warps) * 32, 1)
    factor_scalars(const __grid_constant__ WavefrontFactorView<T> v) {
  extern __shared__ __align__(16) unsigned char memory[];
  const TileWork<T> tile(v, memory);
  if (!tile.take()) return;
  const int warp = threadIdx.x / 32;
  if (warp >= v.warps) {
    tile.serve(warp - v.warps);
  } else {
    FactorScalars<Static, T>(tile, warp).run();
  }
}

}  // namespace echelon
