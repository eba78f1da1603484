// SPDX-License-Identifier: BSD-3-Clause
// ILU(k) on a structured grid is ILU(0) on a grown stencil: with the stencil's own points at level 0,
//   lev(l + u) = min(lev(l) + lev(u) + 1)   over lower l and upper u,   and points with lev ≤ k are kept.
// Near a boundary this keeps entries that the graph's ILU(k) does not have, where a fill path leaves the grid.
#pragma once

#include "echelon/stencil/stencil.hpp"

namespace echelon {

/// Throws Error(bad_argument) when the grown stencil would have more than a thousand points.
Stencil grown(const Stencil& stencil, int fill);
/// Whether it would not.
bool can_grow(const Stencil& stencil, int fill);

}  // namespace echelon
