// SPDX-License-Identifier: BSD-3-Clause
// ±1 by octants: the sign is the product of those of 2i + 1 − N over the axes with more than one point.
#include "echelon/problem/assembly/point_loop.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::problems {

Vector<double> balanced_sources(Grid grid) {
  const auto side = [](std::int64_t i, std::int64_t n) {
    const std::int64_t from_middle = 2 * i + 1 - n;
    return n == 1 ? 1.0 : static_cast<double>((from_middle > 0) - (from_middle < 0));
  };
  Vector<double> b(grid.points(), 0.0);
  for_each_point(grid, 10, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t point) {
    b[point] = side(i, grid.nx) * side(j, grid.ny) * side(k, grid.nz);
  });
  return b;
}

}  // namespace echelon::problems
