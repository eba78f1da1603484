// SPDX-License-Identifier: BSD-3-Clause
// Levels of a triangular sweep on a grid by an integer shear, from the stencil alone:
//   (x̂, ŷ, ẑ) = (i + a·j + b·k, j + c·k, k),   level = x̂ + ŷ + ẑ,
// with the smallest a, b, c ≥ 0 for which no dependency points forward: x̂ ≤ 0, ŷ ≤ 0 for those with ẑ < 0, and x̂ ≤ 0 in
// the plane ẑ = 0. Every dependency then has a smaller level, and blocks cut along the mapped axes wait acyclically.
// The upper triangle is the lower one of the mirrored grid. A line is a pair (ŷ, ẑ): its points follow i, a level each.
#pragma once

#include <cstdint>
#include <vector>

#include "echelon/base/device.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon {

enum class Triangle { lower, upper };

/// A point of the grid; sides are below 2³⁰, so ints do.
struct Ijk {
  int i, j, k;
};

/// Mapped coordinates x̂, ŷ, ẑ.
struct SkewedPoint {
  int x, y, z;
};

/// Lines begin ≤ ŷ < end of one ẑ.
struct LineRange {
  int begin, end;
  ECHELON_FN int count() const { return end > begin ? end - begin : 0; }
};

ECHELON_FN int floor_quotient(int n, int d) { return n >= 0 ? n / d : -((d - 1 - n) / d); }

struct Wavefront {
  int nx = 1, ny = 1, nz = 1;
  int a = 0, b = 0, c = 0;
  bool mirrored = false;

  /// From the user's point to the one the sweep counts from its own corner, and back: its own inverse.
  ECHELON_FN Ijk turn(Ijk p) const { return mirrored ? Ijk{nx - 1 - p.i, ny - 1 - p.j, nz - 1 - p.k} : p; }
  ECHELON_FN SkewedPoint map(Ijk p) const {
    const Ijk q = turn(p);
    return {q.i + a * q.j + b * q.k, q.j + c * q.k, q.k};
  }
  ECHELON_FN Ijk unmap(SkewedPoint s) const {
    const int j = s.y - c * s.z;
    return turn({s.x - a * j - b * s.z, j, s.z});
  }
  ECHELON_FN int level(Ijk p) const {
    const SkewedPoint s = map(p);
    return s.x + s.y + s.z;
  }
  ECHELON_FN int levels() const { return nx + (a + 1) * (ny - 1) + (b + c + 1) * (nz - 1); }

  /// Values of ŷ over the whole grid: 0 … rows_y() − 1.
  ECHELON_FN int rows_y() const { return ny + c * (nz - 1); }
  ECHELON_FN bool has_line(int y, int z) const { return z >= 0 && z < nz && y >= c * z && y < c * z + ny; }
  /// Level of the line's first point; its t-th point (t = 0 … nx − 1) has level line_start + t.
  ECHELON_FN int line_start(int y, int z) const { return (a + 1) * y + (b + 1 - a * c) * z; }
  /// Of these lines of ẑ = z, inside the grid or not, those that have a point at the level: always one range.
  ECHELON_FN LineRange lines_at(int level, int z, LineRange lines) const {
    const int slope = a + 1;
    const int at_zero = level - line_start(0, z);  // i on the line ŷ = 0, and slope less with each further ŷ
    const int first = floor_quotient(at_zero - nx, slope) + 1, last = floor_quotient(at_zero, slope);
    if (lines.begin < c * z) lines.begin = c * z;
    if (lines.begin < first) lines.begin = first;
    if (lines.end > c * z + ny) lines.end = c * z + ny;
    if (lines.end > last + 1) lines.end = last + 1;
    return lines;
  }
  /// The user's point of a line at a level; inside the grid when 0 ≤ level − line_start < nx.
  ECHELON_FN Ijk on_line(int y, int z, int level) const { return turn({level - line_start(y, z), y - c * z, z}); }
};

/// What a row of the triangle needs, in mapped coordinates: `skewed` (never forward) and its level, which is negative.
struct Dependency {
  Offset skewed;
  int level = 0;
  int entry = 0;  // position in the stencil
};

/// Offsets that reach from no point of the grid to another are left out: thin grids get fewer levels. Throws
/// Error(bad_argument) for sides < 1 and for 2³⁰ levels or more.
Wavefront wavefront(const Grid& grid, const Stencil& stencil, Triangle triangle = Triangle::lower);
std::vector<Dependency> dependencies(const Wavefront& front, const Stencil& stencil);

}  // namespace echelon
