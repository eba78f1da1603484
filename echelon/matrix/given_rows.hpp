// SPDX-License-Identifier: BSD-3-Clause
// Coefficients that a user's program has in memory already, on a GPU for one: in user order, [entry][point][column][row],
// entries ascending as in the stencil, points x fastest, blocks column-major; what belongs to neighbours outside the grid is
// zero, as in a StructMatrix. They are read by every `write` and not copied before.
#pragma once

#include <memory>

#include "echelon/matrix/row_source.hpp"

namespace echelon {

/// `values` are points · entries · dof² numbers on `device`. Throws Error(bad_argument) for a null pointer and for sides or
/// unknowns below 1. They may go or change once `write` is done: a TileMatrix is then given new ones by `assign`.
std::shared_ptr<const RowSource> given_rows(Grid grid, const Stencil& stencil, int dof, const double* values, Device device);

}  // namespace echelon
