// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/given_rows.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/matrix/grid_gpu/tile_convert.hpp"

namespace echelon {
namespace {

class GivenRows final : public RowSource {
 public:
  GivenRows(Grid grid, Stencil stencil, int dof, const double* values, Device device)
      : RowSource(grid, std::move(stencil), dof, device), values_(values) {}

  bool lasting() const override { return false; }
  const char* work() const override { return "conversion"; }
  void write(const TileOrder& order, double* values) const override {
    if (!(order.grid() == grid()) || order.dof() != dof() || order.device() != device()) {
      throw Error(ErrorCode::structure, "rows for a tile order: the grid, the unknowns a point or the place differ");
    }
    const auto scalars = static_cast<std::size_t>(grid().points()) * static_cast<std::size_t>(stencil().size()) *
                         static_cast<std::size_t>(dof()) * static_cast<std::size_t>(dof());
    TileConversion(order, stencil()).matrix_to_tiles(std::span<const double>(values_, scalars), values);
  }

 private:
  const double* values_;
};

}  // namespace

std::shared_ptr<const RowSource> given_rows(Grid grid, const Stencil& stencil, int dof, const double* values,
                                            Device device) {
  if (!values || grid.nx < 1 || grid.ny < 1 || grid.nz < 1 || dof < 1) {
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("given values of a matrix on the grid {}x{}x{} with {} unknowns a point: they need an array, and "
                    "sides and unknowns of at least 1",
                    grid.nx, grid.ny, grid.nz, dof));
  }
  return std::make_shared<GivenRows>(grid, stencil, dof, values, device);
}

}  // namespace echelon
