// SPDX-License-Identifier: BSD-3-Clause
// A bad pivot as the rows' mathematics writes it down. Apart from the report, so that kernels need not know that.
#pragma once

#include <cstdint>

namespace echelon {

/// One bad pivot: where it was and what it was.
struct PivotNote {
  std::int64_t row = -1;    // scalar row in the user's numbering; for blocks, the block's first row
  double value = 0;         // the pivot met (for a block: its smallest pivot)
  double row_norm = 0;      // max_j |a_ij|, the scale of the relative test
  std::int64_t level = -1;  // level of the dependency graph, -1 when not known
  enum class Kind { zero, tiny, negative, nonfinite_input, overflow } kind = Kind::zero;
};

const char* word(PivotNote::Kind kind);

}  // namespace echelon
