// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace echelon {

std::optional<std::string> Progress::line(std::int64_t iteration, double residual, double seconds) {
  if (first_residual_ < 0) first_residual_ = residual;
  constexpr double shortest_pause = 0.1;
  if (shown_at_ >= 0 && seconds - shown_at_ < shortest_pause) return std::nullopt;
  shown_at_ = seconds;
  if (iteration <= 0 || !(seconds > 0)) return fmt::format("iteration {}  residual {:.2e}", iteration, residual);
  const double rate = static_cast<double>(iteration) / seconds;
  const double fallen = std::log(first_residual_ / residual), whole = std::log(first_residual_ / target_);
  double left = static_cast<double>(std::max<std::int64_t>(max_iterations_ - iteration, 0)) / rate;
  if (std::isfinite(fallen) && std::isfinite(whole) && fallen > 0) {
    left = std::min(left, seconds * std::max(whole / fallen - 1, 0.0));
  }
  return fmt::format("iteration {}  residual {:.2e}  {:.3g} iterations/s  about {} left", iteration, residual, rate,
                     human_seconds(left));
}

std::string human_seconds(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "unknown time";
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace echelon
