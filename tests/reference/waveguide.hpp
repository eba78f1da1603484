// SPDX-License-Identifier: BSD-3-Clause
// A dielectric waveguide, as dw8192 of the Matrix Market is one: two fields, each Δ + k² on a mesh graded away from the
// core, which the core's boundary couples one way for the one and the other way for the other. Indefinite, not symmetric,
// without a zero on the diagonal. Every factorization with little fill is unstable.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon::test {

/// Couplings between neighbours fall by `grading` a cell away from the core, the middle quarter of the side.
inline std::vector<double> graded(std::int32_t side, double largest, double grading) {
  std::vector<double> coupling;
  for (std::int32_t i = 0; i + 1 < side; ++i) {
    const auto cells = std::max({side * 3 / 8 - i - 1, i - side * 5 / 8 + 1, 0});
    coupling.push_back(std::max(largest * std::pow(grading, -cells), 1e-3 * largest));
  }
  return coupling;
}

inline BlockCsr<double> waveguide(std::int32_t side, double grading) {
  const auto along_x = graded(side, 1.1256, grading), along_y = graded(side, 0.2816, grading);
  const auto inside = [&](std::int32_t i) { return i >= side * 3 / 8 && i < side * 5 / 8; };
  const auto k_squared = [&](std::int32_t i, std::int32_t j) { return inside(i) && inside(j) ? 0.94 : 0.44; };
  const std::int32_t points = side * side;
  std::vector<Triplet<double>> entries;
  for (std::int32_t field = 0; field < 2; ++field) {
    for (std::int32_t j = 0; j < side; ++j) {
      for (std::int32_t i = 0; i < side; ++i) {
        const std::int32_t row = field * points + j * side + i;
        double sum = 0;
        const auto couple = [&](std::int32_t column, double value) {
          entries.push_back({row, column, value});
          sum += value;
        };
        if (i > 0) couple(row - 1, along_x[static_cast<std::size_t>(i - 1)]);
        if (i + 1 < side) couple(row + 1, along_x[static_cast<std::size_t>(i)]);
        if (j > 0) couple(row - side, along_y[static_cast<std::size_t>(j - 1)]);
        if (j + 1 < side) couple(row + side, along_y[static_cast<std::size_t>(j)]);
        entries.push_back({row, row, k_squared(i, j) - sum});
        if (field == 0 && i + 1 < side && k_squared(i, j) != k_squared(i + 1, j)) {
          entries.push_back({row, row + points, 0.5 * along_x[static_cast<std::size_t>(i)]});
        }
        if (field == 1 && j + 1 < side && k_squared(i, j) != k_squared(i, j + 1)) {
          entries.push_back({row, row - points, -0.5 * along_y[static_cast<std::size_t>(j)]});
        }
      }
    }
  }
  return from_triplets<double>(2 * points, 2 * points, entries);
}

}  // namespace echelon::test
