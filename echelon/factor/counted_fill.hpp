// SPDX-License-Identifier: BSD-3-Clause
// Patterns of factors with what their elimination costs (factor/work_budget.hpp): the level-of-fill rule of
// factor/rows/symbolic.hpp, each row charged as soon as its pattern is known, so that fill without end is given up on the
// way.
#pragma once

#include "echelon/factor/rows/symbolic.hpp"
#include "echelon/factor/work_budget.hpp"

namespace echelon {

/// filled_pattern(A, fill); throws TooCostly.
Pattern filled_pattern(const PatternView& A, int fill, WorkBudget& budget);

/// Of an elimination on this pattern.
std::int64_t elimination_operations(const TrianglePattern& lower, const TrianglePattern& upper);

}  // namespace echelon
