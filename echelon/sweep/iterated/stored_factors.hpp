// SPDX-License-Identifier: BSD-3-Clause
// Factors where they lie, on a GPU or, in tests, on the host: triangles by sweep position as in triangles.hpp, in
// elimination order. Nothing is owned.
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"

namespace echelon {

struct StoredTriangle {
  const Array<std::int64_t>* start = nullptr;
  const Array<std::int32_t>* distance = nullptr;
  const Array<double>* values = nullptr;
};

/// Elimination position → the user's block row, and block column, where the factors are; null when natural.
struct SweepOrders {
  const std::int32_t *rows = nullptr, *columns = nullptr;
};

struct StoredFactors {
  std::int64_t rows = 0;
  int block = 1;
  StoredTriangle lower, upper;
  const Array<double>* inverse_diagonal = nullptr;
  SweepOrders orders;
};

inline const std::int32_t* order_or_null(const Array<std::int32_t>& order) { return order.empty() ? nullptr : order.data(); }

}  // namespace echelon
