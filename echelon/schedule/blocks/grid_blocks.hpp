// SPDX-License-Identifier: BSD-3-Clause
// Blocks of a grid and their colours, for any stencil, side and number of directions. Blocks are boxes of points in natural
// order; those at the far sides may be smaller. Of several ways to make lanes of a colour's blocks the one is taken whose
// matrix has the fewest shifted diagonals (matrix/dbsr/):
//   along x, y or z   consecutive blocks are lanes: a neighbour's blocks may be two pieces of two groups
//   apart             lane l walks part l of the colour: blocks that have the same neighbours keep their lane together
#pragma once

#include "echelon/matrix/dbsr/block_colouring.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon {

/// How large the blocks are.
enum class BlockChoice {
  fixed,      // 64 points: 4×4×4, in the plane 8×8
  automatic,  // as large and as near to a cube as leaves every colour threads · bsize blocks
  given
};

struct BlockOptions {
  BlockChoice choice = BlockChoice::fixed;
  Grid shape = {};  // when given; 1×1×1 is the multicolour order
  int bsize = 0;    // 0: 8, less where a colour has too few blocks
  /// Of automatic blocks, and so of their results; 0: as many as there are (base/threads.hpp).
  int threads = 0;
};

/// The shape of the blocks that the options mean on this grid, clipped to it.
Grid block_shape(const Grid& grid, const Stencil& stencil, const BlockOptions& options);

/// Throws Error(bad_argument) for a shape with a side < 1 or a bsize that is not a power of two up to 64.
BlockColouring grid_block_colouring(const Grid& grid, const Stencil& stencil, const BlockOptions& options = {});

/// "64" points of a 4×4×4 block as words: "4x4x4", in the plane "8x8".
std::string shape_text(const Grid& grid, const Grid& shape);

}  // namespace echelon
