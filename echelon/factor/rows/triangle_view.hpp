// SPDX-License-Identifier: BSD-3-Clause
// One triangle of a factorization with its diagonal, as what measures, scales and iterates reads it. Nothing is owned.
#pragma once

#include <utility>

#include "echelon/base/small_block.hpp"
#include "echelon/factor/rows/triangles.hpp"

namespace echelon {

template <class T>
struct TriangleView {
  const TrianglePattern* pattern;
  bool lower;
  int block;
  const T* values;
  const T* inverse_diagonal;  // by row; null: the identity

  std::int64_t rows() const { return pattern->rows; }
  std::int64_t row_at(std::int64_t position) const { return lower ? position : pattern->rows - 1 - position; }
};

template <class T>
TriangleView<T> lower_view(const Triangles<T>& factors) {
  return {&factors.lower, true, factors.block, factors.lower_values.data(), nullptr};
}
template <class T>
TriangleView<T> upper_view(const Triangles<T>& factors) {
  return {&factors.upper, false, factors.block, factors.upper_values.data(), factors.inverse_diagonal.data()};
}

/// visit(block column, values of the block) over the off-diagonal blocks of the row at a position, as they are stored.
template <class T, class Visit>
void for_entries(const TriangleView<T>& triangle, std::int64_t position, const Visit& visit) {
  const auto& pattern = *triangle.pattern;
  const std::int64_t size = std::int64_t{triangle.block} * triangle.block, row = triangle.row_at(position);
  for (auto p = pattern.start[position]; p < pattern.start[position + 1]; ++p) {
    const std::int64_t away = pattern.narrow ? std::int64_t{pattern.distance_16[p]} : std::int64_t{pattern.distance[p]};
    visit(triangle.lower ? row - away : row + away, triangle.values + p * size);
  }
}

}  // namespace echelon
