// SPDX-License-Identifier: BSD-3-Clause
// What can be read off a square matrix in one pass and decides how it is best solved: symmetry and the state of the
// diagonal. Rows are scalar rows; a stored zero on the diagonal counts as zero, no entry as missing.
#pragma once

#include <cstdint>

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {

struct MatrixTraits {
  double asymmetry = 0;  // max |a_ij − a_ji| / max |a_ij|; infinity when the pattern is not symmetric
  std::int64_t missing_diagonals = 0;
  std::int64_t zero_diagonals = 0;
  std::int64_t negative_diagonals = 0;
  std::int64_t weak_diagonals = 0;  // |a_ii| < 1e-3·max_j |a_ij|, zero and missing ones included
  std::int64_t first_weak_row = -1;
  std::int64_t dominant_rows = 0;  // |a_ii| ≥ Σ_{j≠i} |a_ij|
  std::int64_t rows = 0;
  int block = 1;

  /// Rounding in an assembly leaves differences of a few units in the last place.
  bool symmetric() const { return asymmetry <= 1e-13; }
  bool positive_diagonal() const { return missing_diagonals + zero_diagonals + negative_diagonals == 0; }
};

MatrixTraits traits_of(const BlockCsr<double>& A);
MatrixTraits traits_of(const StructMatrix<double>& A);

}  // namespace echelon
