// SPDX-License-Identifier: BSD-3-Clause
// Plays a sweep plan without threads and tells the first promise it breaks; empty when it keeps them all: every row runs
// once, none before what it needs, and the threads never wait for each other in a circle.
// Threads are moved as unfavourably as the plan allows: what may still be unfinished counts as unfinished.
#pragma once

#include <string>
#include <vector>

#include "echelon/schedule/rows/sweep_plan.hpp"

namespace echelon::reference {

std::string broken_promise(const SweepPlan& plan, const TrianglePattern& triangle);

/// A triangle from rows of distances.
TrianglePattern triangle_of(const std::vector<std::vector<std::int32_t>>& distances, bool narrow);

}  // namespace echelon::reference
