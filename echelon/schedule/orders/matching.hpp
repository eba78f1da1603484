// SPDX-License-Identifier: BSD-3-Clause
// Maximum matching of rows with columns of a sparse pattern (Hopcroft and Karp 1973): its size is the structural rank, the
// largest rank any values on this pattern can have. Diagonal entries are tried first, so a full diagonal costs one pass.
#pragma once

#include <cstdint>
#include <vector>

#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {

struct Matching {
  std::int64_t rank = 0;                    // rows matched
  std::vector<std::int32_t> column_of_row;  // −1 for a row without a column
  std::vector<std::int64_t> unmatched_rows;
  std::vector<std::int64_t> unmatched_columns;
};

/// For block size 1 (others throw Error(bad_argument)); will_not_fit before its arrays are allocated. Entries that are
/// exactly zero are no edges.
Matching maximum_matching(const BlockCsr<double>& A);

}  // namespace echelon
