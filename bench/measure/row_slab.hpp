// SPDX-License-Identifier: BSD-3-Clause
// The planes of a grid that one process owns, and its rows in the form other libraries take: 32-bit block CSR with global
// columns. Processes own whole planes (lines in 2-D), so the diagonal block of a process is the matrix of a smaller grid
// and block Jacobi with ILU(0) can be checked against our ILU(0) slab by slab.
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"

namespace echelon::bench {

/// Points [begin, end) of process `rank` of `ranks`.
struct PointRange {
  std::int64_t begin = 0, end = 0;
  std::int64_t points() const { return end - begin; }
};
PointRange owned_points(const Grid& grid, int rank, int ranks);

struct RowSlab {
  std::int32_t rows = 0;  // block rows
  int block = 1;
  Array<std::int32_t> row_start, column;
  Array<double> values;  // blocks column-major
};
RowSlab row_slab(const StructMatrix<double>& A, PointRange range);
/// The same rows as scalars.
RowSlab as_scalars(const RowSlab& blocks);

/// The diagonal block of a range of whole planes, as a matrix on that smaller grid.
StructMatrix<double> diagonal_block(const StructMatrix<double>& A, PointRange range);

}  // namespace echelon::bench
