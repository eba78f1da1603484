// SPDX-License-Identifier: BSD-3-Clause
// Values from a counter-based generator: the bits of (seed, place) mixed by the finalizer of SplitMix64 (Steele, Lea and
// Flood, 2014), 53 of them taken as a number in (−1, 1). No state, so any thread may make any value.
#include <cmath>

#include "echelon/base/threads.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::problems {
namespace {

std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Odd multiples of 2⁻⁵³: never −1, 0 or 1.
double in_unit_interval(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-51 - 1.0; }

}  // namespace

StructMatrix<double> random(Grid grid, const Stencil& stencil, int dof, std::uint64_t seed) {
  StructMatrix<double> A(grid, stencil, dof);
  const std::int64_t a_block = std::int64_t{dof} * dof;
  const std::uint64_t start = mixed(seed);
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
      const std::uint64_t place = mixed(start ^ mixed(static_cast<std::uint64_t>(point * stencil.size() + e)));
      for (std::int64_t s = 0; s < a_block; ++s) block[s] = in_unit_interval(mixed(place + static_cast<std::uint64_t>(s)));
    });
    for (int r = 0; r < dof; ++r) {
      double& diagonal = center[r * dof + r];
      const double margin = 1.5 + 0.5 * diagonal;
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
