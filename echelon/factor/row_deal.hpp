// SPDX-License-Identifier: BSD-3-Clause
// Which rows a thread eliminates when dependencies show only on the way (ILUT). A's pattern in elimination order is cut into
// lines (a row of one needs the row before it, on a grid a grid line) and planes (a line of one needs the line before it).
// Every thread takes a part of each plane, or of each line where there are no planes: most of what its rows need is its own
// then, and cache lines travel at the seams only. A thread goes through its parts in order, so the first unfinished row
// waits for nobody, and with it all others come.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "echelon/factor/symbolic.hpp"

namespace echelon {

struct RowDeal {
  struct Part {
    std::int64_t begin, end;
  };
  std::vector<std::vector<Part>> parts;  // by thread, ascending; together every row once

  int team() const { return static_cast<int>(parts.size()); }
};

/// `order` (position → row of the pattern) and its inverse may be empty for natural order. One thread where more would wait
/// for each other or are not worth waking.
RowDeal deal_rows(const PatternView& pattern, std::span<const std::int32_t> order, std::span<const std::int32_t> position,
                  int team);

}  // namespace echelon
