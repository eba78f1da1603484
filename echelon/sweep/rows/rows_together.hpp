// SPDX-License-Identifier: BSD-3-Clause
// Which rows of a scalar triangle a sweep may walk together: position s + 1 has the columns of position s, and s itself.
// Matrices with several unknowns a node, stored as scalars, consist of such runs. O(entries), and O(rows) where rows of
// neighbours differ in length.
#pragma once

#include <cstdint>

#include "echelon/factor/rows/triangles.hpp"

namespace echelon {

enum class TriangleSide { lower, upper };

/// For every position the rows that run from it, 1 to 4; empty where runs are too rare to be worth a kernel of their own.
Array<std::uint8_t> rows_together(const TrianglePattern& triangle, TriangleSide side);

}  // namespace echelon
