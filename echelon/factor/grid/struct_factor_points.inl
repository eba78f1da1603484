// SPDX-License-Identifier: BSD-3-Clause
// The elimination of one grid point on a stencil, blocks of any size, as the formula has it (struct_factor.hpp): this is
// the reference that faster kernels equal bit for bit; it equals block CSR ILU(0) of the converted matrix bit for bit,
// because both have the same row mathematics. Bytes a point: 8 b² an entry read and written. Reads are safe because every
// neighbour was asked whether it is inside first.
#pragma once

#include <cstdint>
#include <limits>

#include "echelon/base/small_block.hpp"
#include "echelon/factor/grid/struct_factor.hpp"

namespace echelon {

struct GridPoint {
  std::int64_t i, j, k;
};

ECHELON_FN bool has_neighbour(const Grid& g, const GridPoint& p, const Offset& o) {
  return p.i + o.x >= 0 && p.i + o.x < g.nx && p.j + o.y >= 0 && p.j + o.y < g.ny && p.k + o.z >= 0 && p.k + o.z < g.nz;
}

ECHELON_FN std::int64_t neighbour(const Grid& g, const GridPoint& p, const Offset& o) {
  return ((p.k + o.z) * g.ny + p.j + o.y) * g.nx + p.i + o.x;
}

/// Measures the row of A: returns max |a|, notes the row sum.
template <int B, class T>
ECHELON_FN T measure_row(const StructFactorView<T>& view, const GridPoint& p, StructFactorWorkspace<T>& own) {
  const int b = extent<B>(view.block), bb = b * b;
  const std::int64_t point = neighbour(view.grid, p, {});
  const int entries = static_cast<int>(view.plan->offsets.size());
  const auto there = [&](int e) { return view.A[e] && has_neighbour(view.grid, p, view.plan->offsets[e]); };
  T scale = 0;
  double largest = 0;
  for (int r = 0; r < b; ++r) {
    double sum = 0;
    for (int e = 0; e < entries; ++e) {
      if (!there(e)) continue;
      for (int c = 0; c < b; ++c) {
        const T size = magnitude(view.A[e][point * bb + c * b + r]);
        scale = size > scale ? size : scale;
        sum += static_cast<double>(size);
      }
    }
    largest = sum > largest || !(sum == sum) ? sum : largest;
  }
  note_row_sum(view.rules, {point, point * b}, largest, own, [&] {
    for (int e = 0; e < entries; ++e) {
      for (int s = 0; there(e) && s < bb; ++s) {
        if (!(magnitude(view.A[e][point * bb + s]) <= std::numeric_limits<T>::max())) return true;
      }
    }
    return false;
  });
  return scale;
}

template <int B, class T>
ECHELON_FN void factor_point(const StructFactorView<T>& view, const GridPoint& p, StructFactorWorkspace<T>& own) {
  const EliminationPlan& plan = *view.plan;
  const int b = extent<B>(view.block), bb = b * b, center = plan.center;
  const std::int64_t point = neighbour(view.grid, p, {});
  const T scale = measure_row<B>(view, p, own);
  T* D = view.inverse + point * bb;
  T* scratch = own.rows;
  for (int t = 0; t < static_cast<int>(plan.offsets.size()); ++t) {
    if (plan.diagonal_only && t != center) continue;
    T* w = t == center ? D : view.F[t] + point * bb;
    if (!has_neighbour(view.grid, p, plan.offsets[t])) {
      for (int s = 0; s < bb; ++s) w[s] = 0;
      continue;
    }
    for (int s = 0; s < bb; ++s) w[s] = view.A[t] ? view.A[t][point * bb + s] : T(0);
    for (int c = 0; c < b && t == center && view.rules.shift > 0; ++c) {
      w[c * b + c] = shifted(view.rules, w[c * b + c], scale, own);
    }
    for (const auto [m, u] : plan.pairs(t)) {
      if (!has_neighbour(view.grid, p, plan.offsets[m])) continue;
      const std::int64_t k = neighbour(view.grid, p, plan.offsets[m]);
      if (plan.diagonal_only) {
        block_product<B>(b, view.A[m] + point * bb, view.inverse + k * bb, scratch);
        subtract_block_product<B>(b, scratch, view.A[u] + k * bb, w);
      } else {
        subtract_block_product<B>(b, view.F[m] + point * bb, view.F[u] + k * bb, w);
      }
    }
    if (t < center) {
      const std::int64_t k = neighbour(view.grid, p, plan.offsets[t]);
      for (int s = 0; s < bb; ++s) scratch[s] = w[s];
      block_product<B>(b, scratch, view.inverse + k * bb, w);
    }
  }
  invert_pivot<B>(view.rules, {point, point * b}, b, D, scale, own);
}

}  // namespace echelon
