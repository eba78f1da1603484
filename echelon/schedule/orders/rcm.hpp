// SPDX-License-Identifier: BSD-3-Clause
// Reverse Cuthill-McKee: breadth-first by rising degree from a pseudo-peripheral row of each component, then reversed.
// On the pattern of A + Aᵀ. A. George and J. W. H. Liu, Computer Solution of Large Sparse Positive Definite Systems, 1981.
#pragma once

#include "echelon/schedule/pattern.hpp"

namespace echelon {

/// New position → old row. The same for every thread count.
Array<std::int32_t> reverse_cuthill_mckee(const PatternView& A);

}  // namespace echelon
