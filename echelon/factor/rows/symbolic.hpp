// SPDX-License-Identifier: BSD-3-Clause
// Patterns of incomplete factors, before any value is known.
//   ILU(0): that of A.  ILU(k): lev_ij = min over k of lev_ik + lev_kj + 1, kept while ≤ fill, lev = 0 on A.
// Patterns are rows of ascending unique columns; `elimination_pattern` adds what is missing of the diagonal.
#pragma once

#include <cstdint>
#include <span>

#include "echelon/schedule/pattern.hpp"

namespace echelon {

/// Rows without a diagonal entry.
std::int64_t missing_diagonals(const PatternView& A);

/// The pattern of P A Pᵀ with a full diagonal; empty `order` and `position` mean natural order.
Pattern elimination_pattern(const PatternView& A, std::span<const std::int32_t> order,
                            std::span<const std::int32_t> position);

/// The level-of-fill rule by merging rows. `A` has a full diagonal.
Pattern filled_pattern(const PatternView& A, int fill);

/// Cuts a pattern with a full diagonal into its triangles. `narrow_allowed` permits 16-bit distances. False, and nothing
/// useful done, when a diagonal entry is missing.
bool split(const PatternView& A, bool narrow_allowed, TrianglePattern& lower, TrianglePattern& upper);

/// The first row in which two patterns of equally many rows differ, −1 when they are the same; of the triangles: with the
/// diagonal between them.
std::int64_t first_difference(const PatternView& A, const PatternView& B);
std::int64_t first_difference(const PatternView& A, const TrianglePattern& lower, const TrianglePattern& upper);

}  // namespace echelon
