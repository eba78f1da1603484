// SPDX-License-Identifier: BSD-3-Clause
// How the rows of a triangular sweep come to threads; schedule/rows/sweep_plan.hpp says what each means.
#pragma once

namespace echelon {

enum class SweepSchedule { automatic, sequential, levels, point_to_point };

}  // namespace echelon
