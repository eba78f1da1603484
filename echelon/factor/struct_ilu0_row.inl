// SPDX-License-Identifier: BSD-3-Clause
// The mathematics of one grid point p, shared by every traversal. With w the point's row of A, for lower entries m
// ascending:
//   L_m = w_m D_k⁻¹ (k the neighbour),   w_t ← w_t − L_m U_ku for all u with o_m + o_u = o_t, ascending;   then D_p⁻¹.
// Sweeps: y_p = r_p − Σ_m L_m y_k;   z_p = D_p⁻¹ (y_p − Σ_u U_u z_k), the farthest entry first (m ascending, u
// descending). Entries outside the grid are skipped. Bytes a point: 8 b² an entry read and written (factor), 8 b² an entry read (sweeps). Reads are safe because
// `inside` was asked for every neighbour first.
#pragma once

#include <cstdint>
#include <limits>

#include "echelon/base/small_block.hpp"
#include "echelon/factor/struct_ilu0.hpp"

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

/// Copies the row of A into the factors, marks the neighbours inside, and measures: returns max |a|, notes the row sum.
template <int B, class T>
ECHELON_FN T load_row(const StructFactors<T>& F, const T* A, const GridPoint& p, const PivotRules& rules,
                      StructWorkspace<T>& work) {
  const std::int64_t bb = std::int64_t{extent<B>(F.block)} * extent<B>(F.block);
  const std::int64_t points = F.plan.grid.nx * F.plan.grid.ny * F.plan.grid.nz;
  const std::int64_t point = neighbour(F.plan.grid, p, {});
  const int entries = static_cast<int>(F.plan.offsets.size());
  const int b = extent<B>(F.block);
  T scale = 0;
  for (int e = 0; e < entries; ++e) {
    work.inside[e] = has_neighbour(F.plan.grid, p, F.plan.offsets[e]);
    if (!work.inside[e]) continue;
    const std::int64_t at = (e * points + point) * bb;
    for (std::int64_t s = 0; s < bb; ++s) {
      const T a = A[at + s];
      F.values[at + s] = a;
      scale = magnitude(a) > scale ? magnitude(a) : scale;
    }
  }
  double largest = 0;
  for (int r = 0; r < b; ++r) {
    double sum = 0;
    for (int e = 0; e < entries; ++e) {
      if (!work.inside[e]) continue;
      for (int c = 0; c < b; ++c) sum += static_cast<double>(magnitude(A[(e * points + point) * bb + c * b + r]));
    }
    largest = sum > largest || !(sum == sum) ? sum : largest;
  }
  note_row_sum(rules, {point, point * b}, largest, work, [&] {
    for (int e = 0; e < entries; ++e) {
      for (std::int64_t s = 0; work.inside[e] && s < bb; ++s) {
        const T a = A[(e * points + point) * bb + s];
        if (!(magnitude(a) <= std::numeric_limits<T>::max())) return true;
      }
    }
    return false;
  });
  return scale;
}

template <int B, class T>
ECHELON_FN void factor_point(const StructFactors<T>& F, const T* A, const GridPoint& p, const PivotRules& rules,
                             StructWorkspace<T>& work) {
  const int b = extent<B>(F.block);
  const std::int64_t bb = std::int64_t{b} * b;
  const StructPlan& plan = F.plan;
  const std::int64_t points = plan.grid.nx * plan.grid.ny * plan.grid.nz;
  const std::int64_t point = neighbour(plan.grid, p, {});
  const T scale = load_row<B>(F, A, p, rules, work);
  T* D = F.values + (plan.center * points + point) * bb;
  for (int c = 0; c < b && rules.shift > 0; ++c) D[c * b + c] = shifted(rules, D[c * b + c], scale, work);
  for (int m = 0; m < plan.center; ++m) {
    if (!work.inside[m]) continue;
    const std::int64_t k = neighbour(plan.grid, p, plan.offsets[m]);
    T* L = F.values + (m * points + point) * bb;
    block_product<B>(b, L, F.values + (plan.center * points + k) * bb, work.product);
    for (std::int64_t s = 0; s < bb; ++s) L[s] = work.product[s];
    for (std::int32_t q = plan.first[m]; q < plan.first[m + 1]; ++q) {
      const Meeting meet = plan.meeting[q];
      if (!work.inside[meet.target]) continue;
      subtract_block_product<B>(b, L, F.values + (meet.upper * points + k) * bb,
                                F.values + (meet.target * points + point) * bb);
    }
  }
  invert_pivot<B>(rules, {point, point * b}, b, D, scale, work);
}

/// sum ← sum − Σ F_e x_neighbour over the lower or the upper entries of point p, the farthest first.
template <int B, bool is_lower, class T>
ECHELON_FN void subtract_entries(const StructFactors<T>& F, const GridPoint& p, const T* x, T* sum) {
  const int b = extent<B>(F.block);
  const std::int64_t bb = std::int64_t{b} * b;
  const Grid& g = F.plan.grid;
  const std::int64_t points = g.nx * g.ny * g.nz;
  const std::int64_t point = neighbour(g, p, {});
  const int center = F.plan.center, last = static_cast<int>(F.plan.offsets.size()) - 1;
  for (int n = 0; n < (is_lower ? center : last - center); ++n) {
    const int e = is_lower ? n : last - n;
    if (!has_neighbour(g, p, F.plan.offsets[e])) continue;
    subtract_product<B>(b, F.values + (e * points + point) * bb, x + neighbour(g, p, F.plan.offsets[e]) * b, sum);
  }
}

template <int B, bool is_lower, class T>
ECHELON_FN void sweep_point(const StructFactors<T>& F, const GridPoint& p, const T* r, T* x, T* sum) {
  const int b = extent<B>(F.block);
  const std::int64_t bb = std::int64_t{b} * b;
  const int center = F.plan.center;
  const std::int64_t point = neighbour(F.plan.grid, p, {});
  for (int c = 0; c < b; ++c) sum[c] = r[point * b + c];
  subtract_entries<B, is_lower>(F, p, x, sum);
  if (is_lower) {
    for (int c = 0; c < b; ++c) x[point * b + c] = sum[c];
  } else {
    const std::int64_t points = F.plan.grid.nx * F.plan.grid.ny * F.plan.grid.nz;
    product<B>(b, F.values + (center * points + point) * bb, sum, x + point * b);
  }
}

}  // namespace echelon
