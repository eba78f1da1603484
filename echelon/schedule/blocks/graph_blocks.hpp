// SPDX-License-Identifier: BSD-3-Clause
// Algebraic block multicolouring for any pattern: blocks are grown row by row along the graph of A + Aᵀ, breadth first, and
// the graph of blocks is coloured first-fit. T. Iwashita, H. Nakashima and Y. Takahashi, 2012. Within a block natural order.
// The same for every thread count.
#pragma once

#include "echelon/matrix/dbsr/block_colouring.hpp"
#include "echelon/schedule/pattern.hpp"

namespace echelon {

/// Blocks of at most `block_points` rows. Lanes rarely agree in a general graph: more than one costs padding. Throws
/// Error(bad_argument) for block_points < 1.
BlockColouring graph_block_colouring(const PatternView& A, std::int64_t block_points = 64, int bsize = 1);

}  // namespace echelon
