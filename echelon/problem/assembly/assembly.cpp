// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/problem/assembly/assembly.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"

namespace echelon::problems {

void require_shape(const Grid& grid, int dof) {
  if (grid.nx >= 1 && grid.ny >= 1 && grid.nz >= 1 && dof >= 1) return;
  throw Error(ErrorCode::bad_argument, fmt::format("a problem on the grid {}x{}x{} with {} unknowns a point: sides and "
                                                   "unknowns must be at least 1",
                                                   grid.nx, grid.ny, grid.nz, dof));
}

std::shared_ptr<const RowSource> constant_rows(const Grid& grid, const Stencil& stencil, const Array<double>& value,
                                               Device device) {
  RecipeTables tables;
  tables.numbers.push_back(value.to(device));
  const ConstantRows recipe{tables.numbers.front().data()};
  return std::make_shared<RecipeRows<ConstantRows>>(grid, stencil, 1, device, recipe, std::move(tables));
}

namespace assembly {

std::vector<AssemblyEntry> entries_of(const TileOrder& order, const RowSource& rows) {
  std::vector<AssemblyEntry> list;
  for (const Offset& o : order.stencil().offsets()) list.push_back({o, rows.stencil().find(o)});
  return list;
}

void require_fit(const TileOrder& order, const RowSource& rows) {
  const bool same = order.grid() == rows.grid() && order.dof() == rows.dof() && order.device() == rows.device();
  bool held = same;
  for (const Offset& o : rows.stencil().offsets()) held = held && order.stencil().find(o) >= 0;
  if (held) return;
  throw Error(ErrorCode::structure,
              "rows for a tile order: the grid, the unknowns a point or the place differ, or an entry is missing");
}

void throw_no_cuda() { throw Error(ErrorCode::device, "a problem on a GPU: this build of echelon has no CUDA"); }

}  // namespace assembly

}  // namespace echelon::problems
