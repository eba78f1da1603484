// SPDX-License-Identifier: BSD-3-Clause
// The time step of an implicit problem on the unit cube: as given, or cfl · h / (fastest wave).
#pragma once

#include "echelon/problem/problems.hpp"

namespace echelon::problems {

/// The axes a problem differentiates along, those with more than one point, and 1/(N_d + 1) there.
struct OpenAxes {
  explicit OpenAxes(const Grid& grid);
  bool open[3];
  double h[3];
  double smallest;  // 1 when no axis is open
};

/// Throws Error(bad_argument), naming the problem, for numbers that are not finite or not positive.
double chosen_step(const char* problem, const TimeStep& step, const OpenAxes& axes, double fastest);
void require_step(const char* problem, const char* name, double value);

}  // namespace echelon::problems
