// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/problem/point_samples.hpp"

#include <fmt/format.h>

#include <cmath>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/problem/point_loop.hpp"

namespace echelon::problems {
namespace {

double coordinate(std::int64_t i, std::int64_t n, Place place) {
  const auto count = static_cast<double>(n), at = static_cast<double>(i);
  return place == Place::nodes ? (at + 1) / (count + 1) : (at + 0.5) / count;
}

}  // namespace

PointSamples::PointSamples(const char* what, const Grid& grid, Place place, int halo, int components,
                           const Function& function)
    : with_halo_{grid.nx + 2 * halo, grid.ny + 2 * halo, grid.nz + 2 * halo}, halo_(halo), components_(components) {
  const std::int64_t values = with_halo_.points() * components;
  require_memory(values * std::int64_t{sizeof(double)}, what);
  values_ = Array<double>(values);
  constexpr std::int64_t operations_a_call = 100;
  for_each_point(with_halo_, operations_a_call, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t point) {
    const double x = coordinate(i - halo, grid.nx, place), y = coordinate(j - halo, grid.ny, place),
                 z = coordinate(k - halo, grid.nz, place);
    double* at = values_.data() + point * components;
    function(x, y, z, at);
    for (int c = 0; c < components; ++c) {
      if (std::isfinite(at[c])) continue;
      throw Error(ErrorCode::bad_argument, fmt::format("{} at ({}, {}, {}) is {}: it must be finite", what, x, y, z, at[c]));
    }
  });
}

}  // namespace echelon::problems
