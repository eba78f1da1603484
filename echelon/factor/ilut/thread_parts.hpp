// SPDX-License-Identifier: BSD-3-Clause
// Which rows a thread eliminates when dependencies show only on the way (ILUT). A's pattern in elimination order is cut into
// groups that make it block tridiagonal: a row needs rows of its own group and of the one before (on a grid: planes or
// lines; in RCM order: levels). Every thread takes a part of each group: most of what its rows need is its own then, and
// cache lines travel at the seams only. It goes through its parts in order, so the first unfinished row waits for nobody,
// and with it all others come. Whether threads pay at all is seen by playing the rows through, each as long as any other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "echelon/factor/rows/symbolic.hpp"

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
