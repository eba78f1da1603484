// SPDX-License-Identifier: BSD-3-Clause
// Random block matrices for tests: any pattern, values from a fixed seed.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "echelon/matrix/rows/block_csr.hpp"

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

/// Zeros, and by turns of n something huge, infinite or not a number.
inline void spoil(int n, std::span<double> values, std::mt19937_64& random) {
  const auto some = [&] { return random() % values.size(); };
  for (std::size_t zeros = 0; zeros < values.size() / 6; ++zeros) values[some()] = 0;
  if (n % 5 == 1) values[some()] = 1e300;
  if (n % 5 == 2) values[some()] = std::numeric_limits<double>::infinity();
  if (n % 5 == 3) values[some()] = std::numeric_limits<double>::quiet_NaN();
}

/// Number n of matrices that break factorizations down: weak or missing diagonals, and spoiled.
inline BlockCsr<double> spoiled_matrix(int n, std::int32_t rows, int block, std::mt19937_64& random) {
  const auto pattern = random_rows(rows, 0.08, random(), n % 2 == 0);
  auto A = with_random_values<double>(pattern, block, random(), n % 3 == 0 ? 0.02 : 1.2);
  spoil(n, A.values(), random);
  return A;
}

/// Patterns with full diagonals whose triangles are empty or fall apart, one without rows among them.
inline std::vector<std::vector<std::vector<std::int32_t>>> odd_rows() {
  return {{{0}, {1}, {2}},
          {{0, 2}, {1}, {0, 2}, {3, 4}, {3, 4}, {5}},
          {{0}, {0, 1}, {1, 2}, {0, 3}},
          {{0, 1, 3}, {1, 2}, {2, 3}, {3}},
          {}};
}
inline const std::vector<std::vector<std::int32_t>> rows_with_holes = {{1}, {0, 1, 2}, {1}, {}, {0, 4}};

}  // namespace echelon::reference
