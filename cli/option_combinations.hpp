// SPDX-License-Identifier: BSD-3-Clause
// Options of `echelon solve` that are legal each and contradict each other together; every refusal is an Error(bad_option)
// with a sentence.
#pragma once

#include "cli/command.hpp"
#include "cli/solve_options.hpp"

namespace echelon::cli {

/// --sweeps of a fixed-point factorization whose triangles are solved exactly is --factor-sweeps.
void settle_sweeps(SolveOptions& options, const Given& given);
void check_combination(const SolveOptions& options, const Given& given);

}  // namespace echelon::cli
