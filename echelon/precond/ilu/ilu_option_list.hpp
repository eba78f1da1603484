// SPDX-License-Identifier: BSD-3-Clause
// The options of incomplete factorizations as front ends offer them (precond/precond_options.hpp), in groups that stand in
// this order in the help. What is of a single method has a group of its own.
#pragma once

#include "echelon/precond/precond_options.hpp"

namespace echelon {

extern const PrecondOption level_options[1];
extern const PrecondOption threshold_options[3];
extern const PrecondOption pivot_options[1];
extern const PrecondOption factor_sweeps_options[1];
extern const PrecondOption fill_limit_options[1];
extern const PrecondOption omega_options[1];
extern const PrecondOption order_and_sweep_options[12];

/// "none", "auto" or a positive number; the rest of a sentence when it is none of these.
std::string set_shift(IluOptions& options, const std::string& text);

}  // namespace echelon
