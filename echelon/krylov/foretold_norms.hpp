// SPDX-License-Identifier: BSD-3-Clause
// What Gram-Schmidt will leave, told by Pythagoras from dots before anything is subtracted, so that a vector can be scaled
// and stored in the pass that makes it orthogonal: ‖w − V V'w‖² = ‖w‖² − ‖V'w‖². Told only where little cancels, else the
// difference would be rounding error. Private to gmres.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace echelon {

/// Of a vector at least this part must be left; of the second of two vectors, which may lose it twice, this.
inline constexpr double foretold_above = 0.3;
inline constexpr double second_foretold_above = 0.05;

/// Whether squares of such norms stay in range.
inline bool foretold_in_range(double norm) { return norm > 1e-130 && norm < 1e+140; }

/// 1 / ‖w − V h‖ for a w of norm `before`, where it can be told from h = V'w; else 0.
inline double foretold_scale(std::span<const double> h, double before) {
  double left = 1;
  for (const double value : h) left -= (value / before) * (value / before);
  const bool told = left > foretold_above * foretold_above && foretold_in_range(before);
  return told ? 1 / (before * std::sqrt(left)) : 0;
}

/// What the dots of w₁ and w₂ foretell.
struct PairPlan {
  double norm1, along, norm2;  // ‖w₁ − V h₁‖, v₁'w₂, ‖w₂ − V h₂ − along v₁‖
  bool good;
};

/// `dots` as from pair_dot over `count` columns.
inline PairPlan plan_pair(std::span<const double> dots, int count) {
  double left1 = 1, left2 = 1, shared = 0;
  const auto* squares = dots.data() + std::ptrdiff_t{2} * count;
  const double before1 = std::sqrt(squares[0]), before2 = std::sqrt(squares[2]);
  for (int j = 0; j < count; ++j) {
    const double h1 = dots[2 * static_cast<std::size_t>(j)] / before1,
                 h2 = dots[2 * static_cast<std::size_t>(j) + 1] / before2;
    left1 -= h1 * h1;
    left2 -= h2 * h2;
    shared += h1 * h2;
  }
  const double along = (squares[1] / before1 / before2 - shared) / std::sqrt(left1);
  left2 -= along * along;
  const bool good = left1 > foretold_above * foretold_above && left2 > second_foretold_above * second_foretold_above &&
                    foretold_in_range(before1) && foretold_in_range(before2);
  return {before1 * std::sqrt(left1), along * before2, before2 * std::sqrt(left2), good};
}

}  // namespace echelon
