// SPDX-License-Identifier: BSD-3-Clause
// −h²Δu: off-diagonals −w_o, diagonal Σ w_o over the whole stencil, so that neighbours outside are the zero boundary values;
// without flux through the boundary over the neighbours inside.
#include <algorithm>

#include "echelon/base/threads.hpp"
#include "echelon/problem/assembly/assembly.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/spacing.hpp"

namespace echelon::problems {
namespace {

/// Of each entry.
Array<double> values_of(const Grid& grid, const Stencil& stencil, Boundary boundary) {
  const bool closed = boundary == Boundary::neumann;
  const Spacing space = spacing("poisson", grid, stencil, closed ? Intervals::cells : Intervals::points_inside);
  if (closed) require_neighbours("poisson", grid, space);
  const bool box = is_full_box(stencil, space);
  Array<double> value(stencil.size(), 0.0);
  double diagonal = 0;
  for (int e = 0; e < stencil.size(); ++e) {
    if (e == stencil.center()) continue;
    const Offset o = stencil.offsets()[e];
    const double reach[3] = {o.x * (space.h[0] / space.smallest), o.y * (space.h[1] / space.smallest),
                             o.z * (space.h[2] / space.smallest)};
    const double weight = box ? 1.0 : 1.0 / (reach[0] * reach[0] + reach[1] * reach[1] + reach[2] * reach[2]);
    value[e] = -weight;
    diagonal += weight;
  }
  value[stencil.center()] = diagonal;
  return value;
}

/// The same row at every point: line by line of an entry's values, which are one run of memory, and not point by point.
void fill_lines(const Array<double>& value, StructMatrix<double>& A) {
  const Grid grid = A.grid();
  const auto offsets = A.stencil().offsets();
  const std::int64_t lines = grid.ny * grid.nz, entries = A.stencil().size();
  double* const values = A.values().data();
  const int team = threads_for(entries * grid.points());
#pragma omp parallel for schedule(static) num_threads(team)
  for (std::int64_t at = 0; at < entries * lines; ++at) {
    const std::int64_t e = at / lines, line = at % lines;
    const Offset o = offsets[static_cast<std::size_t>(e)];
    const std::int64_t first = std::max<std::int64_t>(0, -o.x), last = std::min(grid.nx, grid.nx - o.x);
    if (first >= last || !grid.contains(first + o.x, line % grid.ny + o.y, line / grid.ny + o.z)) continue;
    std::fill(values + at * grid.nx + first, values + at * grid.nx + last, value[e]);
  }
}

/// Its pointers are to `value` and `offsets`.
BalancedRows balanced(const Grid& grid, const Stencil& stencil, const double* value, const Offset* offsets) {
  return {value, offsets, stencil.size(), stencil.center(), Sides(grid)};
}

}  // namespace

StructMatrix<double> poisson(Grid grid, const Stencil& stencil, Boundary boundary) {
  StructMatrix<double> A(grid, stencil, 1);
  const auto value = values_of(grid, stencil, boundary);
  if (boundary == Boundary::neumann) {
    assemble(balanced(grid, stencil, value.data(), stencil.offsets().data()), A);
  } else {
    fill_lines(value, A);
  }
  return A;
}

Rows poisson_rows(Grid grid, const Stencil& stencil, Device device, Boundary boundary) {
  require_shape(grid, 1);
  const auto value = values_of(grid, stencil, boundary);
  if (boundary == Boundary::dirichlet) return constant_rows(grid, stencil, value, device);
  RecipeTables tables;
  tables.numbers.push_back(value.to(device));
  tables.offsets = Array<Offset>(stencil.offsets()).to(device);
  const BalancedRows recipe = balanced(grid, stencil, tables.numbers.front().data(), tables.offsets.data());
  return std::make_shared<RecipeRows<BalancedRows>>(grid, stencil, 1, device, recipe, std::move(tables));
}

}  // namespace echelon::problems
