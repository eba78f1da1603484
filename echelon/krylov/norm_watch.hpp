// SPDX-License-Identifier: BSD-3-Clause
// When Eisenstat's form of CG, which has √ρ = ‖r‖ in M⁻¹ at hand, must form ‖r‖ itself. Private to krylov/.
#pragma once

#include <algorithm>
#include <cmath>

#include "echelon/krylov/solve_frame.hpp"

namespace echelon {

/// ‖r‖ between two reconstructions: √ρ times the ratio of the two at the last one. Reconstructed after 1, 2, 4, … iterations
/// and then every 16, sooner where the ratio moves, and always when the estimate is so near the tolerance that the ratio,
/// moving as it did, could make the difference.
class NormWatch {
 public:
  void start(double norm, double rho) {
    ratio_ = norm / std::sqrt(rho);
    interval_ = 1;
    age_ = 0;
    drift_ = widest_drift;
  }
  double estimate(double rho) const { return ratio_ * std::sqrt(rho); }
  /// Whether the estimate does for this iteration.
  bool holds(const SolveFrame& s, double rho) {
    // Outside this range √ρ has lost its digits, or is none.
    if (!(rho > 1e-280 && rho < 1e300)) return false;
    return ++age_ < interval_ && !s.seems_converged(estimate(rho) / drift_);
  }
  void reconstructed(double norm, double rho) {
    const double before = estimate(rho);
    const double moved = norm > before ? norm / before : before / norm;
    if (!std::isfinite(moved)) return start(norm, rho);
    interval_ = moved < 1.1   ? std::min(2 * interval_, longest_interval)
                : moved > 1.5 ? std::max(interval_ / 2, 1)
                              : interval_;
    drift_ = std::min(std::max(least_drift, moved * moved), widest_drift);
    ratio_ = norm / std::sqrt(rho);
    age_ = 0;
  }

 private:
  static constexpr int longest_interval = 16;
  static constexpr double least_drift = 1.25, widest_drift = 4;
  double ratio_ = 1, drift_ = widest_drift;
  int interval_ = 1, age_ = 0;
};

}  // namespace echelon
