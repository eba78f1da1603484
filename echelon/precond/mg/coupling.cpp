// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/mg/coupling.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "echelon/precond/mg/line_kernels.hpp"

namespace echelon {
namespace {

constexpr std::int64_t points_looked_at = 1 << 18;
constexpr double uneven = 3;
constexpr Axis down[] = {Axis::z, Axis::y, Axis::x};

/// visit(line, sums) with sums[2 axis + side] the sums of the line's points towards that side.
template <class Visit>
void look_at_lines(const StructMatrix<double>& A, const Visit& visit) {
  const MgSetupKernels& kernel = mg_setup_kernels();
  const Grid& grid = A.grid();
  const std::int64_t nx = grid.nx, lines = grid.ny * grid.nz;
  const std::int64_t every = (grid.points() / points_looked_at) | 1;
  std::vector<double> room(static_cast<std::size_t>(6 * nx));
  for (std::int64_t line = 0; line < lines; line += every) {
    std::fill(room.begin(), room.end(), 0.0);
    for (int e = 0; e < A.stencil().size(); ++e) {
      const Offset o = A.stencil().offsets()[static_cast<std::size_t>(e)];
      const double* from = A.values().data() + e * grid.points() + line * nx;
      for (const Axis axis : down) {
        const int d = step(o, axis);
        if (d != 0) kernel.add(room.data() + (2 * static_cast<int>(axis) + (d > 0 ? 1 : 0)) * nx, from, nx);
      }
    }
    visit(line, room.data());
  }
}

/// Whether point i of a line has a neighbour on that side.
struct SidesOf {
  const Grid& grid;
  std::int64_t j, k;
  bool there(Axis axis, int side_of, std::int64_t i) const {
    const std::int64_t at = axis == Axis::x ? i : axis == Axis::y ? j : k;
    return side_of == 0 ? at > 0 : at + 1 < side(grid, axis);
  }
};

}  // namespace

std::array<double, 3> mean_couplings(const StructMatrix<double>& A) {
  const Grid& grid = A.grid();
  std::array<double, 3> sum{}, count{};
  look_at_lines(A, [&](std::int64_t line, const double* sums) {
    const SidesOf sides{grid, line % grid.ny, line / grid.ny};
    for (const Axis axis : down) {
      const auto d = static_cast<std::size_t>(axis);
      for (int s = 0; s < 2; ++s) {
        const double* one = sums + (2 * static_cast<std::int64_t>(d) + s) * grid.nx;
        double line_sum = 0;
        std::int64_t there = 0;
        for (std::int64_t i = 0; i < grid.nx; ++i) {
          if (!sides.there(axis, s, i)) continue;
          line_sum += std::abs(one[i]);
          ++there;
        }
        sum[d] += line_sum;
        count[d] += static_cast<double>(there);
      }
    }
  });
  for (std::size_t d = 0; d < 3; ++d) sum[d] = count[d] > 0 ? sum[d] / count[d] : 0;
  return sum;
}

std::vector<Axis> directions_to_coarsen(const StructMatrix<double>& A, double strong) {
  const auto means = mean_couplings(A);
  double strongest = 0;
  for (const Axis axis : down) {
    if (side(A.grid(), axis) >= 2) strongest = std::max(strongest, means[static_cast<std::size_t>(axis)]);
  }
  std::vector<Axis> chosen, possible;
  for (const Axis axis : down) {
    if (side(A.grid(), axis) < 2) continue;
    possible.push_back(axis);
    if (means[static_cast<std::size_t>(axis)] >= strong * strongest) chosen.push_back(axis);
  }
  return strongest > 0 && std::isfinite(strongest) && !chosen.empty() ? chosen : possible;
}

double uneven_points(const StructMatrix<double>& A) {
  const Grid& grid = A.grid();
  std::int64_t bad = 0, all = 0;
  look_at_lines(A, [&](std::int64_t line, const double* sums) {
    const SidesOf sides{grid, line % grid.ny, line / grid.ny};
    for (std::int64_t i = 0; i < grid.nx; ++i) {
      double largest = 0, smallest = INFINITY;
      for (const Axis axis : down) {
        for (int s = 0; s < 2; ++s) {
          if (!sides.there(axis, s, i)) continue;
          const double size = std::abs(sums[(2 * static_cast<std::int64_t>(axis) + s) * grid.nx + i]);
          largest = std::max(largest, size);
          smallest = std::min(smallest, size);
        }
      }
      if (!(largest <= uneven * smallest)) ++bad;
      ++all;
    }
  });
  return all > 0 ? static_cast<double>(bad) / static_cast<double>(all) : 0;
}

}  // namespace echelon
