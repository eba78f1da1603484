// SPDX-License-Identifier: BSD-3-Clause
// The traits (traits.hpp) of a matrix in tile order, found where it lives: the same numbers, to the last bit, as of the same
// matrix on the host. Bytes: each value read twice, once as its neighbour's mirror image. Waits for a GPU.
#pragma once

#include "echelon/matrix/grid_gpu/tile_matrix.hpp"
#include "echelon/matrix/traits.hpp"

namespace echelon {

MatrixTraits traits_of(const TileMatrix& A);

}  // namespace echelon
