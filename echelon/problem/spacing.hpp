// SPDX-License-Identifier: BSD-3-Clause
// The unit cube's grid as the differential problems see it: which axes a stencil couples, and the spacings there.
#pragma once

#include "echelon/matrix/stencil.hpp"

namespace echelon::problems {

struct Spacing {
  bool coupled[3];  // the stencil reaches along this axis
  double h[3];      // 1/(N_d + 1)
  double smallest;  // over the coupled axes
};

/// Throws Error(bad_argument), naming `problem`, when −Δ cannot be written on this stencil and grid: no neighbours, no
/// symmetry, or an axis with more than one point that the stencil never reaches along.
Spacing spacing(const char* problem, const Grid& grid, const Stencil& stencil);

}  // namespace echelon::problems
