// SPDX-License-Identifier: BSD-3-Clause
// Sets up and solves by the automatic rules (solve/auto_rule.hpp): a bounded ladder of attempts, each logged. The first
// one that converges wins; when none does, the iterate with the smallest recomputed residual is returned with its reason.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/solve/auto_rule.hpp"

namespace echelon {

struct SolveRequest {
  AutoWishes wishes;
  KrylovOptions krylov;
  bool strict = false;  // a repair is an Error(repair_forbidden)
  /// A block CSR matrix that is a stencil on a grid is solved as such where its factors are the same (solve/grid_form.hpp).
  bool recognise_stencils = true;
  /// Where to solve. A GPU leaves out rungs that have no version there, which depends on the storage; b and x stay the
  /// host's and travel once. Error(bad_option) when nothing is left.
  Device device = Device::host();
  /// Asked every few milliseconds of a set-up (base/work_watch.hpp), as krylov.monitor is once an iteration: on any verdict
  /// but `proceed` the best iterate so far is returned, x = 0 before the first one. Null: set-ups go on to their end.
  std::function<Verdict()> ask;
  /// Told what is tried, before it is.
  std::function<void(const AutoChoice&)> on_attempt;
};

/// One rung that was tried.
struct AttemptNote {
  AutoChoice choice;
  std::string outcome;  // "converged", a reason's word (of the end of its set-up, too), "not set up", or "skipped"
  std::string message;
  bool set_up = false;
  std::int64_t iterations = 0;
  double relative_residual = 1;
  double setup_seconds = 0, solve_seconds = 0;
  std::vector<double> history;
};

struct AutoOutcome {
  Report report;      // of the attempt that counts; its seconds are sums over all attempts
  AutoChoice choice;  // that attempt
  MatrixTraits traits;
  std::vector<AttemptNote> attempts;
  bool looked_for_a_grid = false;  // block CSR that may be a stencil: only where a rung would be solved on the grid
};

/// x gets the solution, or the best iterate; always finite.
[[nodiscard]] AutoOutcome solve_automatically(const MatrixRef& A, const Vector<double>& b, Vector<double>& x,
                                              const SolveRequest& request);

}  // namespace echelon
