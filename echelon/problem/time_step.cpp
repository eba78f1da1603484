// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/problem/time_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "echelon/base/error.hpp"

namespace echelon::problems {

OpenAxes::OpenAxes(const Grid& grid) : smallest(1) {
  const std::int64_t sides[3] = {grid.nx, grid.ny, grid.nz};
  for (int d = 0; d < 3; ++d) {
    open[d] = sides[d] > 1;
    h[d] = 1.0 / static_cast<double>(sides[d] + 1);
    if (open[d]) smallest = std::min(smallest, h[d]);
  }
}

void require_step(const char* problem, const char* name, double value) {
  if (value > 0 && std::isfinite(value)) return;
  throw Error(ErrorCode::bad_argument, fmt::format("{}: {} must be positive and finite; got {}", problem, name, value));
}

double chosen_step(const char* problem, const TimeStep& step, const OpenAxes& axes, double fastest) {
  if (step.dt != 0) {
    require_step(problem, "the time step", step.dt);
    return step.dt;
  }
  require_step(problem, "the CFL number", step.cfl);
  return step.cfl * axes.smallest / fastest;
}

}  // namespace echelon::problems
