// SPDX-License-Identifier: BSD-3-Clause
// Random blocks made diagonally dominant by rows; the generator is random_value.hpp's.
#include "echelon/problem/random_value.hpp"

#include <cmath>

#include "echelon/base/threads.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::problems {

StructMatrix<double> random(Grid grid, const Stencil& stencil, int dof, std::uint64_t seed) {
  StructMatrix<double> A(grid, stencil, dof);
  const std::int64_t a_block = std::int64_t{dof} * dof;
  const RandomValues generator{mixed_bits(seed), stencil.size()};
#pragma omp parallel for num_threads(threads_for(8 * A.nonzeros())) schedule(static)
  for (std::int64_t point = 0; point < grid.points(); ++point) {
    const std::int64_t i = point % grid.nx, j = point / grid.nx % grid.ny, k = point / grid.nx / grid.ny;
    double* center = A.values().data() + A.layout().at(point, stencil.center()) * a_block;
    const auto each_inside = [&](auto visit) {
      for (int e = 0; e < stencil.size(); ++e) {
        const Offset o = stencil.offsets()[e];
        if (grid.contains(i + o.x, j + o.y, k + o.z)) visit(e, A.values().data() + A.layout().at(point, e) * a_block);
      }
    };
    each_inside([&](int e, double* block) {
      const std::uint64_t place = generator.block(point, e);
      for (std::int64_t s = 0; s < a_block; ++s) block[s] = RandomValues::value(place, s);
    });
    for (int r = 0; r < dof; ++r) {
      double& diagonal = center[r * dof + r];
      const double margin = diagonal_margin(diagonal);
      diagonal = 0;
      double sum = 0;
      each_inside([&](int, const double* block) {
        for (int c = 0; c < dof; ++c) sum += std::abs(block[c * dof + r]);
      });
      diagonal = sum + margin;
    }
  }
  return A;
}

}  // namespace echelon::problems
