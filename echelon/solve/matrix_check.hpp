// SPDX-License-Identifier: BSD-3-Clause
// Looks at a matrix before it is solved: shape, blocks, symmetry, diagonal, NaN, empty rows, structural rank, memory, and
// what these mean for the user. Rows in the report count from one, as in the file.
#pragma once

#include <string>

#include "echelon/io/matrix_market.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/report/run_report.hpp"

namespace echelon {

CheckReport check_matrix(const MatrixFile& file, const std::string& path);

/// Whether the size line alone proves that no system of this matrix can be solved, and reading on would take memory for rows
/// and columns that the file has no entries for. Small matrices are read all the same: then rows can be named.
bool condemned_by_sizes(const MatrixSizes& sizes);
/// The report on such a file.
CheckReport check_sizes(const MatrixSizes& sizes);
/// Throws what solve has against the sizes: Error(not_square), and Error(structure) when `full_rank` is wanted and they
/// condemn the matrix.
void require_solvable_sizes(const MatrixSizes& sizes, bool full_rank);

/// Largest b in 2..8 for which at least 80 % of the scalars in the touched b×b blocks are stored; 1 when there is none.
/// `density` gets that share.
int guess_block_size(const BlockCsr<double>& A, double* density = nullptr);

/// Throws Error(structure) naming the rows when no values on this pattern could make A invertible; Error(not_square).
void require_structural_rank(const BlockCsr<double>& A);

/// Bytes of ILU(0) and of `vectors` vectors beside the matrix.
std::int64_t ilu0_memory(std::int64_t rows, std::int64_t nonzeros, std::int64_t vectors);

}  // namespace echelon
