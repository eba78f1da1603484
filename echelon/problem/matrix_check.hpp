// SPDX-License-Identifier: BSD-3-Clause
// Looks at a matrix before it is solved: shape, blocks, symmetry, diagonal, NaN, empty rows, structural rank, memory, and
// what these mean for the user. Rows in the report count from one, as in the file.
#pragma once

#include <string>

#include "echelon/matrix/block_csr.hpp"
#include "echelon/problem/matrix_market.hpp"
#include "echelon/report/run_report.hpp"

namespace echelon {

CheckReport check_matrix(const MatrixFile& file, const std::string& path);

/// Largest b in 2..8 for which at least 80 % of the scalars in the touched b×b blocks are stored; 1 when there is none.
/// `density` gets that share.
int guess_block_size(const BlockCsr<double>& A, double* density = nullptr);

/// Throws Error(structure) naming the rows when no values on this pattern could make A invertible; Error(not_square).
void require_structural_rank(const BlockCsr<double>& A);

/// Bytes of ILU(0) and of `vectors` vectors beside the matrix.
std::int64_t ilu0_memory(std::int64_t rows, std::int64_t nonzeros, std::int64_t vectors);

}  // namespace echelon
