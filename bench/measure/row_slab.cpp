// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/row_slab.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::bench {
namespace {

std::int64_t plane(const Grid& grid) { return grid.nz > 1 ? grid.nx * grid.ny : grid.nx; }

/// work(entry, neighbour) for the stencil entries of a point that lie inside the grid.
template <class Work>
void each_inside(const StructMatrix<double>& A, std::int64_t point, const Work& work) {
  const Grid& g = A.grid();
  const std::int64_t i = point % g.nx, j = point / g.nx % g.ny, k = point / g.nx / g.ny;
  const auto offsets = A.stencil().offsets();
  for (int e = 0; e < A.stencil().size(); ++e) {
    const Offset o = offsets[e];
    if (g.contains(i + o.x, j + o.y, k + o.z)) work(e, g.index(i + o.x, j + o.y, k + o.z));
  }
}

}  // namespace

PointRange owned_points(const Grid& grid, int rank, int ranks) {
  const std::int64_t a_plane = plane(grid);
  const auto [begin, end] = share(grid.points() / a_plane, rank, ranks);
  return {begin * a_plane, end * a_plane};
}

RowSlab row_slab(const StructMatrix<double>& A, PointRange range) {
  const std::int64_t most = range.points() * A.stencil().size();
  if (most * A.dof() > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::will_not_fit, fmt::format("{} blocks: the contenders count with 32 bits", most));
  }
  RowSlab slab;
  slab.rows = static_cast<std::int32_t>(range.points());
  slab.block = A.dof();
  slab.row_start = Array<std::int32_t>(range.points() + 1, 0);
  for (std::int64_t p = 0; p < range.points(); ++p) {
    std::int32_t count = 0;
    each_inside(A, range.begin + p, [&](int, std::int64_t) { ++count; });
    slab.row_start[p + 1] = slab.row_start[p] + count;
  }
  const std::int64_t blocks = slab.row_start[range.points()], a_block = A.dof() * A.dof();
  slab.column = Array<std::int32_t>(blocks);
  slab.values = Array<double>(blocks * a_block);
#pragma omp parallel for schedule(static) num_threads(threads())
  for (std::int64_t p = 0; p < range.points(); ++p) {
    std::int64_t at = slab.row_start[p];
    each_inside(A, range.begin + p, [&](int entry, std::int64_t neighbour) {
      slab.column[at] = static_cast<std::int32_t>(neighbour);
      std::ranges::copy(A.block(range.begin + p, entry), slab.values.data() + at * a_block);
      ++at;
    });
  }
  return slab;
}

RowSlab as_scalars(const RowSlab& blocks) {
  const int b = blocks.block;
  const std::int64_t rows = std::int64_t{blocks.rows} * b;
  RowSlab slab;
  slab.rows = static_cast<std::int32_t>(rows);
  slab.row_start = Array<std::int32_t>(rows + 1, 0);
  slab.column = Array<std::int32_t>(blocks.values.size());
  slab.values = Array<double>(blocks.values.size());
  std::int32_t at = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t p = row / b, r = row % b;
    for (std::int64_t e = blocks.row_start[p]; e < blocks.row_start[p + 1]; ++e) {
      for (int c = 0; c < b; ++c, ++at) {
        slab.column[at] = blocks.column[e] * b + c;
        slab.values[at] = blocks.values[(e * b + c) * b + r];
      }
    }
    slab.row_start[row + 1] = at;
  }
  return slab;
}

StructMatrix<double> diagonal_block(const StructMatrix<double>& A, PointRange range) {
  Grid grid = A.grid();
  std::int64_t& extent = grid.nz > 1 ? grid.nz : grid.ny;
  extent = range.points() / plane(A.grid());
  StructMatrix<double> block(grid, A.stencil(), A.dof());
  block.fill([&](std::int64_t i, std::int64_t j, std::int64_t k, int entry, std::span<double> values) {
    std::ranges::copy(A.block(range.begin + grid.index(i, j, k), entry), values.begin());
  });
  return block;
}

}  // namespace echelon::bench
