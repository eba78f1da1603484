// SPDX-License-Identifier: BSD-3-Clause
// Some entries of a stencil as block CSR, block by block: how factors on a grid are shown. For tests and study.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/stencil/layout_view.hpp"

namespace echelon {

/// write(entry, point, neighbour, block) for every neighbour inside the grid.
template <class T, class Write>
BlockCsr<T> rows_of_entries(const Grid& grid, std::span<const Offset> offsets, EntryRange entries, int dof,
                            const Write& write) {
  const std::int64_t points = grid.points(), bb = std::int64_t{dof} * dof;
  std::vector<std::int64_t> row_start{0};
  std::vector<std::int32_t> column;
  std::vector<T> values;
  for (std::int64_t point = 0; point < points; ++point) {
    const std::int64_t i = point % grid.nx, j = point / grid.nx % grid.ny, k = point / grid.nx / grid.ny;
    for (int e = entries.begin; e < entries.end; ++e) {
      const Offset o = offsets[static_cast<std::size_t>(e)];
      if (!grid.contains(i + o.x, j + o.y, k + o.z)) continue;
      const std::int64_t other = grid.index(i + o.x, j + o.y, k + o.z);
      column.push_back(static_cast<std::int32_t>(other));
      values.resize(values.size() + static_cast<std::size_t>(bb));
      write(e, point, other, values.data() + (values.size() - static_cast<std::size_t>(bb)));
    }
    row_start.push_back(static_cast<std::int64_t>(column.size()));
  }
  return BlockCsr<T>(points, points, dof, Array<std::int64_t>(std::span<const std::int64_t>(row_start)),
                     Array<std::int32_t>(std::span<const std::int32_t>(column)), Array<T>(std::span<const T>(values)));
}

}  // namespace echelon
