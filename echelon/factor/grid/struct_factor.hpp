// SPDX-License-Identifier: BSD-3-Clause
// ILU(0) on a stencil, line by line: the values of the point-by-point reference, bit for bit, for every thread
// count and SIMD width. For a point p, its row w and entries t ascending:
//   w_t = a_t − Σ_m L_m U_u(k)   over lower m ascending with o_m + o_u = o_t, k the neighbour m;   L_t = w_t D_k⁻¹ for t <
//   center.
// ILU(k) is the same on a grown stencil, whose new entries start from 0. Where every product falls on the diagonal
// (`diagonal_only`) nothing but D⁻¹ is written: L_m = a_m D_k⁻¹ and U = A's upper part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "echelon/factor/pivots/pivot_rules.hpp"
#include "echelon/schedule/grid/line_groups.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon {

/// What the elimination on a stencil looks like, the same for every point.
struct EliminationPlan {
  struct Pair {
    std::int32_t lower, upper;
  };
  explicit EliminationPlan(const Stencil& stencil);
  /// No products at all: D is A's own.
  static EliminationPlan without_products(const Stencil& stencil);
  std::span<const Pair> pairs(int target) const {
    const auto begin = static_cast<std::size_t>(first[static_cast<std::size_t>(target)]);
    return std::span(pair).subspan(begin, static_cast<std::size_t>(first[static_cast<std::size_t>(target) + 1]) - begin);
  }
  std::vector<Offset> offsets;
  int center = 0;
  std::vector<std::int32_t> first;  // of a target's pairs, ascending in `lower`
  std::vector<Pair> pair;
  std::vector<std::int32_t> across_up;  // upper entries of other lines, largest x first
  int along_begin = 0, along_end = 0;   // the entries of the point's own line, the centre among them
  bool diagonal_only = false;           // no product falls off the diagonal
  bool eliminates = true;               // there may be products
};

template <class T>
struct StructFactorView {
  const EliminationPlan* plan;
  Grid grid;
  int block;
  const T* const* A;  // one plane an entry; null where A has none (fill)
  T* const* F;        // L below the centre, U above; unused when plan->diagonal_only
  T* inverse;         // D⁻¹
  PivotRules rules;
  int lag;
};

/// One product of a line: L of entry `lower` (whose x is `shift`) times the neighbour's U, which begins `U` + own block.
template <class T>
struct LinePair {
  std::int32_t lower, shift;
  const T* U;
};

/// One entry of a line's points: pairs [first, along) are with L of other lines, [along, last) with that of the own line.
template <class T>
struct LineTarget {
  bool there;  // the neighbour's line is inside the grid
  std::int32_t shift;
  const T* A;
  T* F;
  const T* inverse;  // D⁻¹ of the neighbour begins here + own block
  std::int32_t first, along, last;
};

/// One thread's own, gathered after the threads have met.
template <class T>
struct StructFactorWorkspace : PivotWorkspace<T> {
  T* rows = nullptr;                   // the kernel's row_scalars an entry, a block at least
  std::vector<LineTarget<T>> targets;  // what the last line had to do
  std::vector<LinePair<T>> pairs;
  const void* listed_for = nullptr;
  std::vector<std::uint8_t> inside;  // scalars, near the ends of lines: bit n, point n of the step has the entry's neighbour
  // Lane by lane: largest Σ|L_m|, |D⁻¹|Σ|w_m|, |D⁻¹|Σ|U_u|, |D⁻¹| and (scalars) Σ_j |a_ij|; poison is NaN once a factor is
  // not finite.
  alignas(64) T lower_sums[8] = {}, scaled_lower_sums[8] = {}, upper_sums[8] = {}, inverses[8] = {}, poison[8] = {};
  alignas(64) double norms[8] = {};

  void clear() {
    this->norm = this->change = 0;
    listed_for = nullptr;
    for (int lane = 0; lane < 8; ++lane) {
      lower_sums[lane] = scaled_lower_sums[lane] = upper_sums[lane] = inverses[lane] = poison[lane] = 0;
      norms[lane] = 0;
    }
  }
};

/// A bound of ‖(LU)⁻¹‖∞ from what all threads found, or infinity. LU = (D + W) D⁻¹ (D + U), W being the lower part before
/// its scaling and U the upper one, both without the diagonal; so, where the norms are < 1,
///   ‖(LU)⁻¹‖ ≤ ‖D⁻¹‖ / ((1 − ‖D⁻¹U‖) (1 − σ)),   σ the lesser of ‖D⁻¹W‖ (rows that dominate) and ‖WD⁻¹‖ = ‖L − 1‖.
template <class T>
double inverse_bound(std::span<const StructFactorWorkspace<T>> threads);

/// Lists what line j of plane k has to do, unless the last line listed had the same neighbours.
template <class T>
void list_line(const StructFactorView<T>& view, std::int64_t j, std::int64_t k, StructFactorWorkspace<T>& own);

/// All lines of `work` have the same neighbours inside the grid.
template <class T>
bool same_neighbours(const StructFactorView<T>& view, const LineWork& work);

template <class T>
struct StructFactorKernel {
  using Lines = void (*)(const StructFactorView<T>& view, const LineWork& work, StructFactorWorkspace<T>& own);
  Lines lines = nullptr;
  LineGroups::Shape shape;
  bool bounds = false;  // fills the workspace's sums
  int row_scalars = 0;  // of the workspace, an entry
};

/// b = 1, lanes over points.
template <class T>
StructFactorKernel<T> scalar_struct_factor(bool diagonal_only);

/// b = 2 … 8, lanes over the rows of a block; null where there is none: another b, or a CPU without fused multiply-add.
template <class T>
StructFactorKernel<T> block_struct_factor(int block);
template <int B, class T>
StructFactorKernel<T> struct_factor_of();

/// Any b, point by point: the reference.
template <class T>
StructFactorKernel<T> point_struct_factor(int block);

}  // namespace echelon
