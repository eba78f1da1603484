// SPDX-License-Identifier: BSD-3-Clause
// Exact sweeps on several vectors at once on a GPU: the factors are read once for up to eight (wavefront_many.cuh), and each
// vector gets the bits of a sweep alone. Vectors are apart, each in the order of the matrix. Where there is no room for a
// ring of several vectors, or the factors are stored narrow, they are swept one by one.
#pragma once

#include <span>

#include "echelon/sweep/grid_gpu/wavefront_many_view.hpp"
#include "echelon/sweep/grid_gpu/wavefront_sweep.hpp"

namespace echelon {

/// How a block sweeps `columns` vectors; not pipelined where there is no kernel for it.
WavefrontPlan many_wavefront_plan(const SweepTriangle& triangle, TileShape tile, int dof, int columns);

class WavefrontMany {
 public:
  /// `order` is that of `single`; both must live as long as this.
  WavefrontMany(const TileOrder& order, WavefrontSweep<double>& single, Stored stored);

  /// Asynchronous, as of WavefrontSweep, whose `check` says when one was given up. As many x as r, each may be its r.
  void lower(const void* values, std::span<const double* const> r, std::span<double* const> x, double r_scale = 1);
  void upper(const void* values, std::span<const double* const> r, std::span<double* const> x);

  /// The most vectors one launch takes; 1: they go one by one.
  int most_columns() const { return kinds_ > 0 ? kind_[0].columns : 1; }
  std::int64_t bytes() const { return words_.bytes(); }

 private:
  static constexpr int most_kinds = 3;
  struct Kind {
    int columns;
    WavefrontManyView lower, upper;
  };
  void add_kind(const TileOrder& order, int columns);
  template <class Single>
  void run(Triangle triangle, const void* values, std::span<const double* const> r, std::span<double* const> x,
           const Single& one);

  int device_;
  WavefrontSweep<double>& single_;
  Array<std::uint64_t> words_;
  int kinds_ = 0;
  Kind kind_[most_kinds];  // the most columns first
};

}  // namespace echelon
