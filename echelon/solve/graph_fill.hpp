// SPDX-License-Identifier: BSD-3-Clause
// Where ILU(k) on a stencil and ILU(k) of the matrix' graph are one.
#pragma once

#include "echelon/stencil/stencil.hpp"

namespace echelon {

/// Whether the graph's ILU(fill) on this grid has just the grown stencil's pattern, near boundaries too: star5 and star7 up
/// to fill 2, box27 for fill 0 only. Above fill 2 it is not looked into, and the answer is no.
bool fill_is_the_graphs(const Grid& grid, const Stencil& stencil, int fill);

}  // namespace echelon
