// SPDX-License-Identifier: BSD-3-Clause
// The two strict triangles of a factorization, each stored in the order of its own sweep so that both sweeps stream
// forward: L by rows 0, 1, …; U by rows n−1, n−2, …. Row s of a sweep depends on rows s − distance only, in both.
// Within a row the entries keep ascending columns: distances fall in L and rise in U.
// Scalar matrices whose bandwidth allows it keep distances in 16 bits, which saves a sixth of a sweep's bytes.
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"

namespace echelon {

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

template <class T>
struct Triangles {
  std::int64_t rows = 0;
  int block = 1;
  TrianglePattern lower, upper;
  Array<T> lower_values, upper_values;  // block·block an entry, column-major
  Array<T> inverse_diagonal;            // by row

  std::int64_t bytes() const {
    return lower.bytes() + upper.bytes() + lower_values.bytes() + upper_values.bytes() + inverse_diagonal.bytes();
  }
};

}  // namespace echelon
