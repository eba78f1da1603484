// SPDX-License-Identifier: BSD-3-Clause
// How the rows of a CSR pattern are shared out to threads: by stored blocks plus one a row, so that long rows and empty rows
// both count. Which thread computes a row never changes its bits.
#pragma once

#include <cstdint>
#include <utility>

namespace echelon {

/// Rows [begin, end) of part `part` of `parts`.
inline std::pair<std::int64_t, std::int64_t> row_share(const std::int64_t* row_start, std::int64_t rows, int part,
                                                       int parts) {
  const std::int64_t work = rows + row_start[rows];
  const auto cut = [&](int p) {
    const std::int64_t wanted = work / parts * p + work % parts * p / parts;
    std::int64_t low = 0, high = rows;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (row_start[middle] + middle < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  return {part == 0 ? 0 : cut(part), part + 1 == parts ? rows : cut(part + 1)};
}

}  // namespace echelon
