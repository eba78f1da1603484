// SPDX-License-Identifier: BSD-3-Clause
// The breakdown policy that every factorization shares: attempt, judge the pivots met, repair within bounds, report.
// An attempt factors A + shift·diag(row scale) and notes each pivot with |u_ii| ≤ tolerance·max_j |a_ij| (or ≤ 0 for IC);
// scaling A by a power of two changes nothing. The ladder doubles the shift at most 20 times.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>

#include "echelon/factor/pivots/pivot_notes.hpp"

namespace echelon {

struct FactorReport;
struct IluOptions;

/// Bad pivots of one attempt, gathered from all threads. Notes are kept in ascending elimination order, so the outcome is
/// the same for every thread count.
class PivotLog {
 public:
  static constexpr int kept = PivotNotes::kept;
  void reset() { take({}); }
  /// `position` is the row in elimination order, by which the first ones are chosen.
  void add(std::int64_t position, const PivotNote& note);
  /// What was gathered elsewhere, instead of all that is here.
  void take(const PivotNotes& notes) { notes_ = notes, change_ = norm_ = 0; }
  std::int64_t count() const { return notes_.count; }
  /// A pivot that is NaN or Inf, or a row of A that holds one.
  bool has_nonfinite() const { return notes_.nonfinite; }
  bool has_nonfinite_input() const { return notes_.nonfinite_input; }
  /// What the attempt did to A: ‖change of the diagonal‖∞ (boosts and shift together) and ‖A‖∞. Called once an attempt.
  void record_change(double change, double norm) { change_ = change, norm_ = norm; }
  double relative_change() const { return change_ > 0 && norm_ > 0 ? change_ / norm_ : 0; }
  std::span<const PivotNote> first() const { return {notes_.notes, static_cast<std::size_t>(notes_.used)}; }

 private:
  std::mutex mutex_;
  double change_ = 0, norm_ = 0;
  PivotNotes notes_;
};

struct Attempt {
  double shift = 0;
  bool boost = false;  // a bad pivot becomes ±boost_size·row scale; otherwise ±row scale, so that the log goes on
};

/// Runs attempts by the policy until one is acceptable, and writes the outcome into `report` (ok, message, shift,
/// shift_attempts, perturbed_pivots, bad_pivots, perturbation, growth). `factor` does one attempt, filling the cleared log;
/// `growth` estimates ‖(LU)⁻¹e‖∞·‖A‖∞ of the attempt just made. `name` is for messages ("ILU(0)").
void factor_with_policy(const IluOptions& options, bool positive_definite, const std::string& name, PivotLog& log,
                        const std::function<void(const Attempt&)>& factor, const std::function<double()>& growth,
                        FactorReport& report);

/// Size of a boosted pivot relative to its row's largest entry.
inline constexpr double boost_size = 1e-4;
/// A growth estimate above the limit makes `automatic` try the ladder; above the other a remark is made. Real matrices are
/// solved well with 1e18 (badly scaled rows look like growth), and not at all with 1e60.
inline constexpr double growth_limit = 1e20;
inline constexpr double growth_remark = 1e8;

}  // namespace echelon
