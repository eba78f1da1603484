// SPDX-License-Identifier: BSD-3-Clause
// −h²Δu: off-diagonals −w_o, diagonal Σ w_o over the whole stencil, so that neighbours outside are the zero boundary values.
#include <vector>

#include "echelon/problem/problems.hpp"
#include "echelon/problem/spacing.hpp"

namespace echelon::problems {

StructMatrix<double> poisson(Grid grid, const Stencil& stencil) {
  StructMatrix<double> A(grid, stencil, 1);
  const Spacing space = spacing("poisson", grid, stencil);
  const bool box = is_full_box(stencil, space);
  std::vector<double> value(static_cast<std::size_t>(stencil.size()), 0.0);
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
  A.fill([&](std::int64_t, std::int64_t, std::int64_t, int e, std::span<double> block) { block[0] = value[e]; });
  return A;
}

}  // namespace echelon::problems
