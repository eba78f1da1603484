// SPDX-License-Identifier: BSD-3-Clause
// A bound on ‖(LU)⁻¹‖∞ from the sums of rows, where they are below one: it answers whether factors grow without two sweeps.
#pragma once

#include <algorithm>
#include <limits>

#include "echelon/base/small_block.hpp"
#include "echelon/factor/breakdown.hpp"

namespace echelon {

/// Largest row sums of |L| and |D⁻¹U| beside the diagonal, and |D⁻¹|: scalars.
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
  void include(const FactorBounds& other) {
    finite = finite && other.finite;
    lower = std::max(lower, other.lower);
    upper = std::max(upper, other.upper);
    inverse = std::max(inverse, other.inverse);
  }
  /// ‖(LU)⁻¹‖∞ is at most that; infinite when a sum is not below one.
  double of_inverse() const {
    if (!finite || !(lower < 1) || !(upper < 1)) return std::numeric_limits<double>::infinity();
    return inverse / ((1 - lower) * (1 - upper));
  }
};

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
