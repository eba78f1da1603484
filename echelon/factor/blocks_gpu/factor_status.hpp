// SPDX-License-Identifier: BSD-3-Clause
// What one attempt at a factorization on a GPU says of itself, whatever its storage.
#pragma once

#include "echelon/factor/pivots/pivot_notes.hpp"

namespace echelon {

/// Written by the kernels of one attempt, cleared before it. Sizes ≥ 0 are kept as bit patterns, whose order is theirs.
struct FactorStatus {
  unsigned ticket, lock;
  int stuck_tile, stuck_level;  // the tile that waited in vain, plus one; 0 when none did
  unsigned long long norm, change, lower, upper, inverse;
  unsigned not_bounded;  // a factor is not finite, or the kernel keeps no bounds
  double zero_row_scale;
  alignas(16) double zeros[8];  // what is read of points that are not there
  PivotNotes notes;
};

}  // namespace echelon
