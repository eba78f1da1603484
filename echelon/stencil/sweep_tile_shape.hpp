// SPDX-License-Identifier: BSD-3-Clause
// How many lines a tile has on a GPU: as fast as its sweeps were measured for this stencil and block size.
#pragma once

#include "echelon/stencil/stencil.hpp"
#include "echelon/stencil/tiles.hpp"

namespace echelon {

TileShape sweep_tile_shape(const Grid& grid, const Stencil& stencil, int dof);

}  // namespace echelon
