// SPDX-License-Identifier: BSD-3-Clause
// One full row and column, first in the order, and a tridiagonal rest: 5n entries, and with one level of fill the factors
// are complete, n³/3 products. What a cost model must see and a time limit must end.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon::test {

/// `rest` scales the tridiagonal part off its diagonal: with 1 and more the matrix is far from dominant.
inline BlockCsr<double> arrow_matrix(std::int32_t n, double diagonal = 4, double rest = 1) {
  std::mt19937 random(11);
  const auto value = [&] { return static_cast<double>(random() % 2001) / 1000 - 1; };
  std::vector<Triplet<double>> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, diagonal});
    if (i > 0) {
      entries.push_back({0, i, value()});
      entries.push_back({i, 0, value()});
    }
    if (i > 1) entries.push_back({i, i - 1, rest * value()});
    if (i > 0 && i + 1 < n) entries.push_back({i, i + 1, rest * value()});
  }
  return from_triplets<double>(n, n, entries);
}

}  // namespace echelon::test
