// SPDX-License-Identifier: BSD-3-Clause
// What a factorization of a structured matrix checks and says in the words of its grid.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "echelon/base/error.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/factor/ilu_options.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon {

inline std::string place(const Grid& grid, int dof, std::int64_t row) {
  const std::int64_t point = row / dof;
  return fmt::format("grid point ({},{},{}), component {}, row {}", Ordinal{point % grid.nx},
                     Ordinal{point / grid.nx % grid.ny}, Ordinal{point / grid.nx / grid.ny}, Ordinal{row % dof},
                     Ordinal{row});
}

/// The rows of the report as grid points, for people.
inline void name_grid_points(const Grid& grid, int dof, FactorReport& report) {
  if (report.bad_pivots.empty()) return;
  const std::string first = fmt::format("first bad pivot: {}", place(grid, dof, report.bad_pivots.front().row));
  if (!report.ok) report.message += fmt::format(" ({})", first);
  report.remarks.push_back(first);
}

template <class T>
void require_same_shape(const StructMatrix<T>& A, const Grid& grid, const Stencil& stencil, int dof) {
  const auto offsets = A.stencil().offsets();
  if (A.grid() == grid && A.dof() == dof && std::ranges::equal(offsets, stencil.offsets())) return;
  throw Error(
      ErrorCode::structure,
      fmt::format("refactor needs the first matrix' shape: got grid {}x{}x{}, {} entries, {} unknowns a point; expected "
                  "grid {}x{}x{}, {} entries, {} unknowns a point",
                  A.grid().nx, A.grid().ny, A.grid().nz, A.stencil().size(), A.dof(), grid.nx, grid.ny, grid.nz,
                  stencil.size(), dof));
}

/// `far` is a matrix' asymmetry.
template <class T>
void require_symmetric(double far) {
  // NaN is for the factorization to report, with its row.
  if (!(far > symmetry_tolerance<T>)) return;
  throw Error(
      ErrorCode::symmetry,
      fmt::format("IC needs a symmetric matrix; max|a_ij − a_ji| is {:.3g} of max|a_ij| (Inf: the stencil differs)", far));
}
template <class T>
void require_symmetric(const StructMatrix<T>& A) {
  require_symmetric<T>(asymmetry(A));
}

}  // namespace echelon
