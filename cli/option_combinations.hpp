// SPDX-License-Identifier: BSD-3-Clause
// Options that are legal each and contradict each other together; every refusal is an Error(bad_option) with a sentence.
#pragma once

#include <string>

#include "cli/options.hpp"

namespace echelon::cli {

/// Whether the user gave this option, its default or not.
using Given = OptionGiven;
/// --sweeps of a fixed-point factorization whose triangles are solved exactly is --factor-sweeps.
void settle_sweeps(SolveOptions& options, const Given& given);
void check_combination(const SolveOptions& options, const Given& given);
void check_combination(const BenchOptions& options, const Given& given);

}  // namespace echelon::cli
