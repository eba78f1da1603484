// SPDX-License-Identifier: BSD-3-Clause
// body(i, j, k, point) for every point of a grid, in equal shares for the threads; what it throws is passed on.
#pragma once

#include "echelon/base/parallel_parts.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon::problems {

template <class Body>
void for_each_point(const Grid& grid, std::int64_t work_a_point, const Body& body) {
  const int parts = threads_for(grid.points() * work_a_point);
  for_each_part(parts, [&](int part) {
    const auto [begin, end] = share(grid.points(), part, parts);
    for (std::int64_t point = begin; point < end; ++point) {
      body(point % grid.nx, point / grid.nx % grid.ny, point / grid.nx / grid.ny, point);
    }
  });
}

}  // namespace echelon::problems
