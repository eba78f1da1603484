// SPDX-License-Identifier: BSD-3-Clause
// Which entries a matrix has, without their values: by rows, and the strict triangle of a sweep by its positions.
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"

namespace echelon {

struct PatternView {
  std::int64_t rows = 0;
  const std::int64_t* start = nullptr;  // rows + 1
  const std::int32_t* column = nullptr;
};

struct Pattern {
  Array<std::int64_t> start;
  Array<std::int32_t> column;
  PatternView view() const { return {start.size() - 1, start.data(), column.data()}; }
};

/// A strict triangle in the order of its own sweep: position s depends on positions s − distance only. Scalar matrices whose
/// bandwidth allows it keep distances in 16 bits, which saves a sixth of a sweep's bytes.
struct TrianglePattern {
  std::int64_t rows = 0;
  Array<std::int64_t> start;         // rows + 1, by sweep position
  Array<std::int32_t> distance;      // |row − column| > 0, when not narrow
  Array<std::uint16_t> distance_16;  // the same, when narrow
  bool narrow = false;

  std::int64_t entries() const { return rows > 0 ? start[rows] : 0; }
  std::int64_t bytes() const { return start.bytes() + distance.bytes() + distance_16.bytes(); }
};

/// The distances in the width that is stored, as the loops of a kernel or of a scheduler want them.
template <class Function>
decltype(auto) with_distances(const TrianglePattern& triangle, Function&& function) {
  return triangle.narrow ? function(triangle.distance_16.data()) : function(triangle.distance.data());
}

}  // namespace echelon
