// SPDX-License-Identifier: BSD-3-Clause
// Options spelled the PETSc way, rewritten into ours before anything is parsed, so that a PETSc user's line works:
// `-ksp_type cg -pc_type icc -pc_factor_levels 1` becomes `--solver cg --pc ic --fill 1`. Everything else passes unchanged.
#pragma once

#include <string>
#include <vector>

namespace echelon::cli {

/// Throws Error(bad_option) for a -ksp_ or -pc_ option, or a value of one, that has no counterpart; it names those that
/// have.
std::vector<std::string> translate_petsc(const std::vector<std::string>& arguments);

}  // namespace echelon::cli
