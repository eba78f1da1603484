// SPDX-License-Identifier: BSD-3-Clause
// ILU(k) of a block CSR matrix by the textbook, in maps and without any cleverness: what the fast ones must equal bit for
// bit. Missing diagonals count as zero; pivots are taken as they come.
#pragma once

#include <map>
#include <vector>

#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon::reference {

template <class T>
struct IluFactors {
  int block = 1;
  std::vector<std::map<int, std::vector<T>>> lower, upper;  // strict triangles, by row and column; blocks column-major
  std::vector<std::vector<T>> inverse_diagonal;
};

template <class T>
IluFactors<T> ilu(const BlockCsr<T>& A, int fill);

/// z = U⁻¹ L⁻¹ r
template <class T>
std::vector<T> apply(const IluFactors<T>& factors, const std::vector<T>& r);

}  // namespace echelon::reference
