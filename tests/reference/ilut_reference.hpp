// SPDX-License-Identifier: BSD-3-Clause
// ILUT and ILUTP by the textbook, in maps and full sorts: what the fast ones must equal bit for bit. Missing diagonals count
// as zero; pivots are taken as they come.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/reference/ilu_reference.hpp"

namespace echelon::reference {

template <class T>
struct IlutFactors {
  IluFactors<T> factors;          // columns are positions
  std::vector<int> column_order;  // position → column of A
  std::int64_t limited_rows = 0;
  std::int64_t column_swaps = 0;
};

/// Pivoting is for blocks of size 1.
template <class T>
IlutFactors<T> ilut(const BlockCsr<T>& A, std::int64_t lfil, double drop, double pivoting = 0);

}  // namespace echelon::reference
