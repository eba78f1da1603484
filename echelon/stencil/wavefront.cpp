// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/stencil/wavefront.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "echelon/base/error.hpp"

namespace echelon {
namespace {

struct Needed {
  std::int64_t x, y, z;
  int entry;
};

/// The dependencies as offsets of the (mirrored) grid's lower triangle.
std::vector<Needed> needed(const Grid& grid, const Stencil& stencil, bool mirrored) {
  std::vector<Needed> list;
  const int begin = mirrored ? stencil.center() + 1 : 0, end = mirrored ? stencil.size() : stencil.center();
  for (int e = begin; e < end; ++e) {
    const Offset o = stencil.offsets()[e];
    if (std::abs(o.x) >= grid.nx || std::abs(o.y) >= grid.ny || std::abs(o.z) >= grid.nz) continue;
    const int sign = mirrored ? -1 : 1;
    list.push_back({sign * o.x, sign * o.y, sign * o.z, e});
  }
  return list;
}

/// ⌈n / d⌉ for d > 0, at least 0.
std::int64_t slope(std::int64_t n, std::int64_t d) { return n <= 0 ? 0 : (n + d - 1) / d; }

}  // namespace

Wavefront wavefront(const Grid& grid, const Stencil& stencil, Triangle triangle) {
  if (grid.nx < 1 || grid.ny < 1 || grid.nz < 1) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("wavefront on the grid {}x{}x{}: sides must be at least 1", grid.nx, grid.ny, grid.nz));
  }
  const bool mirrored = triangle == Triangle::upper;
  const auto list = needed(grid, stencil, mirrored);
  std::int64_t a = 0, b = 0, c = 0;
  for (const Needed& o : list) {
    if (o.z == 0 && o.y < 0) a = std::max(a, slope(o.x, -o.y));
  }
  for (const Needed& o : list) {
    if (o.z == 0) continue;
    b = std::max(b, slope(o.x + a * o.y, -o.z));
    c = std::max(c, slope(o.y, -o.z));
  }
  // Levels, and every sum that map and line_start form on the way, must be ints. Doubles cannot overflow here.
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  const double largest =
      real(grid.nx) + (real(a) + 1) * (real(grid.ny) + real(c) * real(grid.nz)) + (real(b) + real(c) + 1) * real(grid.nz);
  if (largest >= 1 << 30) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("the stencil '{}' on the grid {}x{}x{} needs about {:.3g} levels, 2^30 is the limit",
                            stencil.name(), grid.nx, grid.ny, grid.nz, largest));
  }
  const auto narrow = [](std::int64_t n) { return static_cast<int>(n); };
  return {narrow(grid.nx), narrow(grid.ny), narrow(grid.nz), narrow(a), narrow(b), narrow(c), mirrored};
}

std::vector<Dependency> dependencies(const Wavefront& front, const Stencil& stencil) {
  std::vector<Dependency> list;
  for (const Needed& o : needed({front.nx, front.ny, front.nz}, stencil, front.mirrored)) {
    const Offset skewed{static_cast<int>(o.x + front.a * o.y + front.b * o.z), static_cast<int>(o.y + front.c * o.z),
                        static_cast<int>(o.z)};
    list.push_back({skewed, skewed.x + skewed.y + skewed.z, o.entry});
  }
  return list;
}

}  // namespace echelon
