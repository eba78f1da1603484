// SPDX-License-Identifier: BSD-3-Clause
// The two strict triangles of a factorization, each stored in the order of its own sweep so that both sweeps stream
// forward: L by rows 0, 1, …; U by rows n−1, n−2, …. Row s of a sweep depends on rows s − distance only, in both.
// Within a row the entries keep ascending columns: distances fall in L and rise in U.
// Scalar matrices whose bandwidth allows it keep distances in 16 bits, which saves a sixth of a sweep's bytes.
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"
#include "echelon/schedule/pattern.hpp"

namespace echelon {

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
