// SPDX-License-Identifier: BSD-3-Clause
// The rules behind `--pc auto` and `--solver auto`, in one table: which solver and preconditioner are tried for a matrix, in
// which order, and why. The choice depends on the matrix and the wishes alone, never on a clock, so it repeats.
// A later method joins by a line in the table.
#pragma once

#include <string>
#include <vector>

#include "echelon/matrix/traits.hpp"
#include "echelon/precond/precond_options.hpp"

namespace echelon {

/// What the user fixed; "auto" leaves it to the rules. With pc "auto" the ladder begins with these options: `ilu.fill`
/// is its first one, and with `match_rows` only rungs that match rows are left.
struct AutoWishes {
  std::string solver = "auto";
  std::string pc = "auto";
  PrecondOptions options;
};

/// One rung of the ladder.
struct AutoChoice {
  std::string solver;
  std::string pc;
  PrecondOptions options;
  std::string why;  // a clause for people: "symmetric with positive diagonal"

  /// "cg with ic(0)", "gmres with ilu(2), rcm order"
  std::string name() const;
};

/// Tried from the first on; the next is taken when a set-up fails or a solve does not converge. Never empty.
std::vector<AutoChoice> auto_ladder(const MatrixTraits& matrix, const AutoWishes& wishes);

/// Elementary operations (factor/work_budget.hpp) that a rung's set-up may take; a rung that would take more is skipped.
std::int64_t setup_budget(std::int64_t nonzeros);

/// Leave a rung early: after `patience` iterations the residual's fall so far would not reach rtol within max_it.
bool looks_hopeless(std::int64_t iteration, double relative_residual, double rtol, std::int64_t max_it);

}  // namespace echelon
