// SPDX-License-Identifier: BSD-3-Clause
// The unit cube's grid as the differential problems see it: which axes a stencil couples, and the spacings there.
#pragma once

#include "echelon/stencil/stencil.hpp"

namespace echelon::problems {

/// How many intervals an axis with N points has: beside N.
enum class Intervals {
  points_inside = 1,    // a boundary point outside at each end
  cells = 0,            // a point in the middle of each
  points_on_walls = -1  // the first and the last point are on the boundary
};

struct Spacing {
  bool coupled[3];  // the stencil reaches along this axis
  double h[3];      // 1 / the intervals; 1 for an axis without one
  double smallest;  // over the coupled axes
};

/// Throws Error(bad_argument), naming `problem`, when −Δ cannot be written on this stencil and grid: no neighbours, no
/// symmetry, or an axis with more than one point that the stencil never reaches along.
Spacing spacing(const char* problem, const Grid& grid, const Stencil& stencil,
                Intervals intervals = Intervals::points_inside);
/// Throws Error(bad_argument), naming `problem`, when a closed box has no two points beside each other to couple.
void require_neighbours(const char* problem, const Grid& grid, const Spacing& space);

/// ±1 along the axes and nothing else: star5, star7 and their 1-D kin.
bool is_unit_star(const Stencil& stencil);
/// All of the 3×3×3 cube, or of its 3×3 slice in the plane of the coupled axes.
bool is_full_box(const Stencil& stencil, const Spacing& space);

}  // namespace echelon::problems
