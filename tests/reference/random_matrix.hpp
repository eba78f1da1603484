// SPDX-License-Identifier: BSD-3-Clause
// Random block matrices for tests: any pattern, values from a fixed seed.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "echelon/matrix/block_csr.hpp"

namespace echelon::reference {

/// From rows of ascending columns; the diagonal (when present) is raised above the row's other magnitudes by `dominance`
/// times their sum.
template <class T>
BlockCsr<T> with_random_values(const std::vector<std::vector<std::int32_t>>& rows, int block, std::uint64_t seed,
                               double dominance = 1.2) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto n = static_cast<std::int64_t>(rows.size());
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> column;
  std::vector<T> values;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto& row = rows[static_cast<std::size_t>(i)];
    for (const auto j : row) {
      column.push_back(j);
      for (int e = 0; e < block * block; ++e) {
        double value = uniform(random);
        if (j == i && e % (block + 1) == 0) value += dominance * block * static_cast<double>(row.size());
        values.push_back(static_cast<T>(value));
      }
    }
    start.push_back(static_cast<std::int64_t>(column.size()));
  }
  return BlockCsr<T>(n, n, block, Array<std::int64_t>(std::span<const std::int64_t>(start)),
                     Array<std::int32_t>(std::span<const std::int32_t>(column)), Array<T>(std::span<const T>(values)));
}

/// Each off-diagonal entry with the given probability, the diagonal always (unless asked).
inline std::vector<std::vector<std::int32_t>> random_rows(std::int32_t n, double density, std::uint64_t seed,
                                                          bool full_diagonal = true) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution present(density);
  std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j) {
      if (present(random) || (i == j && full_diagonal)) rows[static_cast<std::size_t>(i)].push_back(j);
    }
  }
  return rows;
}

}  // namespace echelon::reference
