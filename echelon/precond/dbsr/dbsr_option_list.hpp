// SPDX-License-Identifier: BSD-3-Clause
// The options of --pc dbsr as front ends offer them (precond/precond_options.hpp).
#pragma once

#include "echelon/precond/precond_options.hpp"

namespace echelon {

extern const PrecondOption dbsr_options[2];

/// "fixed", "auto", or the sides of a block: "8x8", "4x4x2", "16" (the same along every direction). The rest of a sentence
/// when it is none of these.
std::string set_blocks(BlockOptions& options, const std::string& text);

}  // namespace echelon
