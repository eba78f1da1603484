// SPDX-License-Identifier: BSD-3-Clause
// A bound on ‖(LU)⁻¹‖∞ from the sums of rows, where they are below one: it answers whether factors grow without two sweeps.
// Where L⁻¹e is known, the rows of U alone bound ‖(LU)⁻¹e‖∞ = ‖(I + D⁻¹U)⁻¹ D⁻¹L⁻¹e‖∞, and blocks, too:
//   ‖|D⁻¹||L⁻¹e|‖∞ / (1 − ν),   ν = ‖|D⁻¹||U|e‖∞ < 1, U without its diagonal.
#pragma once

#include <algorithm>
#include <limits>

#include "echelon/base/small_block.hpp"
#include "echelon/factor/pivots/breakdown.hpp"

namespace echelon {

/// Largest row sums of |L| and |D⁻¹U| beside the diagonal, and |D⁻¹|, of scalars; or the above.
struct FactorBounds {
  double lower = 0, upper = 0, inverse = 0;
  bool finite = true;
  /// A row's sums of |l| and |u|, and d⁻¹.
  ECHELON_FN void include(double below, double above, double inverse_diagonal) {
    constexpr double most = std::numeric_limits<double>::max();
    const double size = magnitude(inverse_diagonal), product = above * size;
    finite = finite && below <= most && product <= most && size <= most;
    lower = below > lower ? below : lower;
    upper = product > upper ? product : upper;
    inverse = size > inverse ? size : inverse;
  }
  /// Where L⁻¹e is known: a row of |D⁻¹||U|e, and one of |D⁻¹||L⁻¹e|. `lower` stays 0.
  ECHELON_FN void include_upper(double product) {
    finite = finite && product <= std::numeric_limits<double>::max();
    upper = product > upper ? product : upper;
  }
  ECHELON_FN void include_solved(double product) {
    finite = finite && product <= std::numeric_limits<double>::max();
    inverse = product > inverse ? product : inverse;
  }
  void include(const FactorBounds& other) {
    finite = finite && other.finite;
    lower = std::max(lower, other.lower);
    upper = std::max(upper, other.upper);
    inverse = std::max(inverse, other.inverse);
  }
  /// ‖(LU)⁻¹‖∞ (of e, where L⁻¹e is known) is at most that; infinite when a sum is not below one.
  double of_inverse() const {
    if (!bounded()) return std::numeric_limits<double>::infinity();
    return inverse / ((1 - lower) * (1 - upper));
  }
  bool bounded() const { return finite && lower < 1 && upper < 1; }
};

/// Σ_k |A_rk||x_k| of a row of a block whose first entry `row` points to.
template <class T>
ECHELON_FN T absolute_product(int b, const T* row, const T* x) {
  T sum = 0;
  for (int k = 0; k < b; ++k) sum += magnitude(row[std::int64_t{k} * b]) * magnitude(x[k]);
  return sum;
}

/// What a GPU found.
struct FactorStatus;
FactorBounds bounds_in(const FactorStatus& status);

/// For the breakdown policy: the bound times ‖A‖∞ where that says enough, otherwise what `estimate` finds of the first
/// factor on e, times the second.
template <class Estimate>
double growth_by(double inverse_bound, double norm, const Estimate& estimate) {
  const double bound = inverse_bound * norm;
  return bound <= growth_remark ? bound : estimate() * norm;
}

}  // namespace echelon
