// SPDX-License-Identifier: BSD-3-Clause
// The systems of `bench mg`: diffusion with coefficients that jump, vary, turn; one direction strong or weak; convection
// along, against and across the numbering and in circles; no flux; 27 points; the plane.
#pragma once

#include <vector>

#include "bench/measure/bench_case.hpp"

namespace echelon::cli {

/// `small`: an eighth of the sides.
std::vector<bench::BenchCase> mg_cases(bool small);

}  // namespace echelon::cli
