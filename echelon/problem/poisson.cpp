// SPDX-License-Identifier: BSD-3-Clause
// −h²Δu: off-diagonals −w_o, diagonal Σ w_o over the whole stencil, so that neighbours outside are the zero boundary values.
#include "echelon/problem/assembly/assembly.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/spacing.hpp"

namespace echelon::problems {
namespace {

/// Of each entry.
Array<double> values_of(const Grid& grid, const Stencil& stencil) {
  const Spacing space = spacing("poisson", grid, stencil);
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

}  // namespace

StructMatrix<double> poisson(Grid grid, const Stencil& stencil) {
  StructMatrix<double> A(grid, stencil, 1);
  const auto value = values_of(grid, stencil);
  assemble(ConstantRows{value.data()}, A);
  return A;
}

Rows poisson_rows(Grid grid, const Stencil& stencil, Device device) {
  require_shape(grid, 1);
  return constant_rows(grid, stencil, values_of(grid, stencil), device);
}

}  // namespace echelon::problems
