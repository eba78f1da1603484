// SPDX-License-Identifier: BSD-3-Clause
// The text of a progress line: iteration, residual, iterations a second, and the time left, guessed from the residual's fall
// so far (or from the iterations left when it does not fall). At most ten lines a second; the caller prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace echelon {

class Progress {
 public:
  Progress(double target, std::int64_t max_iterations) : target_(target), max_iterations_(max_iterations) {}

  /// The line to show at `seconds` since the start, or nothing when the last one is younger than a tenth of a second.
  std::optional<std::string> line(std::int64_t iteration, double residual, double seconds);

 private:
  double target_;
  std::int64_t max_iterations_;
  double first_residual_ = -1;
  double shown_at_ = -1;
};

/// "0.3 s", "42 s", "3 min 05 s", "2 h 10 min"
std::string human_seconds(double seconds);

}  // namespace echelon
